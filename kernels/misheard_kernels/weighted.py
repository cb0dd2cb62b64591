"""Alignments at sclite's costs with compiled loops; importing it imports numba.

The table of costs is filled row by row (a row a reference token) and the path is traced back from the end.
Only a strip of rows has its
steps kept: the costs at the start of each strip are, and a strip is filled again when the path reaches it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types

from misheard_kernels.compilation import compiled, internal

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]
Operations = npt.NDArray[np.int8]

_MATCH, _SUBSTITUTION, _DELETION, _INSERTION = range(4)
_SUBSTITUTION_COST = 4
_GAP_COST = 3
_STRIP_CELLS = 1 << 22

# read-only, because such a signature takes arrays of both kinds
_TOKENS = types.Array(types.int32, 1, "C", readonly=True)
_OFFSETS = types.Array(types.int64, 1, "C", readonly=True)


@internal
def _fill_row(row: IntArray, token: int, hyp: TokenArray, steps: Operations, keep: bool) -> Any:
    """Turn the costs of one row into those of the next, for its reference token."""
    diagonal = row[0]
    left = diagonal + _GAP_COST
    row[0] = left
    for j in range(len(hyp)):
        up = row[j + 1]
        same = token == hyp[j]
        cost = diagonal if same else diagonal + _SUBSTITUTION_COST
        step = _MATCH if same else _SUBSTITUTION
        gap = min(up, left) + _GAP_COST
        if gap < cost:
            cost = gap
            step = _DELETION if up < left else _INSERTION
        if keep:
            steps[j] = step
        row[j + 1] = cost
        left, diagonal = cost, up


@internal
def _trace(ref: TokenArray, hyp: TokenArray, path: Operations) -> Any:
    """Write the operations to the end of `path`."""
    rows, columns = len(ref), len(hyp)
    strip = min(max(1, rows), max(1, _STRIP_CELLS // (columns + 1), int(np.sqrt(rows))))
    strips = max(1, (rows + strip - 1) // strip)
    starts = np.empty((strips, columns + 1), np.int64)
    steps = np.empty((strip, columns), np.int8)
    row = np.arange(columns + 1) * _GAP_COST
    for i in range((strips - 1) * strip):
        if i % strip == 0:
            starts[i // strip] = row
        _fill_row(row, ref[i], hyp, steps[0], False)
    starts[strips - 1] = row
    i, j, at = rows, columns, len(path)
    for number in range(strips - 1, -1, -1):
        base = number * strip
        row = starts[number]
        for k in range(base, i):
            _fill_row(row, ref[k], hyp, steps[k - base], True)
        while i > base and j > 0:
            step = steps[i - 1 - base, j - 1]
            at -= 1
            path[at] = step
            if step != _INSERTION:
                i -= 1
            if step != _DELETION:
                j -= 1
        if j == 0:
            break
    path[at - i : at] = _DELETION
    at -= i
    path[at - j : at] = _INSERTION


@compiled(
    types.void(
        _TOKENS, _OFFSETS, _TOKENS, _OFFSETS, int64, int64, types.int64[::1], _OFFSETS, types.int8[::1]
    )
)
def align_range(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    start: int,
    stop: int,
    packed: IntArray,
    slots: IntArray,
    operations: Operations,
) -> None:
    """Do what `bit_parallel.align_range` does, at sclite's costs and for pairs of any length."""
    for pair in range(start, stop):
        ref = ref_flat[ref_offsets[pair] : ref_offsets[pair + 1]]
        hyp = hyp_flat[hyp_offsets[pair] : hyp_offsets[pair + 1]]
        path = operations[slots[pair] : slots[pair + 1]]
        rows, columns = len(ref), len(hyp)
        while rows > 0 and columns > 0 and ref[rows - 1] == hyp[columns - 1]:
            rows -= 1
            columns -= 1
        tail = len(ref) - rows
        path[len(path) - tail :] = _MATCH
        _trace(ref[:rows], hyp[:columns], path[: len(path) - tail])
        errors, substitutions = 0, 0
        for operation in path:
            errors += operation > _MATCH
            substitutions += operation == _SUBSTITUTION
        packed[pair] = errors << 32 | substitutions
