"""The run's side of `program_runner.py`: programs that end in time and leave nothing behind."""

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from misheard.processes import scratch
from misheard.processes.tree import KILL_SECONDS

RUNNER = Path(__file__).with_name("program_runner.py")
GRACE_SECONDS = 1.0
"""Between SIGTERM and SIGKILL."""

MAX_STDIN_BYTES = 16 * 2**20
"""Most bytes of a program's standard input."""

_MARGIN_SECONDS = 30.0
_STDERR_TAIL = 4_096

How = Literal["exited", "timeout", "too_much_output", "not_started"]


class RunnerLostError(Exception):
    """The runner ended, or does not answer; the program may still run."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        how: by itself, or why it was ended.
        status: exit status, negative for a signal; None unless it ended by itself.
        seconds: from its start to its end, or to when it was ended.
        stdout: all of its standard output, at most the limit.
        stderr: the last 4 KiB of its standard error.
        reason: why it could not be started.
    """

    how: How
    status: int | None
    seconds: float
    stdout: bytes = b""
    stderr: bytes = b""
    reason: str = ""


class ProgramRunner:
    """Runs programs, one at a time, in a scratch folder that is emptied after each.

    A program, all that it starts and the folder are gone when its result is there, and when the run ends,
    however it ends.
    """

    def __init__(self) -> None:
        self._program_pid: int | None = None
        self._received = b""
        self._folder: Path | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(RUNNER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._folder = Path(self._answer(_MARGIN_SECONDS)["folder"])
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """The scratch folder, in which programs run."""
        if self._folder is None:
            raise RunnerLostError("the runner has no folder")
        return self._folder

    @property
    def pid(self) -> int:
        """Process id of the runner."""
        return self._process.pid

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        timeout: float,
        stdout_limit: int,
        stdin: bytes | None = None,
    ) -> Ended:
        """Run one program to its end, at most `timeout` seconds; `stdin` is what it reads, at most 16 MiB.

        Raises RunnerLostError, and ValueError for a longer `stdin`.
        """
        if stdin is not None and len(stdin) > MAX_STDIN_BYTES:
            raise ValueError(f"standard input of more than {MAX_STDIN_BYTES} bytes")
        request = {
            "command": list(command),
            "env": dict(env),
            "stdin": None if stdin is None else base64.b64encode(stdin).decode("ascii"),
            "timeout": timeout,
            "grace": GRACE_SECONDS,
            "stdout_limit": stdout_limit,
            "stderr_tail": _STDERR_TAIL,
        }
        if self._process.stdin is None or self._process.stdin.closed:
            raise RunnerLostError("the runner is closed")
        try:
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise RunnerLostError("the runner ended") from error
        answer = self._answer(_MARGIN_SECONDS)
        if "started" in answer:
            self._program_pid = answer["started"]
            answer = self._answer(timeout + GRACE_SECONDS + KILL_SECONDS + _MARGIN_SECONDS)
        self._program_pid = None
        return Ended(
            answer["how"],
            answer["status"],
            answer["seconds"],
            base64.b64decode(answer.get("stdout", "")),
            base64.b64decode(answer.get("stderr", "")),
            answer.get("reason", ""),
        )

    def close(self) -> None:
        """End whatever runs; returns when it is gone. Further calls do nothing."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(GRACE_SECONDS + KILL_SECONDS + _MARGIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._process.returncode < 0:
            self._clear()
        self._program_pid = None

    def _clear(self) -> None:
        """End and remove what a runner that was killed may have left behind."""
        if self._program_pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._program_pid, signal.SIGKILL)
        if self._folder is not None:
            scratch.remove(self._folder)

    def _answer(self, seconds: float) -> dict[str, Any]:
        output = self._process.stdout
        if output is None or output.closed:
            raise RunnerLostError("the runner is closed")
        deadline = time.monotonic() + seconds
        while b"\n" not in self._received:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([output], [], [], left)[0]:
                raise RunnerLostError("the runner does not answer")
            chunk = os.read(output.fileno(), 65_536)
            if not chunk:
                raise RunnerLostError("the runner ended")
            self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
