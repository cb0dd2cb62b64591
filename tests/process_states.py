"""Processes that tests start or kill: whether they live, and waiting until they do not."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path


def state(pid: int) -> str:
    """Return the letter of a process's state in proc(5), such as `T` for stopped; `X` where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def is_alive(pid: int) -> bool:
    """Return whether a process runs: one that has ended and was not waited for does not."""
    return state(pid) not in "ZX"


def wait_until(reached: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait for something, and return whether it came."""
    deadline = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def all_gone(pids: Iterable[int], seconds: float = 60.0) -> bool:
    """Wait until no process lives any more, and return whether that came."""
    return wait_until(lambda: not any(map(is_alive, pids)), seconds)
