"""Distances and counts of many pairs at once, one lane of the vector registers a pair.

A pair with at most MOST_ERRORS errors needs no more of the table of distances than 64 neighbouring diagonals:
one 64-bit word, which moves down by a row with each column (Hyyrö 2003). Bit t of the word at column j is row
j + t - offset. The offset puts the first and the last cell at about the same distance from the word's middle.
Pairs with similar numbers of columns go together; a column beyond a pair's own matches everything, which
carries each distance on along its diagonal.

Columns stand for hypothesis tokens, rows for reference tokens, both without their common ends. Importing this
module imports numba.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint64

from misheard_kernels.compilation import compiled, internal

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]
BitArray = npt.NDArray[np.uint64]

LANES = 16
MOST_ERRORS = 60
"""The cells of these alignments, and those next to them, stay within the word."""

MOST_COLUMNS = 1024

# planes of a column, in this order: the cell equals the one before it in the row above; it is one more than
# the cell before it; in the next column's rows, it is one more than the cell above it, or one less
_LEVEL, _RIGHT, _PLUS, _MINUS = (uint64(plane * LANES) for plane in range(4))
_COLUMN = uint64(4 * LANES)
_ONES = ~uint64(0)
_MIDDLE = 31
_UNSEEN = 1 << 60

# read-only, because such a signature takes arrays of both kinds
_TOKENS = types.Array(types.int32, 1, "C", readonly=True)
_OFFSETS = types.Array(types.int64, 1, "C", readonly=True)
_INTS = types.int64[::1]
_MASKS = types.uint64[:, ::1]


@internal
def _rows_of(word: int, offset: int, rows: int) -> Any:
    """Return the reference tokens that a word of the masks is about."""
    return min(rows, max(0, 64 * word - offset)), min(rows, 64 * word - offset + 64)


@internal
def _set_masks(masks: BitArray, ref: TokenArray, offset: int, word: int) -> None:
    start, stop = _rows_of(word, offset, len(ref))
    side, bit = uint64(word & 1), uint64(1) << uint64(start + offset - 64 * word)
    for token in ref[start:stop]:
        masks[uint64(token), side] |= bit
        bit <<= uint64(1)


@internal
def _clear_masks(masks: BitArray, ref: TokenArray, offset: int, word: int) -> None:
    start, stop = _rows_of(word, offset, len(ref))
    side = uint64(word & 1)
    for token in ref[start:stop]:
        masks[uint64(token), side] = uint64(0)


@internal
def _find_matches(
    ref: TokenArray, hyp: TokenArray, offset: int, masks: BitArray, planes: BitArray, lane: int, columns: int
) -> None:
    """Write which rows of its word each column matches where its `_LEVEL` will be."""
    at = _COLUMN + _LEVEL + uint64(lane)
    _set_masks(masks, ref, offset, 0)
    word = 0
    for begin in range(0, len(hyp), 64):
        _set_masks(masks, ref, offset, word + 1)
        side, shift = uint64(word & 1), uint64(0)
        for token in hyp[begin : begin + 64]:
            symbol = uint64(token)
            below = masks[symbol, uint64(1) - side] << uint64(1) << (uint64(63) - shift)
            planes[at] = (masks[symbol, side] >> shift) | below
            shift += uint64(1)
            at += _COLUMN
        _clear_masks(masks, ref, offset, word)
        word += 1
    _clear_masks(masks, ref, offset, word)
    for _ in range(len(hyp), columns):
        planes[at] = _ONES
        at += _COLUMN


@internal
def _forward(planes: BitArray, columns: int, shifts: BitArray, level: BitArray) -> None:
    """Work out all columns; count in `level` how often the diagonal of the last cell did not rise."""
    at = _COLUMN
    for _ in range(columns):
        for lane in range(LANES):
            here = at + uint64(lane)
            before = here - _COLUMN
            match, plus, minus = planes[here], planes[before + _PLUS], planes[before + _MINUS]
            same = (((match & plus) + plus) ^ plus) | match | minus
            right = minus | ~(same | plus)
            left = same & plus
            planes[here] = same
            planes[here + _RIGHT] = right
            planes[here + _PLUS] = left | ~((same >> uint64(1)) | right)
            planes[here + _MINUS] = (same >> uint64(1)) & right
            level[lane] += (same >> shifts[lane]) & uint64(1)
        at += _COLUMN


@internal
def _substitutions(
    ref: TokenArray, hyp: TokenArray, offset: int, planes: BitArray, lane: int, cells: IntArray
) -> Any:
    """Return the fewest substitutions of the alignments with the fewest errors.

    Goes back over the cells on those alignments; `cells` are the substitutions from a cell of this column, or
    of the one before, to the end. No way into a cell is better than a match.
    """
    side, low, high = 0, len(ref), len(ref)
    cells[0, high] = 0
    c = len(hyp) - 1
    while c >= 0:
        here, before = cells[side], cells[1 - side]
        if low == high:
            # one cell, and while one step leads into it, one cell again
            i, cost = low, here[low]
            here[i] = _UNSEEN
            while c >= 0 and i > 0:
                if ref[i - 1] != hyp[c]:
                    at = uint64(c + 1) * _COLUMN + uint64(lane)
                    bit = uint64(i - 1 - c + offset)
                    right = (planes[at + _RIGHT] >> bit) & uint64(1)
                    down = (planes[at + _PLUS] >> (bit - uint64(1))) & uint64(1)
                    replaced = ~(planes[at] >> bit) & uint64(1)
                    if right + down + replaced != 1:
                        break
                    if right:
                        i += 1
                    c += int64(down)
                    cost += int64(replaced)
                i -= 1
                c -= 1
            here[i] = cost
            low = high = i
            if c < 0 or i == 0:
                break
        at = uint64(c + 1) * _COLUMN + uint64(lane)
        same_rows, right_rows, plus_rows = planes[at], planes[at + _RIGHT], planes[at + _PLUS]
        next_low, next_high = high, int64(0)
        i = high
        while i >= low:
            cost = here[i]
            here[i] = _UNSEEN
            if cost == _UNSEEN:
                i -= 1
                continue
            if i == 0:
                before[0] = min(before[0], cost)
                next_low = 0
                break
            if ref[i - 1] == hyp[c]:
                before[i - 1] = min(before[i - 1], cost)
                next_low, next_high = i - 1, max(next_high, i - 1)
            else:
                bit = uint64(i - 1 - c + offset)
                if (right_rows >> bit) & uint64(1):
                    before[i] = min(before[i], cost)
                    next_low, next_high = min(next_low, i), max(next_high, i)
                if (plus_rows >> (bit - uint64(1))) & uint64(1):
                    here[i - 1] = min(here[i - 1], cost)
                    low = min(low, i - 1)
                if not (same_rows >> bit) & uint64(1):
                    before[i - 1] = min(before[i - 1], cost + 1)
                    next_low, next_high = i - 1, max(next_high, i - 1)
            i -= 1
        side, low, high = 1 - side, next_low, next_high
        c -= 1
    fewest = int64(_UNSEEN)
    for i in range(low, high + 1):
        fewest = min(fewest, cells[side, i])
        cells[side, i] = _UNSEEN
    return fewest


@compiled(types.void(_TOKENS, _OFFSETS, _TOKENS, _OFFSETS, int64, int64, types.boolean, _MASKS, _INTS))
def count_range(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    start: int,
    stop: int,
    substitutions: bool,
    masks: BitArray,
    packed: IntArray,
) -> None:
    """Write `errors << 32 | substitutions` of the pairs from `start` to `stop` to `packed`.

    What has more than MOST_ERRORS errors, or more than MOST_COLUMNS columns, is left as it is. Tokens are
    numbered from 0; `masks` is zero, with a row of two elements a token, and zero again afterwards. Unless
    `substitutions` are asked for they are 0.
    """
    heads, rows, columns = np.empty((3, stop - start), np.int64)
    ends = np.zeros(MOST_COLUMNS + 2, np.int64)
    most_rows, most_columns = int64(0), int64(0)
    for pair in range(start, stop):
        ref = ref_flat[ref_offsets[pair] : ref_offsets[pair + 1]]
        hyp = hyp_flat[hyp_offsets[pair] : hyp_offsets[pair + 1]]
        ref_stop, hyp_stop, head = len(ref), len(hyp), 0
        while head < ref_stop and head < hyp_stop and ref[head] == hyp[head]:
            head += 1
        while ref_stop > head and hyp_stop > head and ref[ref_stop - 1] == hyp[hyp_stop - 1]:
            ref_stop -= 1
            hyp_stop -= 1
        m, n = ref_stop - head, hyp_stop - head
        if m == 0 or n == 0:
            packed[pair] = (m + n) << 32
        elif abs(m - n) <= MOST_ERRORS and n <= MOST_COLUMNS:
            most_rows, most_columns = max(most_rows, m), max(most_columns, n)
            ends[n + 1] += 1
        heads[pair - start], rows[pair - start], columns[pair - start] = head, m, n
    for n in range(MOST_COLUMNS + 1):
        ends[n + 1] += ends[n]
    order = np.empty(ends[MOST_COLUMNS + 1], np.int64)
    for k in range(stop - start):
        m, n = rows[k], columns[k]
        if m > 0 and n > 0 and abs(m - n) <= MOST_ERRORS and n <= MOST_COLUMNS:
            order[ends[n]] = k
            ends[n] += 1
    planes = np.zeros(int64(_COLUMN) * (most_columns + 1), np.uint64)
    cells = np.full((2, most_rows + 1), _UNSEEN, np.int64)
    shifts, level = np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64)
    for first in range(0, len(order), LANES):
        group = order[first : first + LANES]
        longest = columns[group[-1]]
        for lane in range(len(group)):
            k = group[lane]
            begin, m, n = heads[k], rows[k], columns[k]
            offset = _MIDDLE - ((m - n) >> 1)
            ref = ref_flat[ref_offsets[start + k] + begin :][:m]
            hyp = hyp_flat[hyp_offsets[start + k] + begin :][:n]
            _find_matches(ref, hyp, offset, masks, planes, lane, longest)
            planes[_PLUS + uint64(lane)] = _ONES << uint64(offset)
            shifts[lane], level[lane] = uint64(offset + m - n), 0
        _forward(planes, longest, shifts, level)
        for lane in range(len(group)):
            k = group[lane]
            begin, m, n = heads[k], rows[k], columns[k]
            errors = max(0, m - n) + longest - int64(level[lane])
            if errors > MOST_ERRORS:
                continue
            fewest = int64(0)
            if substitutions and errors > abs(m - n):
                ref = ref_flat[ref_offsets[start + k] + begin :][:m]
                hyp = hyp_flat[hyp_offsets[start + k] + begin :][:n]
                fewest = _substitutions(ref, hyp, _MIDDLE - ((m - n) >> 1), planes, lane, cells)
            packed[start + k] = errors << 32 | fewest
