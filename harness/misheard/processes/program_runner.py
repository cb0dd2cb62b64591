"""Runs one program after another for a run, each with a time limit; standard library only.

It is started by `programs.ProgramRunner` and makes a scratch folder, whose name is its first line. Then each
line of standard input is a request as JSON (`command`, `env`, `stdin`, `timeout`, `grace`,
`stdout_limit`, `stderr_tail`); the answer is a line `{"started": PID}` and a line with how the program ended.
The scratch folder is the program's working folder, and is emptied after each. Nothing that a program started
is left when its answer is written, and nothing at all when a signal asks for the end or standard input ends,
which it does when the run does, however it died.
"""

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))  # the interpreter is isolated and may not know the package

from misheard.processes import scratch, tree

_CHUNK = 65_536
_DRAIN_SECONDS = 1.0


class _StopError(Exception):
    """The run is done, or dead, or a signal asked for the end."""


class _Signals:
    """Signals as bytes in a pipe, so that waiting ends at once when a program does."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        for end in (self.reader, writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, self._note)
        # The run may die before it reads: writing must not end this process before its programs.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Do nothing here: the byte in the pipe is what counts."""

    def check(self) -> None:
        """Raise _StopError where a signal asked for the end."""
        with contextlib.suppress(BlockingIOError):
            if set(os.read(self.reader, _CHUNK)) - {signal.SIGCHLD}:
                raise _StopError


class _Requests:
    """Lines of standard input. Its end raises _StopError, while a program runs as well."""

    def __init__(self, signals: _Signals) -> None:
        self._signals = signals
        self._buffer = b""
        self.reader = sys.stdin.fileno()

    def read(self) -> None:
        """Read what is there. Raises _StopError at the end."""
        chunk = os.read(self.reader, _CHUNK)
        if not chunk:
            raise _StopError
        self._buffer += chunk

    def next(self) -> dict[str, Any]:
        """Wait for a whole request and return it."""
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([self.reader, self._signals.reader], [], [])
            self._signals.check()
            if self.reader in readable:
                self.read()
        line, _, self._buffer = self._buffer.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request


class _Output:
    """What a program writes: up to `limit` bytes of standard output, the last `tail` bytes of the other."""

    def __init__(self, process: "subprocess.Popen[bytes]", limit: int, tail: int) -> None:
        if process.stdout is None or process.stderr is None:
            raise ValueError("both outputs must be pipes")
        self._limit, self._tail = limit, tail
        self._stdout, self._stderr = process.stdout.fileno(), process.stderr.fileno()
        self.readers = [self._stdout, self._stderr]
        for reader in self.readers:
            os.set_blocking(reader, False)
        self.stdout, self.stderr = b"", b""

    @property
    def too_much(self) -> bool:
        """Whether standard output went over its limit."""
        return len(self.stdout) > self._limit

    def read(self, reader: int) -> None:
        """Read some of one output."""
        try:
            chunk = os.read(reader, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self.readers.remove(reader)
        elif reader == self._stdout:
            self.stdout += chunk
        else:
            self.stderr = (self.stderr + chunk)[-self._tail :]

    def drain(self) -> None:
        """Read the rest after the last writer has ended."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while self.readers and not self.too_much and time.monotonic() < deadline:
            readable, _, _ = select.select(self.readers, [], [], tree.POLL_SECONDS)
            for reader in readable:
                self.read(reader)


def _run(request: dict[str, Any], folder: Path, signals: _Signals, requests: _Requests) -> dict[str, Any]:
    """Run one program and return how it ended; whatever happens, nothing that it started is left."""
    started = time.perf_counter()
    pipe = subprocess.PIPE
    try:
        with _standard_input(request["stdin"]) as stdin:
            process = tree.start(
                request["command"], stdin=stdin, stdout=pipe, stderr=pipe, cwd=str(folder), env=request["env"]
            )
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return {"how": "not_started", "status": None, "seconds": 0.0, "reason": reason}
    with process:
        output = _Output(process, request["stdout_limit"], request["stderr_tail"])
        how = "stopped"
        try:
            _tell({"started": process.pid})
            how = _wait(process, output, started + request["timeout"], signals, requests)
        finally:
            seconds = time.perf_counter() - started
            tree.end_descendants(None if how == "exited" else process.pid, request["grace"])
        output.drain()
    return {
        "how": "too_much_output" if output.too_much else how,
        "status": process.returncode if how == "exited" else None,
        "seconds": seconds,
        "stdout": base64.b64encode(output.stdout[: request["stdout_limit"]]).decode("ascii"),
        "stderr": base64.b64encode(output.stderr).decode("ascii"),
    }


@contextlib.contextmanager
def _standard_input(encoded: str | None) -> Iterator[int]:
    """Give a file with what a program reads from standard input; None is an empty one.

    It is a file in memory, not a pipe: nothing waits for a program that does not read, and no text of a
    request reaches a disk.
    """
    if encoded is None:
        yield subprocess.DEVNULL
        return
    with open(os.memfd_create("stdin"), "w+b") as file:  # noqa: PTH123 - it has no path
        file.write(base64.b64decode(encoded))
        file.seek(0)
        yield file.fileno()


def _wait(
    process: "subprocess.Popen[bytes]",
    output: _Output,
    deadline: float,
    signals: _Signals,
    requests: _Requests,
) -> str:
    """Read what the program writes until it ends, writes too much, or is out of time. Raises _StopError."""
    while process.poll() is None:
        left = deadline - time.perf_counter()
        if left <= 0:
            return "timeout"
        readable, _, _ = select.select([requests.reader, signals.reader, *output.readers], [], [], left)
        signals.check()
        if requests.reader in readable:
            requests.read()
        for reader in set(readable) & set(output.readers):
            output.read(reader)
        if output.too_much:
            return "too_much_output"
    return "exited"


def _empty(folder: Path) -> None:
    scratch.remove(folder)
    folder.mkdir(mode=0o700, exist_ok=True)


def _tell(what: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Serve requests until there are no more."""
    signals = _Signals()
    requests = _Requests(signals)
    tree.adopt_orphans()
    folder = Path(tempfile.mkdtemp(prefix="misheard-"))
    try:
        _tell({"folder": str(folder)})
        with contextlib.suppress(_StopError):
            while True:
                ended = _run(requests.next(), folder, signals, requests)
                _empty(folder)
                _tell(ended)
    finally:
        scratch.remove(folder)


if __name__ == "__main__":
    main()
