"""Quantiles of Student's t distribution, without scipy in the base install."""

import math
from functools import lru_cache

_TINY = 1e-300
_MAX_TERMS = 10_000


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: int) -> float:
    """Return t with P(T <= t) = `probability` for `degrees` degrees of freedom.

    P(|T| > t) is the regularized incomplete beta function I_x(degrees / 2, 1 / 2) at
    x = degrees / (degrees + t**2) (Abramowitz and Stegun 26.7.1 and 26.5.27), inverted by bisection on t.
    The result is rounded to 10 significant digits, so that the last bits of a platform's `lgamma` and `exp`
    never reach a report.

    Raises ValueError unless 0.5 <= probability < 1 and degrees >= 1.
    """
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability must be in [0.5, 1), not {probability}")
    if degrees < 1:
        raise ValueError(f"degrees must be at least 1, not {degrees}")
    if probability == 0.5:
        return 0.0
    tail = 2.0 * (1.0 - probability)
    low, high = 0.0, 1.0
    while _two_sided_tail(high, degrees) > tail:
        low, high = high, 2.0 * high
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return float(f"{middle:.10g}")
        if _two_sided_tail(middle, degrees) > tail:
            low = middle
        else:
            high = middle


def _two_sided_tail(t: float, degrees: int) -> float:
    square = t * t
    return regularized_incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + square))


def regularized_incomplete_beta(a: float, b: float, x: float) -> float:
    """Return I_x(a, b) for a, b > 0 and 0 <= x <= 1, by its continued fraction (NIST DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        # the fraction converges quickly on the other side of the mean only
        return 1.0 - regularized_incomplete_beta(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _continued_fraction(a, b, x))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return 1 + d1 / (1 + d2 / (1 + ...)) by the modified Lentz algorithm."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MAX_TERMS):
        half = term // 2
        if term % 2 == 0:
            coefficient = half * (b - half) * x / ((a + term - 1.0) * (a + term))
        else:
            coefficient = -(a + half) * (a + b + half) * x / ((a + term - 1.0) * (a + term))
        d = 1.0 + coefficient * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + coefficient / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) <= 4e-16:
            return value
    raise ArithmeticError(f"the continued fraction of I_x({a}, {b}) does not converge at x = {x}")
