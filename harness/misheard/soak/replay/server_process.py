"""The process of a session's own server, as faults and restarts see it: running, killed, stopped for a while.

Signals go to processes below this one alone: the id of a server that is gone may be another's by now.
"""

import contextlib
import os
import signal
import threading
import time

from misheard.processes.tree import descendants


def is_running(pid: int | None) -> bool:
    """Whether the process is there, below this one, and not merely waited for."""
    return pid is not None and pid in descendants(os.getpid())


def kill(pid: int | None) -> None:
    """Kill the process as a crash would; its own processes are left to who supervises it."""
    if pid is not None and is_running(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class StoppedServer:
    """A server that does nothing for some seconds, with every process below it.

    It goes on after them, or on `resume`, which whoever stops one must call in the end. When this process
    is killed, the server's supervisor kills the server, stopped or not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pids: set[int] = set()
        self._until = 0.0
        self._timer: threading.Timer | None = None

    def stop(self, pid: int, seconds: float) -> None:
        """Stop a server that runs; a second stop meanwhile can only make it longer."""
        with self._lock:
            now = time.monotonic()
            self._until = max(self._until, now + seconds)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._until - now, self._resume_if_due)
            self._timer.daemon = True
            self._timer.start()
            try:
                self._stop_all(pid)
            except BaseException:
                self._resume()
                raise

    def resume(self) -> None:
        """Let all that is stopped go on."""
        with self._lock:
            self._resume()

    def _resume_if_due(self) -> None:
        with self._lock:
            # a timer that was put off may have run already and waited for the lock
            if time.monotonic() >= self._until:
                self._resume()

    def _stop_all(self, root: int) -> None:
        """Stop a process and those below it, also those that are started while this goes on."""
        while new := ({root} | descendants(root)) - self._pids:
            self._pids |= new
            _signal(new, signal.SIGSTOP)

    def _resume(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._until = 0.0
        _signal(self._pids, signal.SIGCONT)
        self._pids.clear()


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids & descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
