"""A program of the user's as a plug-in: a fresh process per request, no shell, bounded in time and output."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import canonical_json, sha256_json
from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.protocol import Completion
from misheard.plugins.protocol import PluginRequest, PluginRole
from misheard.plugins.reply import MAX_REPLY_BYTES, decode_reply, invalid
from misheard.plugins.settings import CommandPluginSettings
from misheard.processes.commands import (
    VERSION_SECONDS,
    describe_command,
    status_in_words,
    version_sha256,
)
from misheard.processes.programs import MAX_STDIN_BYTES, Ended, ProgramRunner, RunnerLostError
from misheard.processes.variables import environment


class CommandPlugin:
    """Runs a program that reads a request from standard input and prints the reply.

    Both are one JSON object. The program of the settings is an absolute path.
    """

    batch_size: int | None = None

    def __init__(self, settings: CommandPluginSettings, role: PluginRole) -> None:
        self._settings = settings
        self._role = role
        self._runner: ProgramRunner | None = None
        self._fingerprint: dict[str, Any] | None = None

    def check(self) -> None:
        """Look at the program. Raises BackendError where it cannot be run."""
        program = Path(self._settings.command[0])
        if not program.is_file() or not os.access(program, os.X_OK):
            raise BackendError(
                f"{self._option}: {program} is no file that can be run; check its name, or chmod +x it"
            )

    def start(self) -> None:
        """Find out the program's version. Raises BackendError."""
        self.check()
        self._env = environment(self._settings.inherit_env, self._settings.env, os.environ)
        self._runner = ProgramRunner()
        self._fingerprint = {
            "kind": "command",
            **describe_command(self._settings.command),
            "version": self._version(),
            "env_sha256": sha256_json(self._settings.env),
        }

    def fingerprint(self) -> dict[str, Any]:
        """Return what decides the replies, without folders and secrets."""
        if self._fingerprint is None:
            raise RuntimeError("start() comes before fingerprint()")
        return self._fingerprint

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]:
        """Yield one completion per request, in order. Raises BackendError where no program can be run."""
        for request in requests:
            yield self._complete_one(request)

    def close(self) -> None:
        """End whatever runs; returns when it is gone."""
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    @property
    def _option(self) -> str:
        return f"{self._role.name}.command"

    def _complete_one(self, request: PluginRequest) -> Completion:
        stdin = canonical_json(request.payload).encode("ascii") + b"\n"
        if len(stdin) > MAX_STDIN_BYTES:
            detail = f"the request is larger than {MAX_STDIN_BYTES} bytes"
            return Completion(request.key, None, self._role.error, detail)
        ended = self._run(self._settings.command, self._settings.timeout_seconds, stdin)
        text, failure, detail = None, None, ""
        try:
            text = self._reply(ended)
        except ItemFailedError as error:
            failure, detail = error.kind, error.detail
        return Completion(request.key, text, failure, detail, seconds=ended.seconds)

    def _reply(self, ended: Ended) -> str:
        """Return what a program printed. Raises ItemFailedError, whose detail holds no text of it."""
        if ended.how == "not_started":
            raise ItemFailedError(self._role.error, f"the program cannot be started: {ended.reason}")
        if ended.how == "timeout":
            raise ItemFailedError(FailureKind.TIMEOUT, f"the program was ended after {ended.seconds:.0f} s")
        if ended.how == "too_much_output":
            raise invalid(f"the program printed more than {MAX_REPLY_BYTES} bytes")
        if ended.status:
            raise ItemFailedError(self._role.error, f"the program ended with {status_in_words(ended.status)}")
        return decode_reply(ended.stdout)

    def _run(self, command: Sequence[str], seconds: float, stdin: bytes | None = None) -> Ended:
        if self._runner is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        # The scratch folder goes away with everything in it, so what programs leave in TMPDIR does too.
        env = {**self._env, "TMPDIR": str(self._runner.folder)}
        try:
            return self._runner.run(command, env, timeout=seconds, stdout_limit=MAX_REPLY_BYTES, stdin=stdin)
        except RunnerLostError as error:
            raise BackendError(f"{self._option}: {error}; a run goes on with --resume") from error

    def _version(self) -> str | None:
        command = self._settings.version_command
        if not command:
            return None
        return version_sha256(self._run(command, VERSION_SECONDS), f"{self._role.name}.version_command")
