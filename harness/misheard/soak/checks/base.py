"""What a check of the mechanism is, and what it answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from misheard.soak.limits import Limits
from misheard.soak.table import Trace
from misheard.stats.gate import Status
from misheard.stats.resampling import Interval

REASONS = {
    "kept": "kept",
    "broken": "broken",
    "within": "within the limit",
    "every_time_within": "within the limit every time (59 times take a bound)",
    "over": "over the limit",
    "spans": "the interval holds values on both sides of the limit",
    "too_few": "too few for an interval",
    "missing_times": "times are missing",
    "missing_counts": "counts are missing",
    "no_events": "the trace has no event to judge by",
    "never_happened": "it never happened, so that nothing is shown",
    "contradictory": "counts contradict each other",
    "waived": "waived",
}
"""Every reason of an answer, in words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found.

    Attributes:
        status, reason: the answer; the reason is a key of REASONS.
        found: the figures, as a clause.
        breaches: places of the events that break it, in order.
        part: the stage or queue that it is about; None for the whole trace.
        n: turns, operations, times or samples that it looked at.
        value, limit, interval: the figure that was judged, where there is one.
    """

    status: Status
    reason: str
    found: str
    breaches: tuple[int, ...] = ()
    part: str | None = None
    n: int = 0
    value: float | None = None
    limit: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class MechanismCheck:
    """A check: what it is called, why it is there, and the function that answers it.

    Attributes:
        name: as limits files and documents call it.
        why: one sentence.
        ask: from a trace and its limits to one answer, or one per stage or queue.
        conditional: whether it asks about something that need not happen, such as a failure. Where that never
            happened the check has no evidence, and decides only where the limits require it.
    """

    name: str
    why: str
    ask: Callable[[Trace, Limits], tuple[Answer, ...]]
    conditional: bool = False


def no_events(what: str, part: str | None = None) -> tuple[Answer, ...]:
    """Return the answer of a check without anything to look at.

    Args:
        what: what the trace lacks.
        part: stage or queue.
    """
    return (Answer(Status.NO_EVIDENCE, "no_events", f"no {what}", part=part),)


def never_happened(what: str) -> tuple[Answer, ...]:
    """Return the answer of a check of something that the session had no occasion for."""
    return (Answer(Status.NO_EVIDENCE, "never_happened", what),)


def signed(value: float, digits: int) -> str:
    """Return a change with its sign; one that rounds to nothing has none."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if any(digit in text for digit in "123456789") else text[1:]


def counted(found: str, breaches: Iterable[int], n: int) -> tuple[Answer, ...]:
    """Return the answer of a check that no event may break."""
    broken = tuple(sorted(map(int, breaches)))
    status, reason = (Status.FAIL, "broken") if broken else (Status.PASS, "kept")
    return (Answer(status, reason, found, broken, n=n),)
