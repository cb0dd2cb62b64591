"""Distance, counts and alignments at unit cost with compiled loops; importing it imports numba.

The steps are those of `misheard_kernels.small_inputs`: Myers' bit-parallel distance in blocks of 64 reference
tokens, within a band (Ukkonen 1985, Hyyrö 2003) that admits `limit` edits and is exact when the distance
found is at most that; then, from the end, the fewest substitutions over the steps that lie on an alignment
with the fewest errors.

Columns of the table of distances stand for hypothesis tokens, rows for reference tokens. A tile is a range
of columns, `first` to `last`: it starts from the state of column `first` and works out those after it, up to
and including `last`. One tile is enough for most pairs. A band reaches `down` rows below the diagonal and
`up` rows above it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint32, uint64

from misheard_kernels.compilation import compiled, internal

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]
BitArray = npt.NDArray[np.uint64]
Operations = npt.NDArray[np.int8]

DISTANCE, CANONICAL, CANONICAL_PATH, RAPIDFUZZ_PATH = range(4)
"""What `align_range` finds of each pair."""

LONG_PAIR = 4_000_000
"""Cells from which a pair is left to `misheard_kernels.long_pairs`."""

TOO_LONG, OPEN = -1, -2

_MATCH, _SUBSTITUTION, _DELETION, _INSERTION = range(4)
_DIAGONAL, _DOWN, _RIGHT = range(3)
_NO_STEP = ~3
_RAISED = 1  # a carry: the distance in a row grows by one from one column to the next; 2: it falls by one
UNSEEN = 1 << 60

# read-only, because such a signature takes arrays of both kinds
_TOKENS = types.Array(types.int32, 1, "C", readonly=True)
_OFFSETS = types.Array(types.int64, 1, "C", readonly=True)
_INTS = types.int64[::1]
_BITS = types.uint64[::1]
_SYMBOLS = types.int32[::1]
_MASKS = types.uint64[:, ::1]
_BYTES = types.uint8[::1]
_OPERATIONS = types.int8[::1]


@compiled(int64(_TOKENS, _TOKENS, _SYMBOLS, _SYMBOLS, _SYMBOLS, _SYMBOLS))
def number_symbols(
    ref: TokenArray,
    hyp: TokenArray,
    ref_symbols: TokenArray,
    hyp_symbols: TokenArray,
    keys: TokenArray,
    slots: TokenArray,
) -> Any:
    """Give the distinct reference tokens numbers from 0, and return how many there are.

    A hypothesis token that is none of them gets that number. `keys` and `slots` have as many elements as the
    smallest power of two that is at least twice the number of reference tokens, or more.
    """
    bits = 1
    while 1 << bits < 2 * len(ref):
        bits += 1
    capacity, shift = 1 << bits, uint64(64 - bits)
    slots[:capacity] = -1
    symbols = 0
    for i in range(len(ref)):
        slot = int64((uint64(ref[i]) * uint64(0x9E3779B97F4A7C15)) >> shift)
        while slots[slot] >= 0 and keys[slot] != ref[i]:
            slot = (slot + 1) & (capacity - 1)
        if slots[slot] < 0:
            keys[slot] = ref[i]
            slots[slot] = symbols
            symbols += 1
        ref_symbols[i] = slots[slot]
    for j in range(len(hyp)):
        slot = int64((uint64(hyp[j]) * uint64(0x9E3779B97F4A7C15)) >> shift)
        while slots[slot] >= 0 and keys[slot] != hyp[j]:
            slot = (slot + 1) & (capacity - 1)
        hyp_symbols[j] = slots[slot] if slots[slot] >= 0 else symbols
    return symbols


@internal
def _change(carry: npt.NDArray[np.uint8]) -> Any:
    """Return how much the distance grows along a row with these carries."""
    change = int64(0)
    for sign in carry:
        change += int64(sign & _RAISED) - int64(sign >> 1)
    return change


@internal
def _set_masks(masks: BitArray, side: int, ref: TokenArray, base: int, height: int) -> None:
    for i in range(base, base + height):
        masks[ref[i], side] |= uint64(1) << uint64(i - base)


@internal
def _clear_masks(masks: BitArray, side: int, ref: TokenArray, base: int, height: int) -> None:
    for i in range(base, base + height):
        masks[ref[i], side] = 0


@internal
def _step(match: int, p: int, q: int, sign: int, top: int) -> Any:
    """Advance a block by a column; return two of its `planes`, the new state and the carry of row `top`."""
    raised, lowered = uint64(sign & uint64(_RAISED)), uint64(sign >> uint64(1))
    match |= lowered
    level = (((match & p) + p) ^ p) | match | q
    right = q | ~(level | p)
    left = level & p
    out = ((right >> top) & uint64(1)) | (((left >> top) & uint64(1)) << uint64(1))
    shifted = (right << uint64(1)) | raised
    return right, level, ((left << uint64(1)) | lowered) | ~(level | shifted), shifted & level, out


@internal
def _keep(planes: BitArray, at: int, p: int, right: int, level: int) -> None:
    planes[at] = p
    planes[at + uint64(1)] = right
    planes[at + uint64(2)] = level


@compiled(
    types.void(
        _SYMBOLS,
        _SYMBOLS,
        int64,
        int64,
        int64,
        int64,
        _MASKS,
        _BYTES,
        _BITS,
        _BITS,
        _INTS,
        _BITS,
        types.boolean,
    )
)
def forward(
    ref: TokenArray,
    hyp: TokenArray,
    first: int,
    last: int,
    down: int,
    up: int,
    masks: BitArray,
    carry: npt.NDArray[np.uint8],
    plus: BitArray,
    minus: BitArray,
    bottom: IntArray,
    planes: BitArray,
    keep: bool,
) -> None:
    """Work out a tile block by block, and leave the state of column `last`.

    Args:
        ref: symbols of the reference, from 0 to less than `len(masks)`.
        hyp: symbols of the hypothesis, likewise.
        first: column before the tile.
        last: last column of the tile.
        down: rows of the band below the diagonal.
        up: rows of the band above it.
        masks: zero, one row of two elements a symbol; zero again afterwards.
        carry: scratch, one element a column of the tile.
        plus: state, one element a block: rows that are one more than the row above.
        minus: state: rows that are one less than the row above.
        bottom: state: distance in the last row of each block.
        planes: for `explore`, three elements a column and block of the band; only written with `keep`.
        keep: whether to write `planes`.
    """
    rows, columns = len(ref), last - first
    blocks = (rows + 63) >> 6
    top_block = max(0, first - up) >> 6
    carry[:columns] = _RAISED
    entry_bottom, began = int64(0), first
    block = top_block
    while block < blocks:
        base = block << 6
        height = min(64, rows - base)
        entry = max(0, base - down)
        if entry >= last:
            break
        begin, end = max(first, entry), min(last, base + height + up)
        if entry < first:
            p, q, total = plus[block], minus[block], bottom[block]
        else:
            p, q = ~uint64(0), uint64(0)
            if entry == 0:
                total = int64(base + height)
            elif block > top_block:
                total = entry_bottom + _change(carry[began - first : begin - first]) + height
            else:
                total = bottom[block - 1] + height
        _set_masks(masks, 0, ref, base, height)
        top = uint64(height - 1)
        # unsigned indices, because numba looks whether others are negative
        at = uint64((block - top_block) * columns * 3 + (begin - first) * 3)
        next_entry = max(0, base + 64 - down)
        if end < last or block + 1 == blocks or not (next_entry < first or next_entry == first == 0):
            tokens, signs = hyp[begin:end], carry[begin - first : end - first]
            for c in range(len(tokens)):
                right, level, p, q, out = _step(masks[uint32(tokens[c]), 0], p, q, uint64(signs[c]), top)
                signs[c] = out
                if keep:
                    _keep(planes, at, p, right, level)
                    at += uint64(3)
            entry_bottom, began = total, begin
            plus[block], minus[block] = p, q
            bottom[block] = total + _change(signs)
            _clear_masks(masks, 0, ref, base, height)
            block += 1
            continue
        # the next block goes along: each alone, a processor waits for one step before the next can start
        below = block + 1
        below_base = below << 6
        below_height = min(64, rows - below_base)
        _set_masks(masks, 1, ref, below_base, below_height)
        if next_entry < first:
            below_p, below_q, below_total = plus[below], minus[below], bottom[below]
        else:
            below_p, below_q, below_total = ~uint64(0), uint64(0), int64(below_base + below_height)
        below_top, below_at = uint64(below_height - 1), at + uint64(columns * 3)
        tokens = hyp[first:last]
        for c in range(columns):
            symbol = uint32(tokens[c])
            right, level, p, q, out = _step(masks[symbol, 0], p, q, uint64(carry[c]), top)
            if keep:
                _keep(planes, at, p, right, level)
            right, level, below_p, below_q, out = _step(masks[symbol, 1], below_p, below_q, out, below_top)
            carry[c] = out
            if keep:
                _keep(planes, below_at, below_p, right, level)
                at += uint64(3)
                below_at += uint64(3)
        # the distance in the last row of the upper block: nobody asks, the lower one is entered already
        plus[block], minus[block] = p, q
        entry_bottom, began = below_total, first
        plus[below], minus[below] = below_p, below_q
        bottom[below] = below_total + _change(carry[:columns])
        _clear_masks(masks, 0, ref, base, height)
        _clear_masks(masks, 1, ref, below_base, below_height)
        block += 2


@compiled(
    types.UniTuple(int64, 3)(
        _SYMBOLS,
        _SYMBOLS,
        int64,
        int64,
        int64,
        _BITS,
        types.int64[:, ::1],
        int64,
        int64,
        int64,
        types.boolean,
        _BYTES,
        int64,
    )
)
def explore(
    ref: TokenArray,
    hyp: TokenArray,
    first: int,
    last: int,
    up: int,
    planes: BitArray,
    cells: npt.NDArray[np.int64],
    side: int,
    low: int,
    high: int,
    prune: bool,
    steps: npt.NDArray[np.uint8],
    stride: int,
) -> Any:
    """Go back over a tile along the steps of the alignments with the fewest errors.

    `cells[side]` has the values of column `last`, from row `low` to row `high`, and UNSEEN elsewhere. A value
    is 4 * the substitutions from there to the end, plus the best step. Returns side, low and high of column
    `first`. With a `stride` above 0 the best step of each cell visited, in the columns after `first`, is
    written to `steps`. `prune` leaves out what the number of substitutions does not need: no way into a cell
    is better than a match.
    """
    columns = last - first
    top_block = max(0, first - up) >> 6
    top_row = top_block << 6
    c = columns - 1
    while c >= 0:
        here, before = cells[side], cells[1 - side]
        if low == high:
            # one cell, and while one step leads into it, one cell again
            i = low
            value = here[i]
            here[i] = UNSEEN
            while c >= 0 and i > 0:
                bit = uint64((i - 1) & 63)
                at = ((((i - 1) >> 6) - top_block) * columns + c) * 3
                same = ref[i - 1] == hyp[first + c]
                down = (planes[at] >> bit) & uint64(1)
                right = (planes[at + 1] >> bit) & uint64(1)
                replaced = uint64(0) if same else ~(planes[at + 2] >> bit) & uint64(1)
                if same:
                    if not prune and down | right:
                        break
                elif down + right + replaced != 1:
                    break
                if stride > 0:
                    steps[c * stride + i - top_row] = value & 3
                value &= _NO_STEP
                if right and not same:
                    value |= _RIGHT
                    c -= 1
                elif down and not same:
                    value |= _DOWN
                    i -= 1
                else:
                    value += 4 * int64(replaced)
                    i -= 1
                    c -= 1
            here[i] = value
            low = high = i
            if c < 0:
                break
        symbol = hyp[first + c]
        next_low, next_high = high, int64(0)
        i = high
        while i >= low:
            value = here[i]
            if value == UNSEEN:
                i -= 1
                continue
            here[i] = UNSEEN
            if stride > 0:
                steps[c * stride + i - top_row] = value & 3
            cost = value & _NO_STEP
            if i == 0:
                before[0] = min(before[0], cost | _RIGHT)
                next_low = 0
                break
            same = ref[i - 1] == symbol
            bit = uint64((i - 1) & 63)
            at = ((((i - 1) >> 6) - top_block) * columns + c) * 3
            if not (prune and same):
                if (planes[at + 1] >> bit) & uint64(1):
                    before[i] = min(before[i], cost | _RIGHT)
                    next_low, next_high = min(next_low, i), max(next_high, i)
                if (planes[at] >> bit) & uint64(1):
                    here[i - 1] = min(here[i - 1], cost | _DOWN)
                    low = min(low, i - 1)
            if same or not (planes[at + 2] >> bit) & uint64(1):
                before[i - 1] = min(before[i - 1], cost + (0 if same else 4) | _DIAGONAL)
                next_low, next_high = i - 1, max(next_high, i - 1)
            i -= 1
        side, low, high = 1 - side, next_low, next_high
        c -= 1
    return side, low, high


@compiled(int64(_INTS, int64))
def finish(cells: IntArray, high: int) -> Any:
    """Complete column 0, where only deletions lead down, and return the substitutions from its first cell."""
    for i in range(high, 0, -1):
        if cells[i] != UNSEEN:
            cells[i - 1] = min(cells[i - 1], (cells[i] & _NO_STEP) | _DOWN)
    return cells[0] >> 2


@compiled(
    types.UniTuple(int64, 3)(
        _SYMBOLS, _SYMBOLS, int64, int64, int64, _INTS, _BYTES, int64, int64, int64, int64, _OPERATIONS
    )
)
def walk(
    ref: TokenArray,
    hyp: TokenArray,
    first: int,
    last: int,
    up: int,
    start: IntArray,
    steps: npt.NDArray[np.uint8],
    stride: int,
    i: int,
    j: int,
    written: int,
    operations: Operations,
) -> Any:
    """Follow the best steps from cell (i, j) until column `last` is left or the end is reached.

    `start` has the values of column 0. Returns i, j and the number of operations written.
    """
    top_row = (max(0, first - up) >> 6) << 6
    while j <= last and (i < len(ref) or j < len(hyp)):
        step = start[i] & 3 if j == 0 else int64(steps[(j - first - 1) * stride + i - top_row])
        if step == _DIAGONAL:
            operations[written] = _MATCH if ref[i] == hyp[j] else _SUBSTITUTION
            i += 1
            j += 1
        elif step == _DOWN:
            operations[written] = _DELETION
            i += 1
        else:
            operations[written] = _INSERTION
            j += 1
        written += 1
    return i, j, written


@compiled(types.void(_SYMBOLS, _SYMBOLS, int64, _BITS, _OPERATIONS))
def trace_rapidfuzz(
    ref: TokenArray, hyp: TokenArray, up: int, planes: BitArray, operations: Operations
) -> None:
    """Write rapidfuzz's path through a pair of one tile to the end of `operations`."""
    i, j = int64(len(ref)), int64(len(hyp))
    columns, at_end = j, len(operations)
    top_block = max(0, -up) >> 6
    while i > 0 or j > 0:
        at_end -= 1
        deleted = j == 0
        inserted = i == 0
        if i > 0 and j > 0:
            bit = uint64((i - 1) & 63)
            at = ((((i - 1) >> 6) - top_block) * columns + j - 1) * 3
            deleted = (planes[at] >> bit) & uint64(1) != 0
            inserted = not deleted and (planes[at + 1] & planes[at + 2]) >> bit & uint64(1) != 0
        if deleted:
            operations[at_end] = _DELETION
            i -= 1
        elif inserted:
            operations[at_end] = _INSERTION
            j -= 1
        else:
            i -= 1
            j -= 1
            operations[at_end] = _MATCH if ref[i] == hyp[j] else _SUBSTITUTION


