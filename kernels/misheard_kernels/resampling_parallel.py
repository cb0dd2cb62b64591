"""The compiled loop behind `misheard_kernels.resampling.resample_sums`; importing it imports numba."""

import numpy as np
import numpy.typing as npt
from numba import njit, prange, uint64

from misheard_kernels.resampling import GOLDEN, MASK_32, MIX_1, MIX_2

FloatArray = npt.NDArray[np.float64]

# typed here, because numba turns a mix of signed and unsigned 64-bit integers into float64
_GOLDEN = uint64(GOLDEN)
_MIX_1 = uint64(MIX_1)
_MIX_2 = uint64(MIX_2)
_MASK_32 = uint64(MASK_32)


def resample_sums_parallel(totals: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Return what `resample_sums` returns; the resamples are shared out over numba's threads."""
    out = np.zeros((resamples, totals.shape[1]))
    _fill(totals, np.uint64(seed), out)
    return out


@njit(cache=True, inline="always")
def _mix(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> uint64(30))) * _MIX_1
    word = (word ^ (word >> uint64(27))) * _MIX_2
    return word ^ (word >> uint64(31))


@njit(cache=True, inline="always")
def _add_row(totals, half, sums):  # type: ignore[no-untyped-def]
    row = totals[(half * uint64(totals.shape[0])) >> uint64(32)]
    for column in range(sums.shape[0]):
        sums[column] += row[column]


@njit(parallel=True, cache=True, nogil=True)
def _fill(totals, seed, out):  # type: ignore[no-untyped-def]
    units = totals.shape[0]
    base = _mix(seed + _GOLDEN)
    for resample in prange(out.shape[0]):
        state = _mix(base + (uint64(resample) + uint64(1)) * _GOLDEN)
        sums = out[resample]
        for draw in range(units):
            if draw % 2 == 0:
                state += _GOLDEN
                word = _mix(state)
                _add_row(totals, word & _MASK_32, sums)
            else:
                _add_row(totals, word >> uint64(32), sums)
