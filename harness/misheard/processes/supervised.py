"""The run's side of `supervisor.py`: starts a server that cannot outlive the run."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_KILL_MARGIN_SECONDS = 15.0
_TAIL_BYTES = 16_384


class SupervisedServer:
    """A server process with everything that it starts, under a supervisor of its own.

    Its output goes to `log`. `remove` names a folder that is removed when the server is down. The
    interpreter of the supervisor is the run's; the command may be any program.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        log: Path,
        grace_seconds: float,
        remove: Path | None = None,
    ) -> None:
        self._grace = grace_seconds
        self._log = log
        self._server_pid: int | None = None
        self._exit: str | None = None
        supervise = [sys.executable, "-I", str(SUPERVISOR), "--parent", str(os.getpid())]
        supervise += ["--grace", str(grace_seconds)]
        if remove is not None:
            supervise += ["--remove", str(remove)]
        with log.open("ab") as output:
            self._log_start = output.tell()
            self._supervisor = subprocess.Popen(
                [*supervise, "--", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=dict(env),
                start_new_session=True,
            )
        self._server_pid = self._read_pid()

    @property
    def supervisor_pid(self) -> int:
        """Process id of the supervisor."""
        return self._supervisor.pid

    @property
    def server_pid(self) -> int | None:
        """Process id, and process group, of the server; None where it could not be started."""
        return self._server_pid

    def exit_status(self) -> str | None:
        """Return how the server ended (`1`, `-9`, `by request`, `not started`), or None while it runs.

        Processes that it started may take a little longer; `stop` waits for them.
        """
        output = self._supervisor.stdout
        if self._exit is None and output is not None:
            poll = select.poll()
            poll.register(output)
            if poll.poll(0):
                self._exit = self._read_exit()
        return self._exit

    def stop(self) -> None:
        """End the server and all that it started; returns when they are gone. Further calls do nothing."""
        if self._supervisor.stdin is not None and not self._supervisor.stdin.closed:
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(timeout=self._grace + _KILL_MARGIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._exit is None:
            self._exit = self._read_exit()
        if self._supervisor.stdout is not None:
            self._supervisor.stdout.close()
        if self._supervisor.returncode < 0 and self._server_pid is not None:
            # The supervisor was killed, so it may have left the server's group behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._server_pid, signal.SIGKILL)

    def log_tail(self, lines: int) -> str:
        """Return the last lines that the server has logged since it was started, safe to print."""
        try:
            with self._log.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self._log_start, end - _TAIL_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ""
        shown = [
            "".join(char for char in line if char.isprintable())[:300]
            for line in text.splitlines()
            if line.strip()
        ]
        return "\n".join(shown[-lines:])

    def _read_pid(self) -> int | None:
        output = self._supervisor.stdout
        line = [] if output is None else output.readline().decode("ascii", "replace").split()
        return int(line[1]) if len(line) == 2 and line[0] == "started" and line[1].isdecimal() else None

    def _read_exit(self) -> str:
        """Return what the supervisor said last; blocks until it says something or has ended."""
        output = self._supervisor.stdout
        said = "" if output is None else output.readline().decode("ascii", "replace").strip()
        if self._server_pid is None:
            return "not started"
        return said.removeprefix("exited ") if said.startswith("exited ") else "unknown"