@internal
def _first_limit(rows: int, columns: int) -> Any:
    """Return the errors to admit at first: all of them where a band would save little."""
    longest = max(rows, columns)
    return rows + columns if rows <= 256 else min(longest, max(abs(rows - columns), longest >> 4, 64))


@internal
def _next_limit(rows: int, columns: int, limit: int) -> Any:
    return min(max(rows, columns), 4 * limit)


@compiled(
    types.void(
        _TOKENS,
        _OFFSETS,
        _TOKENS,
        _OFFSETS,
        int64,
        int64,
        int64,
        _MASKS,
        types.boolean,
        _INTS,
        _OFFSETS,
        _OPERATIONS,
    )
)
def align_range(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    start: int,
    stop: int,
    what: int,
    masks: BitArray,
    numbered: bool,
    packed: IntArray,
    slots: IntArray,
    operations: Operations,
) -> None:
    """Write `errors << 32 | substitutions` of the pairs from `start` to `stop`, or TOO_LONG, to `packed`.

    Pairs that are not OPEN there have been counted already and are left alone. `masks` is zero, with a row
    for each token where all tokens are `numbered` from 0, else one more than the longest reference has
    tokens. DISTANCE leaves the substitutions 0. The paths also write their operations into each pair's slot
    of `operations`, `slots[pair]` to `slots[pair + 1]`, which has room for all its tokens.
    """
    most_rows, most_columns, most_planes, most_steps = int64(1), int64(1), int64(1), int64(1)
    for pair in range(start, stop):
        if packed[pair] != OPEN:
            continue
        rows = ref_offsets[pair + 1] - ref_offsets[pair]
        columns = hyp_offsets[pair + 1] - hyp_offsets[pair]
        most_rows, most_columns = max(most_rows, rows), max(most_columns, columns)
        if rows * columns <= LONG_PAIR:
            most_planes = max(most_planes, ((rows + 63) >> 6) * columns * 3)
            most_steps = max(most_steps, (rows + 1) * columns)
    capacity = 2
    while capacity < 2 * most_rows and not numbered:
        capacity *= 2
    keys, numbers = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    ref_scratch, hyp_scratch = np.empty(most_rows, np.int32), np.empty(most_columns, np.int32)
    carry = np.empty(most_columns, np.uint8)
    blocks = (most_rows + 63) >> 6
    plus, minus, bottom = np.empty(blocks, np.uint64), np.empty(blocks, np.uint64), np.empty(blocks, np.int64)
    planes = np.empty(1 if what == DISTANCE else most_planes, np.uint64)
    steps = np.empty(most_steps if what == CANONICAL_PATH else 1, np.uint8)
    cells = np.full((2, most_rows + 1), UNSEEN, np.int64)
    for pair in range(start, stop):
        if packed[pair] != OPEN:
            continue
        ref = ref_flat[ref_offsets[pair] : ref_offsets[pair + 1]]
        hyp = hyp_flat[hyp_offsets[pair] : hyp_offsets[pair + 1]]
        path = operations[slots[pair] : slots[pair + 1]] if what >= CANONICAL_PATH else operations[:0]
        ref_stop, hyp_stop, head = len(ref), len(hyp), 0
        while head < ref_stop and head < hyp_stop and ref[head] == hyp[head]:
            head += 1
        if what != CANONICAL_PATH:  # matching the ends first could make another path
            while ref_stop > head and hyp_stop > head and ref[ref_stop - 1] == hyp[hyp_stop - 1]:
                ref_stop -= 1
                hyp_stop -= 1
        tail = len(ref) - ref_stop
        rows, columns = ref_stop - head, hyp_stop - head
        if rows * columns > LONG_PAIR:
            packed[pair] = TOO_LONG
            continue
        if what >= CANONICAL_PATH:
            path[:head] = _MATCH
            path[len(path) - tail :] = _MATCH
            path = path[head : len(path) - tail]
        if rows == 0 or columns == 0:
            packed[pair] = (rows + columns) << 32
            if what >= CANONICAL_PATH:
                path[:rows] = _DELETION
                path[rows : rows + columns] = _INSERTION
            continue
        ref_symbols, hyp_symbols = ref_scratch[:rows], hyp_scratch[:columns]
        if numbered:
            ref_symbols[:] = ref[head:ref_stop]
            hyp_symbols[:] = hyp[head:hyp_stop]
        else:
            number_symbols(ref[head:ref_stop], hyp[head:hyp_stop], ref_symbols, hyp_symbols, keys, numbers)
        limit = _first_limit(rows, columns)
        while True:
            down, up = (limit + rows - columns) >> 1, (limit - rows + columns) >> 1
            forward(
                ref_symbols, hyp_symbols, 0, columns, down, up, masks, carry, plus, minus, bottom, planes,
                what != DISTANCE,
            )  # fmt: skip
            errors = bottom[(rows - 1) >> 6]
            if errors <= limit:
                break
            limit = _next_limit(rows, columns, limit)
        substitutions = int64(0)
        if what == RAPIDFUZZ_PATH:
            trace_rapidfuzz(ref_symbols, hyp_symbols, up, planes, path)
            for operation in path:
                substitutions += operation == _SUBSTITUTION
        elif what == CANONICAL_PATH or (what == CANONICAL and errors > abs(rows - columns)):
            cells[0, rows] = 0
            stride = rows + 1 if what == CANONICAL_PATH else int64(0)
            side, _, high = explore(
                ref_symbols,
                hyp_symbols,
                0,
                columns,
                up,
                planes,
                cells,
                0,
                rows,
                rows,
                what == CANONICAL,
                steps,
                stride,
            )
            substitutions = finish(cells[side], high)
            if what == CANONICAL_PATH:
                walk(ref_symbols, hyp_symbols, 0, columns, up, cells[side], steps, stride, 0, 0, 0, path)
            cells[side, : high + 1] = UNSEEN
        packed[pair] = errors << 32 | substitutions
