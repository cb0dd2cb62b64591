"""Processor seconds of processes that come and go: no second is lost, and none counts twice.

The seconds of a process that ended are found in the process that waited for it, or nowhere: where another one
did, or nobody, as with the children of a process that ended before them.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Processor seconds (user and system) of a process, and of the children that it has waited for."""

    own: float
    waited_for: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.own + self.waited_for


class CpuSeconds:
    """The sum over all processes that were added, those that ended included; it never falls.

    What a process had when it ended is owed. What others gain meanwhile by waiting for children is set
    against it, until nothing has ended for a sample: a wait may show up one sample after the end. What is
    left then was lost and is kept here. Where somebody waits for other children in the same samples, less is
    kept.
    """

    def __init__(self) -> None:
        self._last: dict[int, CpuTimes] = {}
        self._before: dict[int, float] = {}
        self._kept = 0.0
        self._owed = 0.0
        self._gained = 0.0
        self._ended_lately = False
        self._total = 0.0

    def add(self, pid: int, times: CpuTimes, *, is_new: bool) -> None:
        """Take a process in; of one that is not new, what it has had before does not count."""
        self._last[pid] = times
        self._before[pid] = 0.0 if is_new else times.total

    def end(self, pid: int) -> None:
        """Note that a process is gone."""
        self._owed += self._last.pop(pid).total
        self._kept -= self._before.pop(pid)
        self._ended_lately = True

    def update(self, times: Mapping[int, CpuTimes]) -> float:
        """Return the seconds after one sample of all that still run.

        A parent must be sampled before its children: a child that it waits for in between is then missing
        once, and not in both.
        """
        if self._owed:
            self._gained += sum(now.waited_for - self._last[pid].waited_for for pid, now in times.items())
        self._last.update(times)
        lost = max(0.0, self._owed - self._gained)
        if not self._ended_lately:
            self._kept += lost
            self._owed = self._gained = lost = 0.0
        self._ended_lately = False
        running = sum(now.total - self._before[pid] for pid, now in self._last.items())
        # times are rounded to the kernel's ticks
        self._total = max(self._total, running + self._kept + lost)
        return self._total
