"""Power: from a pilot, the smallest effect that a suite can show, and how large it must be for a wanted one.

The squared standard error of a statistic over G units is taken to fall as 1 / G: units of the pilot's mean
size, drawn from the same people, rooms and devices. Quantiles are those of t with G - 1 degrees of freedom,
so that a size depends on itself and is searched for.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import BoolArray, FloatArray
from misheard.stats.detectable import smallest_detectable
from misheard.stats.resampling import Statistic, jackknife_error, unit_totals
from misheard.stats.rounding import settle
from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS

MAX_UNITS = 1_000_000
"""More units than this are not recorded for any suite."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a statistic of a pilot varies between its units.

    Attributes:
        n, units: items that count, and resampling units among them.
        value: of the statistic; None where undefined.
        standard_error: by the jackknife; None where there is none. `reason` says why nothing can be planned
            with: `no_items`, `undefined`, `under_6_units`, `undefined_without_one_unit` or `no_spread`
            (every unit is alike: a spread that was not seen, not one that is not there).
    """

    n: int
    units: int
    value: float | None
    standard_error: float | None
    reason: str | None


def measure_spread(
    values: FloatArray, rows: BoolArray, units: npt.NDArray[np.intp], statistic: Statistic
) -> Spread:
    """Return the spread of a statistic of sums between units.

    Args:
        values: float64[n, K], counts.
        rows: bool[n], the items that count.
        units: intp[n], the resampling unit of each item.
        statistic: of sums, [..., K] -> [...].
    """
    n = int(np.count_nonzero(rows))
    if not n:
        return Spread(0, 0, None, None, "no_items")
    members, inverse = np.unique(units[rows], return_inverse=True)
    totals = unit_totals(values[rows], inverse, members.size)
    sums = np.add.reduce(totals, axis=0)
    value = float(statistic(sums))
    if not math.isfinite(value):
        return Spread(n, members.size, None, None, "undefined")
    error = None if members.size < 2 else jackknife_error(settle(statistic(sums - totals), value))
    if members.size < MIN_UNITS:
        return Spread(n, members.size, value, error, f"under_{MIN_UNITS}_units")
    if error is None:
        return Spread(n, members.size, value, None, "undefined_without_one_unit")
    return Spread(n, members.size, value, error, None if error > 0 else "no_spread")


def smallest_effect(spread: Spread, units: int, power: float) -> float | None:
    """Return the smallest effect that so many units like the pilot's show with probability `power`.

    None where nothing can be planned with the pilot, and under MIN_UNITS units. Raises ValueError as
    `smallest_detectable`.
    """
    if spread.reason is not None or spread.standard_error is None or units < MIN_UNITS:
        return None
    return smallest_detectable(spread.standard_error * math.sqrt(spread.units / units), units, power)


def units_needed(spread: Spread, effect: float, power: float) -> int | None:
    """Return the fewest units like the pilot's that show an effect with probability `power`.

    At least MIN_UNITS, and as many as hold MIN_ITEMS items. None where nothing can be planned with the pilot
    and where it takes more than MAX_UNITS. Raises ValueError unless `effect` is positive.
    """
    if not effect > 0:
        raise ValueError(f"effect must be positive, not {effect}")
    if spread.reason is not None:
        return None
    low = max(MIN_UNITS, -(-MIN_ITEMS * spread.units // spread.n))
    if _shows(spread, low, effect, power):
        return low
    high = 2 * low
    while not _shows(spread, high, effect, power):
        if high > MAX_UNITS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _shows(spread, middle, effect, power) else (middle, high)
    return high


def _shows(spread: Spread, units: int, effect: float, power: float) -> bool:
    smallest = smallest_effect(spread, units, power)
    return smallest is not None and smallest <= effect


def items_of(spread: Spread, units: int) -> int:
    """Return how many items so many units of the pilot's mean size hold, at least as many as units."""
    return max(units, -(-units * spread.n // spread.units))
