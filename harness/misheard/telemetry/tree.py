"""The processes of a run: memory and processor time of a whole tree, at a bounded cost.

Looking for processes reads the whole process table, so it is done rarely; what is known is asked at each
sample. Memory is the sum of resident sizes: pages that processes share count in each of them.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from misheard.telemetry.cpu_seconds import CpuSeconds, CpuTimes
from misheard.telemetry.readings import Reading, Reason, none_for

SEARCH_SECONDS = 2.0
"""Between two searches for processes that have started meanwhile, at least."""

SEARCH_SHARE = 0.002
"""What searching may take of the time: a long process table is searched less often."""

BOOT_SECONDS = 2.0
"""The kernel tells when a process began to whole seconds, as the machine's start is rounded."""


class ProcessTree:
    """Resident memory, and processor seconds since the first sample, of processes and all below them.

    The seconds of a process that has ended stay, also where it was never seen and another one waited for it.
    A process whose parent ended goes on counting. Raises nothing: what cannot be read is a reading with its
    reason.

    Attributes:
        pids: the ids of the processes found last.
    """

    def __init__(self, roots: Callable[[], Iterable[int]]) -> None:
        self._roots = roots
        self._known: dict[int, Any] = {}
        self._seconds = CpuSeconds()
        self._began = time.time()
        self._next_search = 0.0
        self._has_searched = False
        self.pids: Collection[int] = ()

    def read(self) -> tuple[Reading, Reading]:
        """Return resident bytes and processor seconds (user and system, of all cores)."""
        try:
            import psutil
        except ImportError:
            missing = none_for(Reason.LIBRARY_MISSING)
            return missing, missing
        if time.monotonic() >= self._next_search:
            self._search(psutil)
        resident, errors = 0, 0
        times: dict[int, CpuTimes] = {}
        # parents come first, as they were found
        for pid, process in list(self._known.items()):
            try:
                # two files of /proc; psutil's oneshot costs more than it saves here
                now = _times(process)
                resident += process.memory_info().rss
            except psutil.NoSuchProcess:
                self._forget(pid)
                continue
            except psutil.Error:
                errors += 1
                continue
            times[pid] = now
        if errors or not self._known:
            # a sum without some of its parts would be too small
            failed = none_for(Reason.NO_PERMISSION if errors else Reason.READ_ERROR)
            return failed, failed
        return Reading(float(resident)), Reading(self._seconds.update(times))

    def _search(self, psutil: Any) -> None:
        """Find the processes anew; those that are known, and still run, keep what is known of them."""
        started = time.thread_time()
        found: dict[int, Any] = {}
        for root in self._roots():
            with contextlib.suppress(psutil.Error):
                top = psutil.Process(root)
                found |= {process.pid: process for process in (top, *top.children(recursive=True))}
        for pid, process in list(self._known.items()):
            if found.get(pid) != process and not process.is_running():
                self._forget(pid)
        for pid in [pid for pid in found if pid not in self._known]:
            with contextlib.suppress(psutil.Error):
                is_new = self._has_searched and found[pid].create_time() > self._began - BOOT_SECONDS
                self._seconds.add(pid, _times(found[pid]), is_new=is_new)
                self._known[pid] = found[pid]
        self._has_searched = True
        self.pids = frozenset(found) | self._known.keys()
        cost = time.thread_time() - started
        self._next_search = time.monotonic() + max(SEARCH_SECONDS, cost / SEARCH_SHARE)

    def _forget(self, pid: int) -> None:
        del self._known[pid]
        self._seconds.end(pid)


def _times(process: Any) -> CpuTimes:
    times = process.cpu_times()
    return CpuTimes(times.user + times.system, times.children_user + times.children_system)
