"""The compiled loop behind `misheard_kernels.resampling.resample_sums`; importing it imports numba.

Each resample is a function of its number alone, so that the resamples can be shared out over Python threads,
which the compiled code leaves running.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint64, void

from misheard_kernels.compilation import compiled
from misheard_kernels.resampling import GOLDEN, MASK_32, MIX_1, MIX_2

FloatArray = npt.NDArray[np.float64]

# typed here, because numba turns a mix of signed and unsigned 64-bit integers into float64
_GOLDEN = uint64(GOLDEN)
_MIX_1 = uint64(MIX_1)
_MIX_2 = uint64(MIX_2)
_MASK_32 = uint64(MASK_32)

# read-only, because such a signature takes arrays of both kinds
_TOTALS = types.Array(types.float64, 2, "C", readonly=True)
_OUT = types.Array(types.float64, 2, "C")


def resample_sums_parallel(
    totals: FloatArray, resamples: int, seed: int, threads: int | None = None
) -> FloatArray:
    """Return what `resample_sums` returns, for arguments that it has checked.

    Args:
        totals: float64[G, K], C-contiguous.
        resamples: how many.
        seed: of the draws.
        threads: how many to use; None for one per processor that this process may run on.
    """
    out = np.zeros((resamples, totals.shape[1]))
    workers = threads or _available_processors()
    bounds = np.linspace(0, resamples, workers + 1).astype(np.int64).tolist()

    def fill(start: int, stop: int) -> None:
        _fill(totals, np.uint64(seed), start, stop, out)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, bounds[:-1], bounds[1:]))
    return out


def _available_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@compiled(uint64(uint64))
def _mix(word: Any) -> Any:
    word = (word ^ (word >> uint64(30))) * _MIX_1
    word = (word ^ (word >> uint64(27))) * _MIX_2
    return word ^ (word >> uint64(31))


@compiled(void(_TOTALS, uint64, int64, int64, _OUT))
def _fill(totals: FloatArray, seed: Any, start: int, stop: int, out: FloatArray) -> None:
    units, columns = totals.shape
    base = _mix(seed + _GOLDEN)
    for resample in range(start, stop):
        state = _mix(base + uint64(resample + 1) * _GOLDEN)
        word = uint64(0)
        for draw in range(units):
            if draw % 2 == 0:
                state += _GOLDEN
                word = _mix(state)
                half = word & _MASK_32
            else:
                half = word >> uint64(32)
            unit = int64((half * uint64(units)) >> uint64(32))
            for column in range(columns):
                out[resample, column] += totals[unit, column]
