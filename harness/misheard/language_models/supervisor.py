"""Runs a server for a run and takes it down with it; a program of its own, standard library only.

    python supervisor.py --parent PID --grace SECONDS [--remove FOLDER] -- COMMAND [ARGUMENT ...]

It is started by `supervised.SupervisedServer`. Standard input is a pipe whose other end the run holds:
end-of-file means that the run is done, or dead, however it died. On that, on SIGTERM, SIGINT or SIGHUP, and
when its parent is another than PID, it ends the server: SIGTERM to it, then to every process below it, and
SIGKILL to what is left after the grace. Processes that the server started in sessions of their own are
found too, because this process adopts orphans (PR_SET_CHILD_SUBREAPER). It writes `started PID` to standard
output, `exited STATUS` as soon as the server has ended or shall end, and ends when nothing of it is left.
"""

import argparse
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
POLL_SECONDS = 0.1
KILL_SECONDS = 10.0


class _Stop:
    """Whether a signal has asked this process to end."""

    asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked = True


def descendants(root: int) -> set[int]:
    """Return every living process below `root`, from /proc; zombies are not living."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name in parentheses may hold anything, so fields count from its end.
                state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    children.setdefault(int(parent), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), []):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def end_descendants(server: int | None, grace: float) -> None:
    """End every process below this one: SIGTERM, `grace` seconds, SIGKILL until none is left.

    The server alone gets the first SIGTERM and half the grace, so that it can end its workers in order;
    None says that it has ended and its process id is free for others.
    """
    if server is not None:
        os.kill(server, signal.SIGTERM)
        _wait_for(lambda: server not in descendants(os.getpid()), grace / 2)
    if _all_gone(0.0):
        return
    _signal_all(signal.SIGTERM)
    if _all_gone(grace / 2):
        return
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        _signal_all(signal.SIGKILL)
        if _all_gone(POLL_SECONDS):
            return


def _signal_all(number: int) -> None:
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _all_gone(seconds: float) -> bool:
    return _wait_for(lambda: not descendants(os.getpid()), seconds)


def _wait_for(reached: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        _reap()
        if reached():
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS / 4)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)
    supervisor = os.getpid()

    def die_with_supervisor() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(1)

    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        stderr=sys.stderr.fileno(),
        start_new_session=True,
        preexec_fn=die_with_supervisor,  # safe: this process has one thread
    )


def _watch(server: subprocess.Popen[bytes], parent: int, stop: _Stop) -> None:
    """Return when the server has ended, the run is gone, or a signal asks for the end."""
    while server.poll() is None and not stop.asked and os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin.fileno()], [], [], POLL_SECONDS)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            return


def main(arguments: list[str]) -> int:
    """Supervise one command to its end and return 0, or 127 where it cannot be started."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--remove", type=Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    stop = _Stop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    # The run may die before it reads: writing must not end the supervisor before the server.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        try:
            server = _start(options.command)
        except OSError as error:
            sys.stderr.write(f"cannot start {options.command[0]}: {error.strerror}\n")
            return 127
        _tell(f"started {server.pid}")
        _watch(server, options.parent, stop)
        status = server.poll()
        _tell(f"exited {'by request' if status is None else status}")
        end_descendants(server.pid if status is None else None, options.grace)
        return 0
    finally:
        if options.remove is not None:
            shutil.rmtree(options.remove, ignore_errors=True)


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
