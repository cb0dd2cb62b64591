"""The verdict on a paired difference: what its intervals, its size and its units allow to be said."""

from enum import StrEnum
from typing import Literal

from misheard.stats.resampling import Intervals
from misheard.stats.slices import MIN_ITEMS

MIN_UNITS = 6
"""Under this many units no interval is trusted: the verdict is inconclusive."""


class Verdict(StrEnum):
    """What a difference shows, from system A to system B."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    """The interval excludes zero, for a rate that has no better direction."""
    SAME = "same"
    """The rate is the same on every single pair: there is no change to be sure of."""
    EQUIVALENT = "equivalent"
    """The interval lies inside the margin that was given."""
    INCONCLUSIVE = "inconclusive"
    TOO_FEW_ITEMS = "too_few_items"
    """Under MIN_ITEMS pairs: no verdict."""


def decide(
    n: int,
    better: Literal["lower", "higher"] | None,
    intervals: Intervals | None,
    *,
    identical: bool = False,
    margin: float | None = None,
) -> Verdict:
    """Return the verdict on a difference b - a over n pairs.

    Under MIN_ITEMS pairs there is none; under MIN_UNITS units it is inconclusive. Otherwise the deciding
    interval must exclude zero: the bootstrap's and, under MANY_UNITS units, the jackknife's too, on the same
    side. With an interval of nothing but zero the verdict is `same` where the pairs themselves are
    `identical`. Changes that cancel within every unit give such an interval too, and stay inconclusive. With
    a margin, an interval of some width inside ±margin, its ends excluded, is `equivalent` on either side of
    zero.
    """
    if n < MIN_ITEMS:
        return Verdict.TOO_FEW_ITEMS
    interval = None if intervals is None or intervals.units < MIN_UNITS else intervals.deciding
    if interval is None:
        return Verdict.INCONCLUSIVE
    if identical and interval.low == interval.high == 0.0:
        return Verdict.SAME
    if (
        margin is not None
        and interval.low < interval.high
        and -margin < interval.low
        and interval.high < margin
    ):
        return Verdict.EQUIVALENT
    if not interval.excludes_zero:
        return Verdict.INCONCLUSIVE
    if better is None:
        return Verdict.CHANGED
    return Verdict.BETTER if (interval.high < 0.0) == (better == "lower") else Verdict.WORSE
