"""The verdict of a gate: one frozen object, of which every document and the exit code are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from misheard.stats.gate import Status
from misheard.stats.resampling import Interval


class Outcome(StrEnum):
    """What the gate says as a whole."""

    SHIP = "ship"
    NO_SHIP = "no_ship"
    INCONCLUSIVE = "inconclusive"
    INCOMPLETE = "incomplete"
    """Some check has no evidence."""
    NOT_COMPARABLE = "not_comparable"
    """The runs do not belong together, or cannot be judged at all; nothing was checked."""

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Outcome.SHIP: 0,
    Outcome.NO_SHIP: 1,
    Outcome.INCONCLUSIVE: 3,
    Outcome.INCOMPLETE: 4,
    Outcome.NOT_COMPARABLE: 4,
}


MECHANISM = "mechanism"
"""The role of the checks of a long session."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question that a gate asks, with its answer.

    Attributes:
        id: unique in the verdict, such as `guard/wer/audio/language=en`.
        role: `primary`, `guard`, `latency`, `failures`, `required_slice`, `gate_axis` or MECHANISM.
        status, reason: the answer; see `Finding`.
        decides: whether the outcome depends on it. A claim of which any one is enough does not; the check
            that sums such claims up does. A check of what need not happen does only where it is required.
        why: a sentence with the figures; no text of an item.
        rule, limit: the tolerance as the gate file has it; None where there is none.
        metric, arm: None for checks that are about no rate.
        slice: the value per axis that the items share; empty for all items.
        baseline, candidate, difference, interval: the figures that decided, None where there are none.
            `interval` is of the difference, or of the candidate's rate or quantile for an absolute rule.
        by_unit: whether the interval is the exact one of a share of units, as no unit differs from another.
        p_value: Holm's adjusted, of claims of which any one is enough.
        n, units: pairs or items that count, and resampling units among them.
        failed_baseline, failed_candidate: items of the slice that failed in the arm.
    """

    id: str
    role: str
    status: Status
    reason: str
    why: str
    decides: bool = True
    rule: str | None = None
    limit: float | None = None
    metric: str | None = None
    arm: str | None = None
    slice: tuple[tuple[str, str | None], ...] = ()
    baseline: float | None = None
    candidate: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    by_unit: bool = False
    p_value: float | None = None
    n: int | None = None
    units: int | None = None
    failed_baseline: int | None = None
    failed_candidate: int | None = None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What a gate says, from which the terminal, every document and the exit code are made.

    Attributes:
        outcome: the whole.
        gate: file name of the gate.
        gate_sha256: fingerprint of its content.
        candidate, baseline: names of the run directories; None without a baseline.
        suite: name and version of the candidate's suite; None where it could not be read.
        soak: name of the folder or trace of a long session; None without one.
        suite_lock: sha256 of the lock that the suite agreed with when the candidate ran; None without one.
        refusals: why nothing was checked; empty where something was.
        checks: every check, in the order of the gate file.
        notes: what a reader should know besides.
    """

    outcome: Outcome
    gate: str
    gate_sha256: str
    candidate: str
    baseline: str | None
    suite: str | None
    refusals: tuple[str, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    suite_lock: str | None = None
    soak: str | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return self.outcome.exit_code


def decide_outcome(checks: Iterable[Check], refusals: Sequence[str]) -> Outcome:
    """Return the outcome: the gravest of its parts.

    Runs that do not belong together come before missing evidence, that before a failed check, that before an
    inconclusive one. A gate without any check that passes ships nothing.
    """
    if refusals:
        return Outcome.NOT_COMPARABLE
    statuses = {check.status for check in checks if check.decides}
    for status, outcome in (
        (Status.NO_EVIDENCE, Outcome.INCOMPLETE),
        (Status.FAIL, Outcome.NO_SHIP),
        (Status.INCONCLUSIVE, Outcome.INCONCLUSIVE),
        (Status.PASS, Outcome.SHIP),
    ):
        if status in statuses:
            return outcome
    return Outcome.INCOMPLETE
