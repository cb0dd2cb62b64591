"""The slope of a line through points, with Student's interval."""

import math
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import FloatArray
from misheard.stats.resampling import Interval
from misheard.stats.student import t_quantile


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope of the least-squares line, in units of y per unit of x, with its interval."""

    value: float
    interval: Interval

    def over(self, span: float) -> "Slope":
        """Return by how much the line rises over a stretch of x that is not negative."""
        return Slope(self.value * span, Interval(self.interval.low * span, self.interval.high * span))


def least_squares_slope(x: FloatArray, y: FloatArray, confidence: float = 0.95) -> Slope | None:
    """Return the slope of the least-squares line through float64[n] points; None where there is no interval.

    The interval is value ± t(n - 2) s / sqrt(Sxx), with s² = (Syy - value Sxy) / (n - 2) (Draper and Smith,
    Applied Regression Analysis, 1.4). It holds for errors that are independent and alike along x. There is
    none for under three points, or where all x are one.

    Raises ValueError for values that are not finite.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("values must be finite; leave missing ones out and count them")
    n = x.size
    if n < 3 or x.min() == x.max():
        return None
    dx, dy = x - x.mean(), y - y.mean()
    sxx = float(dx @ dx)
    value = float(dx @ dy) / sxx
    residuals = dy - value * dx
    spread = math.sqrt(float(residuals @ residuals) / (n - 2) / sxx)
    reach = t_quantile(0.5 + confidence / 2.0, n - 2) * spread
    return Slope(value, Interval(value - reach, value + reach))
