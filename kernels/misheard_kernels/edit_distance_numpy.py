"""Edit counts with numpy alone: many pairs advance together, one anti-diagonal at a time.

Pairs of similar lengths form a batch. In a batch every cell of an anti-diagonal, in every pair, depends only
on the two diagonals before it, so that a diagonal is a handful of array operations. Padding is harmless: a
cell looks only at cells with smaller indices, and a pair's result is read where the pair ends.
"""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]

_EDIT = 1 << 32
_SUBSTITUTION = _EDIT + 1
_SUBSTITUTIONS_MASK = _EDIT - 1

_BATCH_WIDTH = 1 << 14
"""Cells of one diagonal of a batch: three diagonals of int64 stay in the second-level cache."""

_DIAGONAL_OVERHEAD = 2_000
"""What the array operations of one diagonal cost before their first cell, in cells."""


def estimated_cells(ref_lengths: IntArray, hyp_lengths: IntArray) -> float:
    """Return the work of `edit_counts_numpy` in cells, overheads included, for lengths int64[n] each."""
    shorter, longer = np.minimum(ref_lengths, hyp_lengths), np.maximum(ref_lengths, hyp_lengths)
    work = 0.0
    for batch in _batches(shorter, longer):
        rows, columns = float(shorter[batch].max()), float(longer[batch].max())
        work += len(batch) * rows * columns + (rows + columns) * _DIAGONAL_OVERHEAD
    return work


def edit_counts_numpy(
    ref_flat: TokenArray, ref_offsets: IntArray, hyp_flat: TokenArray, hyp_offsets: IntArray
) -> IntArray:
    """Return what `misheard_kernels.edit_counts` returns, for arrays that it has checked."""
    ref_lengths, hyp_lengths = np.diff(ref_offsets), np.diff(hyp_offsets)
    shorter, longer = np.minimum(ref_lengths, hyp_lengths), np.maximum(ref_lengths, hyp_lengths)
    packed = longer * _EDIT
    swap = ref_lengths > hyp_lengths
    short_starts = np.where(swap, hyp_offsets[:-1] + len(ref_flat), ref_offsets[:-1])
    long_starts = np.where(swap, ref_offsets[:-1], hyp_offsets[:-1] + len(ref_flat))
    tokens = np.concatenate([ref_flat, hyp_flat])
    for batch in _batches(shorter, longer):
        short = _padded(tokens, short_starts[batch], shorter[batch])
        long = _padded(tokens, long_starts[batch], longer[batch])
        packed[batch] = _packed_distances(short, long, shorter[batch], longer[batch])
    return unpack(packed, ref_lengths, hyp_lengths)


def unpack(packed: IntArray, ref_lengths: IntArray, hyp_lengths: IntArray) -> IntArray:
    """Return substitutions, deletions, insertions and hits, int64[n, 4], of minima `E << 32 | S`."""
    substitutions = packed & _SUBSTITUTIONS_MASK
    gaps = (packed >> 32) - substitutions
    deletions = (gaps + ref_lengths - hyp_lengths) // 2
    hits = ref_lengths - substitutions - deletions
    return np.stack([substitutions, deletions, gaps - deletions, hits], axis=1)


def _batches(shorter: IntArray, longer: IntArray) -> list[npt.NDArray[np.intp]]:
    """Return the indices of the pairs without an empty side, in batches of similar lengths."""
    order = np.lexsort((shorter, longer))
    order = order[shorter[order] > 0]
    batches = []
    stop = len(order)
    while stop > 0:
        # the last pair is the longest of those left; the first may be half as long
        length = longer[order[stop - 1]]
        similar = int(np.searchsorted(longer[order[:stop]], (length + 1) // 2))
        start = max(similar, stop - max(1, int(_BATCH_WIDTH // (length + 1))))
        batches.append(order[start:stop])
        stop = start
    return batches


def _padded(tokens: TokenArray, starts: IntArray, lengths: IntArray) -> TokenArray:
    """Return the sequences as columns, int32[max(lengths), n]; what lies beyond an end is any token."""
    indices = starts[np.newaxis, :] + np.arange(lengths.max())[:, np.newaxis]
    return tokens[np.minimum(indices, len(tokens) - 1)]


def _packed_distances(
    short: TokenArray, long: TokenArray, short_lengths: IntArray, long_lengths: IntArray
) -> IntArray:
    """Return the minimum of `E << 32 | S` per pair: int64[n].

    Cell (i, j) of the usual table, i tokens of `short` against j of `long`, is row i of diagonal i + j.
    """
    rows, columns = len(short), len(long)
    long_reversed = long[::-1]
    ends = short_lengths + long_lengths
    result = np.empty(len(ends), dtype=np.int64)
    before, last, current = np.zeros((3, rows + 1, len(ends)), dtype=np.int64)
    last[:2] = _EDIT
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        shift = columns - diagonal
        differ = short[low - 1 : high] != long_reversed[low + shift : high + shift + 1]
        cells = current[low : high + 1]
        np.minimum(last[low - 1 : high], last[low : high + 1], out=cells)
        cells += _EDIT
        np.minimum(cells, before[low - 1 : high] + differ * _SUBSTITUTION, out=cells)
        if diagonal <= columns:
            current[0] = diagonal * _EDIT
        if diagonal <= rows:
            current[diagonal] = diagonal * _EDIT
        done = np.flatnonzero(ends == diagonal)
        result[done] = current[short_lengths[done], done]
        before, last, current = last, current, before
    return result
