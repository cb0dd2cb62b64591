"""Bounds that need no resampling: of a proportion with few events, and of a quantile."""

import math
from collections.abc import Callable

import numpy as np

from misheard.metrics.base import FloatArray
from misheard.stats.student import regularized_incomplete_beta, t_quantile


def clopper_pearson(events: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a proportion from independent trials, (low, high).

    The ends solve P(X >= events) = P(X <= events) = (1 - confidence) / 2 (Clopper and Pearson 1934); numbers
    that are not whole, such as effective ones, go into the same beta functions. Ends are rounded to 10
    significant digits, as `t_quantile` is and for the same reason.

    Raises ValueError unless 0 <= events <= trials, trials > 0 and 0 < confidence < 1.
    """
    if not (0 <= events <= trials and trials > 0):
        raise ValueError(f"events must be in [0, trials] and trials positive, not {events} of {trials}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), not {confidence}")
    tail = (1.0 - confidence) / 2.0

    def at_least(x: float) -> float:
        return regularized_incomplete_beta(events, trials - events + 1.0, x)

    def more(x: float) -> float:
        return regularized_incomplete_beta(events + 1.0, trials - events, x)

    low = 0.0 if events == 0 else _solve(at_least, tail)
    high = 1.0 if events == trials else _solve(more, 1.0 - tail)
    return low, high


def _solve(increasing: Callable[[float], float], target: float) -> float:
    low, high = 0.0, 1.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return float(f"{middle:.10g}")
        if increasing(middle) < target:
            low = middle
        else:
            high = middle


def korn_graubard(
    unit_events: FloatArray, unit_trials: FloatArray, standard_error: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a proportion whose trials are alike within units, (low, high).

    It is Clopper and Pearson's on the effective number of trials n* = p (1 - p) / SE² that would give the
    standard error, times (t(n - 1) / t(G - 1))² for its G - 1 degrees of freedom, and never more than n
    (Korn and Graubard, Survey Methodology 24, 1998). Where every unit has the same proportion the standard
    error is 0 and says nothing about how alike trials are. Then each unit counts as one trial, which holds
    however alike they are: n* = (sum of trials)² / sum of squared trials (Kish 1965), which is G for units of
    equal size.

    Args:
        unit_events: float64[G], events per unit.
        unit_trials: float64[G], trials per unit.
        standard_error: of the proportion, over the units.
        confidence: level of the interval.

    Raises ValueError with fewer than two units or without trials.
    """
    units, trials = unit_trials.size, float(unit_trials.sum())
    if units < 2 or trials <= 0:
        raise ValueError(f"needs two units and a trial, not {units} units with {trials} trials")
    proportion = float(unit_events.sum()) / trials
    if standard_error == 0.0:
        effective = trials**2 / float((unit_trials**2).sum())
    else:
        upper = 0.5 + confidence / 2.0
        ratio = t_quantile(upper, max(round(trials) - 1, 1)) / t_quantile(upper, units - 1)
        effective = min(trials, proportion * (1.0 - proportion) / standard_error**2 * ratio**2)
    return clopper_pearson(proportion * effective, effective, confidence)


def quantile(values: FloatArray, probability: float = 0.95) -> float | None:
    """Return a quantile by linear interpolation between order statistics; None without values.

    Raises ValueError for values that are not finite.
    """
    _check_values(values, probability)
    return float(np.quantile(values, probability)) if values.size else None


def quantile_upper_bound(
    values: FloatArray, probability: float = 0.95, confidence: float = 0.95
) -> float | None:
    """Return an upper confidence bound of a quantile that holds for any distribution.

    It is the smallest order statistic X(r) with P(Bin(n, probability) < r) >= confidence (Conover, Practical
    Nonparametric Statistics, 3.2). Values must be independent. None where n is too small for any: for the
    95th percentile at 95 % confidence that is n < 59.

    Raises ValueError for values that are not finite.
    """
    _check_values(values, probability)
    n = values.size
    if n == 0 or -math.expm1(n * math.log(probability)) < confidence:
        return None
    low, high = 0, n
    while high - low > 1:
        rank = (low + high) // 2
        if regularized_incomplete_beta(n - rank + 1.0, float(rank), 1.0 - probability) >= confidence:
            high = rank
        else:
            low = rank
    return float(np.partition(values, high - 1)[high - 1])


def _check_values(values: FloatArray, probability: float) -> None:
    if not 0 < probability < 1:
        raise ValueError(f"probability must be in (0, 1), not {probability}")
    if not np.isfinite(values).all():
        raise ValueError("values must be finite; leave missing ones out and count them")
