"""Edit counts and distances on a CUDA device; importing it imports numba's CUDA target (extra `cuda`).

A block of threads takes one pair after the other and fills the table of the least `errors << 32 |
substitutions` diagonal by diagonal, its threads side by side. Three diagonals are kept, so that memory grows
with the shorter side alone. Counts equal those of `misheard_kernels.edit_counts`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import cuda

from misheard_kernels.arrays import IntArray, TokenArray, checked_pairs
from misheard_kernels.edit_distance_numpy import unpack

_THREADS = 64
_MOST_BLOCKS = 4096
_MOST_SCRATCH = 1 << 25
"""Cells of all blocks together: 256 MiB."""

_EDIT = 1 << 32
_SUBSTITUTION = _EDIT + 1


def edit_counts(
    ref_flat: TokenArray, ref_offsets: IntArray, hyp_flat: TokenArray, hyp_offsets: IntArray
) -> IntArray:
    """Return what `misheard_kernels.edit_counts` returns: int64[n, 4]. Arguments and errors are the same.

    Raises numba's CudaSupportError where there is no device.
    """
    pairs = checked_pairs(ref_flat, ref_offsets, hyp_flat, hyp_offsets, None)
    return unpack(_packed(*pairs), np.diff(pairs[1]), np.diff(pairs[3]))


def edit_distance_batch(
    ref_flat: TokenArray, ref_offsets: IntArray, hyp_flat: TokenArray, hyp_offsets: IntArray
) -> IntArray:
    """Return what `misheard_kernels.edit_distance_batch` returns: int64[n], for the same arguments.

    Raises numba's CudaSupportError where there is no device.
    """
    return _packed(*checked_pairs(ref_flat, ref_offsets, hyp_flat, hyp_offsets, None)) >> 32


def _packed(ref: TokenArray, ref_offsets: IntArray, hyp: TokenArray, hyp_offsets: IntArray) -> IntArray:
    """Return `errors << 32 | substitutions` of each pair."""
    ref_lengths, hyp_lengths = np.diff(ref_offsets), np.diff(hyp_offsets)
    pairs = len(ref_lengths)
    if pairs == 0:
        return np.empty(0, np.int64)
    ref_starts, hyp_starts = ref_offsets[:-1], hyp_offsets[:-1] + len(ref)
    swap = ref_lengths > hyp_lengths
    sides = np.stack(
        [
            np.where(swap, hyp_starts, ref_starts),
            np.where(swap, hyp_lengths, ref_lengths),
            np.where(swap, ref_starts, hyp_starts),
            np.where(swap, ref_lengths, hyp_lengths),
        ],
        axis=1,
    )
    width = int(sides[:, 1].max()) + 1
    blocks = max(1, min(pairs, _MOST_BLOCKS, _MOST_SCRATCH // (3 * width)))
    tokens = np.concatenate([ref, hyp, np.zeros(1, np.int32)])  # a device takes no array without elements
    scratch = cuda.device_array((blocks, 3, width), np.int64)
    packed = cuda.device_array(pairs, np.int64)
    _fill[blocks, _THREADS](cuda.to_device(tokens), cuda.to_device(sides), scratch, packed)
    result: IntArray = packed.copy_to_host()
    return result


@cuda.jit
def _fill(tokens: TokenArray, sides: npt.NDArray[np.int64], scratch: Any, packed: IntArray) -> None:
    """Find the minimum of every pair; `sides` has start and length of its shorter and of its longer side."""
    block, thread = cuda.blockIdx.x, cuda.threadIdx.x
    for pair in range(block, len(packed), cuda.gridDim.x):
        short, rows, long, columns = sides[pair, 0], sides[pair, 1], sides[pair, 2], sides[pair, 3]
        for diagonal in range(rows + columns + 1):
            here, last, before = diagonal % 3, (diagonal + 2) % 3, (diagonal + 1) % 3
            low, high = max(0, diagonal - columns), min(rows, diagonal)
            for i in range(low + thread, high + 1, cuda.blockDim.x):
                if i == 0 or i == diagonal:
                    scratch[block, here, i] = diagonal * _EDIT
                else:
                    gap = min(scratch[block, last, i - 1], scratch[block, last, i]) + _EDIT
                    replaced = scratch[block, before, i - 1]
                    if tokens[short + i - 1] != tokens[long + diagonal - i - 1]:
                        replaced += _SUBSTITUTION
                    scratch[block, here, i] = min(gap, replaced)
            cuda.syncthreads()
        if thread == 0:
            packed[pair] = scratch[block, (rows + columns) % 3, rows]
        cuda.syncthreads()
