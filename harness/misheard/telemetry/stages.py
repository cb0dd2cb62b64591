"""When the stages of a run began and ended."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

IDLE = "idle"
"""The stage in which nothing is loaded yet."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `start` up to `end`, in seconds of `time.monotonic()`."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.start


class StageMarks:
    """The intervals of each stage, from any thread. Stages may repeat; those of one schedule do not nest."""

    def __init__(self) -> None:
        self._marks: list[tuple[str, Interval]] = []

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """Note what is inside as a stage, also where it fails."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._marks.append((name, Interval(start, time.monotonic())))

    def intervals(self) -> dict[str, tuple[Interval, ...]]:
        """Return the intervals of each stage, in order of their beginning."""
        marks = sorted(self._marks, key=lambda mark: mark[1].start)
        return {
            name: tuple(interval for other, interval in marks if other == name)
            for name in dict.fromkeys(name for name, _ in marks)
        }


def overlapping(stages: Mapping[str, Sequence[Interval]]) -> frozenset[str]:
    """Return the stages of which a part lies inside another stage's, or its own, interval."""
    marks = sorted(
        ((interval, name) for name, intervals in stages.items() for interval in intervals),
        key=lambda mark: (mark[0].start, mark[0].end),
    )
    found: set[str] = set()
    longest: tuple[Interval, str] | None = None
    for interval, name in marks:
        if longest is not None and interval.start < longest[0].end and interval.seconds > 0:
            found |= {name, longest[1]}
        if longest is None or interval.end > longest[0].end:
            longest = interval, name
    return frozenset(found)
