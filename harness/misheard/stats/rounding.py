"""Equality up to rounding: sums of the same fractions in another order differ in their last bits."""

import numpy as np

from misheard.metrics.base import FloatArray

ROUNDING = 1e-12
"""Values at most this far apart are equal; of values over 1, at most this share of their size."""


def settle(values: FloatArray, near: FloatArray | float) -> FloatArray:
    """Return `values` with what differs from `near` by rounding alone replaced by it; NaN stays.

    Without this a difference of nothing would have an interval such as [-6e-17, -6e-17], which excludes zero,
    and a spread of nothing a standard error that is not 0.
    """
    with np.errstate(invalid="ignore"):
        is_near = np.abs(values - near) <= ROUNDING * np.maximum(1.0, np.abs(near))
    settled: FloatArray = np.where(is_near, near, values)
    return settled
