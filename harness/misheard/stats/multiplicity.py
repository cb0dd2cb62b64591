"""Adjusted p-values where several hypotheses are tested at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import FloatArray


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values, in input order (Holm 1979).

    Claiming something wherever one is at most alpha makes any false claim with probability at most alpha,
    whatever the dependence of the tests. Raises ValueError for a value outside [0, 1].
    """
    ordered, order = _ordered(p)
    adjusted = np.maximum.accumulate(ordered * np.arange(ordered.size, 0, -1))
    return _in_input_order(adjusted, order)


def benjamini_hochberg(p: Sequence[float]) -> tuple[float, ...]:
    """Return Benjamini and Hochberg's adjusted p-values, in input order (Benjamini and Hochberg 1995).

    Of the findings with one of at most alpha, an expected share of at most alpha is false, for tests that are
    independent or positively dependent. Raises ValueError for a value outside [0, 1].
    """
    ordered, order = _ordered(p)
    scaled = ordered * (ordered.size / np.arange(1, ordered.size + 1))
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_input_order(adjusted, order)


def _ordered(p: Sequence[float]) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    values = np.array(p, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p-values must be in [0, 1]")
    order = np.argsort(values, kind="stable")
    return values[order], order


def _in_input_order(adjusted: FloatArray, order: npt.NDArray[np.intp]) -> tuple[float, ...]:
    out = np.empty(order.size)
    out[order] = np.minimum(adjusted, 1.0)
    return tuple(out.tolist())
