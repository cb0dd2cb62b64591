"""Edit counts with compiled loops, one thread per share of the pairs; importing it imports numba.

A pair loses its common prefix and suffix first. What is left goes through a banded table (Ukkonen 1985): a
band that admits t edits is exact when its result is at most t, else t doubles. Time is O(E * max(m, n)),
memory O(min(m, n)) per thread.

Threads are Python's, which the compiled code leaves running; numba's own parallel loops would bring a
threading layer that neither survives a fork nor, without OpenMP or TBB, two callers at once.
"""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types

from misheard_kernels.compilation import compiled
from misheard_kernels.edit_distance_numpy import unpack

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]

_EDIT = 1 << 32
_SUBSTITUTION = _EDIT + 1
_OUTSIDE = 1 << 61
_FIRST_LIMIT = 8
_SHARES_PER_THREAD = 4

# read-only, because such a signature takes arrays of both kinds
_TOKENS = types.Array(types.int32, 1, "C", readonly=True)
_OFFSETS = types.Array(types.int64, 1, "C", readonly=True)


def edit_counts_parallel(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    threads: int | None = None,
) -> IntArray:
    """Return what `misheard_kernels.edit_counts` returns, for arrays that it has checked."""
    workers = threads or _available_processors()
    ref_lengths, hyp_lengths = np.diff(ref_offsets), np.diff(hyp_offsets)
    packed = np.empty(len(ref_lengths), dtype=np.int64)
    bounds = _shares(ref_lengths, hyp_lengths, workers * _SHARES_PER_THREAD)

    def fill(share: tuple[int, int]) -> None:
        _fill(ref_flat, ref_offsets, hyp_flat, hyp_offsets, share[0], share[1], packed)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, bounds))
    return unpack(packed, ref_lengths, hyp_lengths)


def _available_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shares(ref_lengths: IntArray, hyp_lengths: IntArray, shares: int) -> list[tuple[int, int]]:
    """Return ranges of pairs of about the same number of cells."""
    work = np.cumsum(np.append(0.0, ref_lengths.astype(np.float64) * hyp_lengths + 1.0))
    cuts = np.searchsorted(work, np.linspace(0.0, work[-1], shares + 1)[1:-1])
    edges = [0, *cuts.tolist(), len(ref_lengths)]
    return [(start, stop) for start, stop in itertools.pairwise(edges) if start < stop]


@compiled(int64(_TOKENS, _TOKENS, int64, types.int64[::1]))
def _band_minimum(long: TokenArray, short: TokenArray, limit: int, row: IntArray) -> Any:
    """Minimum of `E << 32 | S` over the alignments that stay where at most `limit` edits can lead."""
    rows, columns = len(long), len(short)
    surplus = rows - columns
    slack = (limit - surplus) // 2
    for column in range(min(columns, slack) + 1):
        row[column] = column * _EDIT
    if slack < columns:
        row[slack + 1] = _OUTSIDE
    for i in range(1, rows + 1):
        low = max(0, i - surplus - slack)
        high = min(columns, i + slack)
        token = long[i - 1]
        if low == 0:
            diagonal = row[0]
            left = i * _EDIT
            row[0] = left
            low = 1
        else:
            diagonal = row[low - 1]
            left = _OUTSIDE
        for j in range(low, high + 1):
            up = row[j]
            replaced = diagonal if token == short[j - 1] else diagonal + _SUBSTITUTION
            left = min(replaced, min(up, left) + _EDIT)
            row[j] = left
            diagonal = up
        if high < columns:
            row[high + 1] = _OUTSIDE
    return row[columns]


@compiled(int64(_TOKENS, _TOKENS, types.int64[::1]))
def _minimum(long: TokenArray, short: TokenArray, row: IntArray) -> Any:
    """Minimum of `E << 32 | S` over all alignments; `long` has at least as many tokens as `short`."""
    limit = max(_FIRST_LIMIT, len(long) - len(short))
    while True:
        packed = _band_minimum(long, short, limit, row)
        if packed >> 32 <= limit:
            return packed
        limit *= 2


@compiled(types.void(_TOKENS, _OFFSETS, _TOKENS, _OFFSETS, int64, int64, types.int64[::1]))
def _fill(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    start: int,
    stop: int,
    packed: IntArray,
) -> None:
    """Write the minimum of each pair from `start` to `stop`."""
    longest = 0
    for pair in range(start, stop):
        ref_length = ref_offsets[pair + 1] - ref_offsets[pair]
        hyp_length = hyp_offsets[pair + 1] - hyp_offsets[pair]
        longest = max(longest, min(ref_length, hyp_length))
    row = np.empty(longest + 1, np.int64)
    for pair in range(start, stop):
        ref = ref_flat[ref_offsets[pair] : ref_offsets[pair + 1]]
        hyp = hyp_flat[hyp_offsets[pair] : hyp_offsets[pair + 1]]
        ref_stop, hyp_stop, head = len(ref), len(hyp), 0
        while head < ref_stop and head < hyp_stop and ref[head] == hyp[head]:
            head += 1
        while ref_stop > head and hyp_stop > head and ref[ref_stop - 1] == hyp[hyp_stop - 1]:
            ref_stop -= 1
            hyp_stop -= 1
        ref, hyp = ref[head:ref_stop], hyp[head:hyp_stop]
        if len(ref) == 0 or len(hyp) == 0:
            packed[pair] = max(len(ref), len(hyp)) * _EDIT
        elif len(ref) >= len(hyp):
            packed[pair] = _minimum(ref, hyp, row)
        else:
            packed[pair] = _minimum(hyp, ref, row)
