"""The processes below this one: started so that they end with it, found wherever they hide, and ended.

Standard library only: the programs of this package run in interpreters of their own.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
POLL_SECONDS = 0.1
KILL_SECONDS = 10.0


def adopt_orphans() -> None:
    """Make this process the parent of every process below it whose own parent ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start(
    command: list[str],
    *,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that is killed when this process ends. Raises OSError."""
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def die_with_parent() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=env,
        start_new_session=True,
        preexec_fn=die_with_parent,  # safe: these programs have one thread
    )


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


def end_descendants(first: int | None, grace: float) -> None:
    """End every process below this one: SIGTERM, `grace` seconds, SIGKILL until none is left.

    `first` alone gets the first SIGTERM and half the grace, so that it can end its workers in order; None
    says that it has ended and its process id is free for others.
    """
    if first is not None:
        with contextlib.suppress(PermissionError):  # it runs as another user
            os.kill(first, signal.SIGTERM)
        _wait_for(lambda: first not in descendants(os.getpid()), grace / 2)
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
