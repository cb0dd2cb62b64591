"""The command `misheard` in a process of its own, without the second that each new one takes to import it.

Commands are forks of processes that have imported misheard already (warm_process.py). Two of them take turns,
each with its own random order of sets: output that depends on it differs from one command to the next. Until
a command has succeeded once it is a new process, which shows that it imports what it needs by itself. Tests
of how a process starts, is stopped or is killed start new ones too.
"""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What a process reads when it starts or imports; where it is another one's, a new process has to start.
READ_AT_START = ("PYTHON", "LC_", "LANG", "NUMBA_", "OMP_", "MPL")
COMMAND = (sys.executable, "-m", "misheard")
GROUPS = ("baseline", "judge", "soak", "suite")


class Warm:
    """One process that has imported misheard and `modules`, and forks for a command at a time."""

    def __init__(self, *modules: str) -> None:
        self.env = dict(os.environ)
        self._is_ready = False
        self._running: int | None = None
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = str(Path(__file__).with_name("warm_process.py"))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, program, str(theirs.fileno()), *modules],
                pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, env=self.env, start_new_session=True,
            )  # fmt: skip

    def start(self, args: Sequence[str], cwd: Path, env: Mapping[str, str], files: Sequence[int]) -> None:
        """Wait for the imports and start a command, as a session of its own with these standard files."""
        if not self._is_ready:
            self._answer(None)
            self._is_ready = True
        request = json.dumps({"arguments": list(args), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(self._requests, [request], list(files))
        self._running = self._answer(None)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status of the command, as `Popen.wait` does.

        Raises:
            TimeoutError: it has not ended after that many seconds.
        """
        status = self._answer(timeout)
        self._running = None
        return status

    def kill(self) -> None:
        """Kill the command, and what it started, if it has not ended."""
        if self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running, signal.SIGKILL)

    def end(self) -> None:
        """End the process, and the command that it may be at."""
        self.kill()
        self._requests.close()
        self._process.kill()
        self._process.wait()

    def _answer(self, timeout: float | None) -> int:
        self._requests.settimeout(timeout)
        answer = self._requests.recv(64)
        assert answer, "a warm process of the tests ended"
        return int(answer)


_warm: list[Warm] = []
_turns: Iterator[int] = itertools.count()
_shown_to_start: set[tuple[str, ...]] = set()


@contextlib.contextmanager
def warm_process(*modules: str) -> Iterator[Warm]:
    """Give a process of the test's own, which has imported `modules` too; it is ended afterwards."""
    warm = Warm(*modules)
    try:
        yield warm
    finally:
        warm.end()


def end_warm_processes() -> None:
    while _warm:
        _warm.pop().end()


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(READ_AT_START)}


def _in_a_new_process(
    args: list[str], cwd: Path | None, env: dict[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *args], input=stdin, capture_output=True, check=False, cwd=cwd, env=env)


def _in_a_fork(
    warm: Warm, args: list[str], cwd: Path | None, env: dict[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    with contextlib.ExitStack() as opened:
        given = opened.enter_context(tempfile.TemporaryFile())
        given.write(stdin)
        given.seek(0)
        pipes = [os.pipe() for _ in range(2)]
        printed = [opened.enter_context(os.fdopen(read, "rb")) for read, _ in pipes]
        ends = [write for _, write in pipes]
        try:
            warm.start(args, cwd or Path.cwd(), env, [given.fileno(), *ends])
        finally:
            for end in ends:
                os.close(end)
        with ThreadPoolExecutor(2) as readers:
            out, err = (readers.submit(pipe.read) for pipe in printed)
            try:
                code = warm.wait()
            except BaseException:
                end_warm_processes()  # a test that is stopped leaves no command behind
                raise
            return subprocess.CompletedProcess([*COMMAND, *args], code, out.result(), err.result())


def misheard_bytes(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run `misheard` with these arguments; `env` is the whole environment where it is given."""
    args = [*map(str, arguments)]
    whole = dict(os.environ if env is None else env)
    command = tuple(args[: 2 if args[:1] and args[0] in GROUPS else 1])
    while len(_warm) < 2:
        _warm.append(Warm())
    warm = _warm[next(_turns) % 2]
    if command in _shown_to_start and _at_start(whole) == _at_start(warm.env):
        return _in_a_fork(warm, args, cwd, whole, stdin)
    done = _in_a_new_process(args, cwd, whole, stdin)
    if done.returncode in (0, 1):
        _shown_to_start.add(command)
    return done


def misheard(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `misheard` as `misheard_bytes` does; what it prints is text."""
    done = misheard_bytes(*arguments, cwd=cwd, env=env)
    out, err = (
        printed.decode().replace("\r\n", "\n").replace("\r", "\n") for printed in (done.stdout, done.stderr)
    )
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)
