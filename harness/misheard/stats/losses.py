"""What an attribution says: where one metric is lost, as parts of what is missing to its best score."""

from dataclasses import dataclass
from typing import Literal

from misheard.metrics.base import Arm
from misheard.stats.chains import Undefined
from misheard.stats.differences import Difference
from misheard.stats.resampling import Intervals


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the shortfall, as an amount and as a share.

    Attributes:
        amount: in the metric's unit, positive where something is lost; None where undefined.
        amount_intervals: of the amount; None without items.
        share: amount / shortfall; None where there is none. `reason` says why: `no_pairs`, `undefined`,
            `nothing_lost` (the shortfall is not positive) or `whole_not_shown` (its interval includes zero,
            or there is none).
        intervals: of the share, from the same draws as those of all parts; None where there is none.
    """

    amount: float | None
    amount_intervals: Intervals | None
    share: float | None
    reason: str | None
    intervals: Intervals | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What one stage loses in one metric.

    Attributes:
        stage: whose golden value is won back.
        golden, arm: the arm with the golden value, and the one without.
        difference: rate(arm) - rate(golden), with its verdict.
        part: of the shortfall, over the items that every arm of the chain counts.
        within_noise: whether the difference is smaller than what the control arm's own difference may be
            (the farther end of its interval, or its value where there is none); None without a control arm.
    """

    stage: str
    golden: Arm
    arm: Arm
    difference: Difference
    part: Share
    within_noise: bool | None


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest part of a shortfall, against the next.

    Attributes:
        stage, next: of the two.
        lead: how much more is lost in the first, in the metric's unit.
        intervals: of the lead.
        is_shown: whether it is larger than every other part, by the intervals of its leads over each. Naming
            the largest of a sample is no second look at it: the two-sided interval of the winner's lead holds
            its level (Hung and Fithian 2019, Rank verification for exponential families).
    """

    stage: str
    next: str
    lead: float
    intervals: Intervals
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where one metric is lost.

    Attributes:
        family, metric, better: which rate it is.
        n, units: items that every arm of the chain counts, and resampling units among them.
        shortfall: ideal - rate(audio), positive where something is lost; None where undefined.
        intervals: of the shortfall; None without items.
        losses: per stage, from the recognition on.
        undefined: the stages whose loss is not defined by itself, and why.
        rest: where the remainder is lost: `rendering`, or `after_transcript` without a plan arm.
        remainder: what is lost with the golden value of every stage.
        largest: the largest of these parts; None where the shortfall is undefined.
        noise: rate(control) - rate(transcript); None without a control arm.
        correction: rate(audio) - rate(uncorrected); None without an uncorrected arm.
    """

    family: str
    metric: str
    better: Literal["lower", "higher"]
    n: int
    units: int
    shortfall: float | None
    intervals: Intervals | None
    losses: tuple[Loss, ...]
    undefined: tuple[Undefined, ...]
    rest: str
    remainder: Share
    largest: Largest | None
    noise: Difference | None
    correction: Difference | None
