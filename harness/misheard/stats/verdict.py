"""The verdict on a paired difference: what its intervals, its size and its units allow to be said."""

import math
from enum import StrEnum
from typing import Literal

from misheard.stats.resampling import Intervals
from misheard.stats.slices import MIN_ITEMS

MIN_UNITS = 6
"""Under this many units no interval is trusted: the verdict is inconclusive."""

MANY_UNITS = 40
"""From this many units on the bootstrap's interval decides alone; under it the jackknife's must agree."""


class Verdict(StrEnum):
    """What a difference shows, from system A to system B."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    """The interval excludes zero, for a rate that has no better direction."""
    INCONCLUSIVE = "inconclusive"
    TOO_FEW_ITEMS = "too_few_items"
    """Under MIN_ITEMS pairs: no verdict."""


def decide(
    n: int, units: int, better: Literal["lower", "higher"] | None, intervals: Intervals | None
) -> Verdict:
    """Return the verdict on a difference b - a.

    Under MIN_ITEMS pairs there is none; under MIN_UNITS units it is inconclusive. Otherwise the bootstrap's
    interval must exclude zero and, under MANY_UNITS units, the jackknife's must exclude it on the same side.
    """
    if n < MIN_ITEMS:
        return Verdict.TOO_FEW_ITEMS
    sign = 0 if units < MIN_UNITS or intervals is None else _decided_sign(units, intervals)
    if sign == 0:
        return Verdict.INCONCLUSIVE
    if better is None:
        return Verdict.CHANGED
    return Verdict.BETTER if (sign < 0) == (better == "lower") else Verdict.WORSE


def _decided_sign(units: int, intervals: Intervals) -> int:
    """Return -1 or 1 for a difference that is shown to be negative or positive, else 0."""
    deciding = [intervals.bootstrap] if units >= MANY_UNITS else [intervals.bootstrap, intervals.jackknife]
    signs = {
        0 if interval is None or not interval.excludes_zero else int(math.copysign(1, interval.low))
        for interval in deciding
    }
    return signs.pop() if len(signs) == 1 else 0
