"""A vLLM server that the run starts, owns and takes down, reached over a Unix socket."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_json
from misheard.errors import BackendError
from misheard.language_models.model_content import (
    ModelContent,
    check_model,
    check_pinned,
    is_folder,
    read_content,
)
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.settings import ApiSettings, VllmSettings
from misheard.language_models.vllm_command import VllmBuild, find_vllm, server_command, server_env
from misheard.processes.arguments import without_secrets
from misheard.processes.supervised import SupervisedServer

LOG_NAME = "vllm.log"
_TAIL_LINES = 25
_POLL_SECONDS = 0.25
_DEATH_SECONDS = 5.0
"""How long an unhealthy server is watched for its end after a failed request."""
_LONGEST_SOCKET_PATH = 100
"""The kernel allows 107 bytes."""


class VllmModel:
    """A language model served by a vLLM process that lives exactly as long as this object is started.

    The server's output goes to `logs/vllm.log`; requests are not logged. `cpu` and a CPU build of vLLM both
    choose eager execution and a bounded key-value cache.
    """

    batch_size: int | None = None

    def __init__(self, settings: VllmSettings, *, logs: Path, cpu: bool = False) -> None:
        self._settings = settings
        self._log = logs / LOG_NAME
        self._cpu = cpu
        self._content: ModelContent | None = None
        self._build: VllmBuild | None = None
        self._server: SupervisedServer | None = None
        self._client: OpenAiModel | None = None

    @property
    def server_pid(self) -> int | None:
        """Process id of the server while it is started, for telemetry."""
        return self._server.server_pid if self._server else None

    def check(self) -> None:
        """Check that the model is pinned, or a folder of one that can chat, and that vLLM is installed."""
        check_model(self._settings.model, self._settings.revision, self._has_own_template)
        find_vllm(self._settings.python)

    @property
    def _has_own_template(self) -> bool:
        return any(argument.startswith("--chat-template") for argument in self._settings.extra_args)

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises BackendError, with the server's last log lines, where vLLM is missing, the server ends or
        hangs while starting, or the model cannot chat; nothing is left running then.
        """
        if self._server is not None:
            return
        check_pinned(self._settings.model, self._settings.revision)
        if is_folder(self._settings.model):
            self._content = read_content(Path(self._settings.model))
        self._build = find_vllm(self._settings.python)
        deadline = time.monotonic() + self._settings.startup_seconds
        try:
            self._launch(self._build)
            self._wait_until_healthy(deadline)
            self._verify(deadline)
        except BaseException:
            self.close()
            raise

    def warm_up(self, sampling: Sampling) -> None:
        self._started_client().warm_up(sampling)

    def fingerprint(self) -> dict[str, Any]:
        client, settings = self._started_client(), self._settings
        return {
            "kind": "vllm",
            "model": Path(settings.model).name if is_folder(settings.model) else settings.model,
            "revision": settings.revision,
            "content_sha256": self._content.files_sha256 if self._content else None,
            "chat_template_sha256": self._content.chat_template_sha256 if self._content else None,
            "engine_version": client.engine_version,
            "max_context": client.max_context,
            "dtype": settings.dtype,
            "seed": settings.seed,
            "cpu": self._on_cpu,
            "extra_args": without_secrets(settings.extra_args),
            "env_sha256": sha256_json(settings.env),
        }

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        return self._started_client().complete(requests, sampling)

    def close(self) -> None:
        """Take the server down with all that it started; returns when nothing of it is left."""
        client, server = self._client, self._server
        self._client = self._server = None
        try:
            if client is not None:
                client.close()
        finally:
            if server is not None:
                server.stop()

    @property
    def _on_cpu(self) -> bool:
        return self._cpu or (self._build is not None and self._build.cpu_only)

    def _launch(self, build: VllmBuild) -> None:
        folder = _socket_folder()
        try:
            socket = folder / "vllm.sock"
            self._log.parent.mkdir(parents=True, exist_ok=True)
            self._server = SupervisedServer(
                server_command(self._settings, build, socket=socket, cpu=self._on_cpu),
                env=server_env(self._settings, build, cpu=self._on_cpu),
                log=self._log,
                grace_seconds=self._settings.stop_seconds,
                remove=folder,
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._client = OpenAiModel(
            ApiSettings(
                base_url="http://localhost/v1",
                model=self._settings.served_name,
                concurrency=self._settings.concurrency,
                timeout_seconds=self._settings.timeout_seconds,
                max_attempts=self._settings.max_attempts,
            ),
            socket=socket,
            check_alive=self._check_alive,
        )
        self._client.connect()

    def _wait_until_healthy(self, deadline: float) -> None:
        client, server = self._started_client(), self._started_server()
        while not client.is_healthy():
            if (status := server.exit_status()) is not None:
                raise self._startup_error(f"the vLLM server ended while starting (exit status {status})")
            if time.monotonic() >= deadline:
                raise self._startup_error(
                    f"the vLLM server was not ready after {self._settings.startup_seconds:g} s; "
                    "raise language_model.startup_seconds if it was still loading"
                )
            time.sleep(_POLL_SECONDS)

    def _verify(self, deadline: float) -> None:
        try:
            self._started_client().verify(max(deadline - time.monotonic(), 1.0))
        except BackendError as error:
            raise self._startup_error(str(error).removeprefix("language_model: ")) from None

    def _startup_error(self, what: str) -> BackendError:
        """Return the error with the last log lines: before the run they hold no prompt but our own."""
        tail = self._started_server().log_tail(_TAIL_LINES)
        shown = f"its last log lines:\n{tail}" if tail else "it logged nothing"
        return BackendError(f"language_model: {what}. Whole log: {self._log}; {shown}")

    def _check_alive(self) -> None:
        """Raise BackendError where the server has ended: the request that failed is not to blame."""
        client, server = self._started_client(), self._started_server()
        deadline = time.monotonic() + _DEATH_SECONDS
        while (status := server.exit_status()) is None and time.monotonic() < deadline:
            if client.is_healthy():
                return
            time.sleep(_POLL_SECONDS)
        if status is not None:
            # The log is only named here: an engine that crashes may log what it was working on.
            raise BackendError(
                f"language_model: the vLLM server ended during the run (exit status {status}); "
                f"see {self._log}, then continue with --resume"
            )

    def _started_client(self) -> OpenAiModel:
        if self._client is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._client

    def _started_server(self) -> SupervisedServer:
        if self._server is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._server


def _socket_folder() -> Path:
    """Return a new folder that only this user can enter, with a path short enough for a socket."""
    for parent in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - mkdtemp makes a private folder in it
        with contextlib.suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="misheard-", dir=parent))
            if len(str(folder)) + len("/vllm.sock") <= _LONGEST_SOCKET_PATH:
                return folder
            folder.rmdir()
    raise BackendError("no folder for a Unix socket can be made; set TMPDIR to a short, writable path")
