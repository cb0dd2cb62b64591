"""What the page of several runs is made of: an entry per run or soak, and the folders that are neither."""

from collections.abc import Mapping
from dataclasses import dataclass

Key = tuple[str, str]
"""A language and its primary metric."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A primary metric of a run over the items of its language, in the audio arm.

    Attributes:
        value, interval: None where there is none.
        n, units, failed: what it is of.
        is_weak: whether that is too little for a verdict.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int
    units: int
    failed: int
    is_weak: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A run or a soak.

    Attributes:
        name: of its folder.
        kind: `run` or `soak`.
        when: seconds since the epoch by which entries are ordered.
        day: the same as a date and a time of day.
        dated_by: where the time is from.
        suite: name and version.
        system: what was under test, in words.
        items, failed: how many.
        figures: of a run.
        verdict: the outcome of a verdict.json beside it; empty without one.
        verdict_tone: `good`, `bad` or `quiet`; empty without a verdict.
        href: address of its own page; empty where it has none.
        suite_name, suite_sha256, scorer, judge: what a trend compares; empty for a soak.
    """

    name: str
    kind: str
    when: float
    day: str
    dated_by: str
    suite: str
    system: str
    items: str
    failed: int | None
    figures: Mapping[Key, Figure]
    verdict: str = ""
    verdict_tone: str = ""
    href: str = ""
    suite_name: str = ""
    suite_sha256: str = ""
    scorer: Mapping[str, str] | None = None
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A folder that could not be read, or a file beside a run that could not, and why."""

    folder: str
    why: str


@dataclass(frozen=True, slots=True)
class Index:
    """Several runs and soaks in the order of time."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
