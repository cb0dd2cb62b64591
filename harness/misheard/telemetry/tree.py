"""The processes of a run: memory and processor time of a whole tree, at a bounded cost.

Looking for processes reads the whole process table, so it is done rarely; what is known is asked at each
sample. Memory is the sum of resident sizes: pages that processes share count in each of them.
"""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from misheard.telemetry.readings import Reading, Reason, none_for

SEARCH_SECONDS = 2.0
"""Between two searches for processes that have started meanwhile, at least."""

SEARCH_SHARE = 0.002
"""What searching may take of the time: a long process table is searched less often."""

BOOT_SECONDS = 2.0
"""The kernel tells when a process began to whole seconds, as the machine's start is rounded."""


class ProcessTree:
    """Resident memory, and processor seconds since the first sample, of processes and all below them.

    A process that has ended counts in the process that waited for it, also where it was never seen. Raises
    nothing: what cannot be read is a reading with its reason.

    Attributes:
        pids: the ids of the processes found last.
    """

    def __init__(self, roots: Callable[[], Iterable[int]]) -> None:
        self._roots = roots
        self._known: dict[int, Any] = {}
        self._cpu_offset: dict[int, float] = {}
        self._cpu_seconds = 0.0
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
        resident, cpu_seconds, errors = 0, 0.0, 0
        # parents come first: a child that ends meanwhile is then missing once, and never counts twice
        for pid, process in list(self._known.items()):
            try:
                # two files of /proc; psutil's oneshot costs more than it saves here
                times = process.cpu_times()
                resident += process.memory_info().rss
            except psutil.NoSuchProcess:
                self._forget(pid)
                continue
            except psutil.Error:
                errors += 1
                continue
            cpu_seconds += _all_seconds(times) - self._cpu_offset.get(pid, 0.0)
        if errors or not self._known:
            # a sum without some of its parts would be too small
            failed = none_for(Reason.NO_PERMISSION if errors else Reason.READ_ERROR)
            return failed, failed
        self._cpu_seconds = max(self._cpu_seconds, cpu_seconds)
        return Reading(float(resident)), Reading(self._cpu_seconds)

    def _search(self, psutil: Any) -> None:
        """Find the processes anew; those that are known keep what is known of them."""
        started = time.thread_time()
        found: dict[int, Any] = {}
        for root in self._roots():
            with contextlib.suppress(psutil.Error):
                top = psutil.Process(root)
                found |= {process.pid: process for process in (top, *top.children(recursive=True))}
        for pid in [pid for pid, process in self._known.items() if found.get(pid) != process]:
            self._forget(pid)
        for pid in [pid for pid in found if pid not in self._known]:
            with contextlib.suppress(psutil.Error):
                is_new = self._has_searched and found[pid].create_time() > self._began - BOOT_SECONDS
                self._cpu_offset[pid] = 0.0 if is_new else _all_seconds(found[pid].cpu_times())
                self._known[pid] = found[pid]
        self._has_searched = True
        self.pids = frozenset(found)
        cost = time.thread_time() - started
        self._next_search = time.monotonic() + max(SEARCH_SECONDS, cost / SEARCH_SHARE)

    def _forget(self, pid: int) -> None:
        self._known.pop(pid, None)
        self._cpu_offset.pop(pid, None)


def _all_seconds(times: Any) -> float:
    """Return a process's processor seconds with those of the children that it has waited for."""
    return float(times.user + times.system + times.children_user + times.children_system)
