"""Pairs too long for one tile: distance, counts and alignments in memory that grows with the length alone.

A first pass finds the distance and keeps the state at the start of every tile. The second goes back over the
tiles, works each out again in the narrow band that the distance allows, and finds the substitutions. For a
path, a third pass does so once more, forward, and follows the best steps. Importing this module imports
numba.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard_kernels import bit_parallel
from misheard_kernels.bit_parallel import BitArray, IntArray, Operations, TokenArray
from misheard_kernels.conventions import DELETION, INSERTION, MATCH, RAPIDFUZZ_SPLIT_BYTES

TILE_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class _State:
    """The blocks at one column: see `bit_parallel.forward`."""

    plus: BitArray
    minus: BitArray
    bottom: IntArray

    @classmethod
    def of(cls, blocks: int) -> "_State":
        return cls(np.empty(blocks, np.uint64), np.empty(blocks, np.uint64), np.empty(blocks, np.int64))

    def copy(self) -> "_State":
        return _State(self.plus.copy(), self.minus.copy(), self.bottom.copy())


class _Pair:
    """One pair without its common ends, as symbols, and the scratch memory of a tile."""

    def __init__(self, ref: TokenArray, hyp: TokenArray) -> None:
        capacity = 2
        while capacity < 2 * len(ref):
            capacity *= 2
        self.ref = np.empty(len(ref), np.int32)
        self.hyp = np.empty(len(hyp), np.int32)
        keys, slots = np.empty((2, capacity), np.int32)
        symbols = bit_parallel.number_symbols(ref, hyp, self.ref, self.hyp, keys, slots)
        self.masks = np.zeros((symbols + 1, 2), np.uint64)
        self.rows, self.columns = len(ref), len(hyp)
        # tiles much narrower than the root of the columns would take more memory for states than for cells
        self.width = min(self.columns, max(64, math.isqrt(self.columns), TILE_CELLS // (self.rows + 1)))
        self.carry = np.empty(self.width, np.uint8)
        self.nothing = np.empty(1, np.uint64)
        self.starts = range(0, self.columns, self.width)
        self.limit = 0
        self.states: list[_State] = []

    @property
    def band(self) -> tuple[int, int]:
        surplus = self.rows - self.columns
        return (self.limit + surplus) >> 1, (self.limit - surplus) >> 1

    def run(self, first: int, state: _State, planes: BitArray | None = None) -> int:
        """Work out the tile after column `first`, change the state, and return the tile's last column."""
        last = min(self.columns, first + self.width)
        bit_parallel.forward(
            self.ref, self.hyp, first, last, *self.band, self.masks, self.carry, state.plus, state.minus,
            state.bottom, self.nothing if planes is None else planes, planes is not None,
        )  # fmt: skip
        return last

    def find_distance(self) -> int:
        """Find the distance, keep each tile's first state, and narrow the band to what it allows."""
        longest = max(self.rows, self.columns)
        self.limit = max(abs(self.rows - self.columns), longest >> 4, 1)
        while True:
            state = _State.of((self.rows + 63) >> 6)
            self.states = []
            for first in self.starts:
                self.states.append(state.copy())
                self.run(first, state)
            errors = int(state.bottom[-1])
            if errors <= self.limit:
                self.limit = errors
                return errors
            self.limit = min(longest, 4 * self.limit)

    def span(self) -> int:
        """Return the most blocks that the band covers in a tile."""
        down, up = self.band
        return min((self.rows + 63) >> 6, (self.width + down + up) // 64 + 2)


def long_counts(ref: TokenArray, hyp: TokenArray) -> tuple[int, int]:
    """Return the distance and the canonical substitutions of a pair."""
    head, tail = common_ends(ref, hyp)
    pair = _Pair(ref[head : len(ref) - tail], hyp[head : len(hyp) - tail])
    errors = pair.find_distance()
    return errors, _go_back(pair, prune=True)[0]


def long_distance(ref: TokenArray, hyp: TokenArray) -> int:
    """Return the distance of a pair."""
    head, tail = common_ends(ref, hyp)
    return _Pair(ref[head : len(ref) - tail], hyp[head : len(hyp) - tail]).find_distance()


def long_path(ref: TokenArray, hyp: TokenArray) -> Operations:
    """Return the operations of the canonical alignment of a pair."""
    head, _ = common_ends(ref, hyp)
    pair = _Pair(ref[head:], hyp[head:])
    pair.find_distance()
    _, start, borders = _go_back(pair, prune=False)
    operations = np.empty(pair.rows + pair.columns, np.int8)
    span = pair.span()
    planes = np.empty(span * pair.width * 3, np.uint64)
    stride = 64 * span + 1
    steps = np.empty(pair.width * stride, np.uint8)
    i = j = written = 0
    cells = np.full((2, pair.rows + 1), bit_parallel.UNSEEN, np.int64)
    for first, state, (low, values) in zip(pair.starts, pair.states, borders, strict=True):
        last = pair.run(first, state, planes)
        up = pair.band[1]
        cells[0, low : low + len(values)] = values
        side, low, high = bit_parallel.explore(
            pair.ref,
            pair.hyp,
            first,
            last,
            up,
            planes,
            cells,
            0,
            low,
            low + len(values) - 1,
            False,
            steps,
            stride,
        )
        cells[side, low : high + 1] = bit_parallel.UNSEEN
        i, j, written = bit_parallel.walk(
            pair.ref, pair.hyp, first, last, up, start, steps, stride, i, j, written, operations
        )
    return np.concatenate([np.full(head, MATCH, np.int8), operations[:written]])


def _go_back(pair: _Pair, *, prune: bool) -> tuple[int, IntArray, list[tuple[int, IntArray]]]:
    """Return the substitutions, the values of column 0, and those of each tile's last column."""
    planes = np.empty(pair.span() * pair.width * 3, np.uint64)
    cells = np.full((2, pair.rows + 1), bit_parallel.UNSEEN, np.int64)
    cells[0, pair.rows] = 0
    side, low, high = 0, pair.rows, pair.rows
    borders: list[tuple[int, IntArray]] = []
    no_steps = np.empty(1, np.uint8)
    for first, state in zip(reversed(pair.starts), reversed(pair.states), strict=True):
        borders.append((low, cells[side, low : high + 1].copy()))
        last = pair.run(first, state.copy(), planes)
        side, low, high = bit_parallel.explore(
            pair.ref, pair.hyp, first, last, pair.band[1], planes, cells, side, low, high, prune, no_steps, 0
        )
    substitutions = int(bit_parallel.finish(cells[side], high))
    return substitutions, cells[side], borders[::-1]


def rapidfuzz_path(ref: TokenArray, hyp: TokenArray) -> Operations:
    """Return the operations of rapidfuzz's alignment, which divides long pairs as Hirschberg did."""
    parts: list[Operations] = []
    # a stack, because a pair that is divided unevenly could nest deeper than Python does
    waiting: list[tuple[TokenArray, TokenArray, int] | int] = [(ref, hyp, max(len(ref), len(hyp)))]
    while waiting:
        task = waiting.pop()
        if isinstance(task, int):
            parts.append(np.full(task, MATCH, np.int8))
            continue
        ref, hyp, limit = task
        head, tail = common_ends(ref, hyp)
        ref, hyp = ref[head : len(ref) - tail], hyp[head : len(hyp) - tail]
        limit = min(limit, max(len(ref), len(hyp)))
        parts.append(np.full(head, MATCH, np.int8))
        waiting.append(tail)
        matrix_bytes = 2 * min(len(ref), 2 * limit + 1) * len(hyp) // 8
        if matrix_bytes < RAPIDFUZZ_SPLIT_BYTES or len(ref) < 65 or len(hyp) < 10:
            parts.append(_undivided_path(ref, hyp))
            continue
        middle = len(hyp) // 2
        before = _last_column(ref, hyp[:middle])
        after = _last_column(ref[::-1].copy(), hyp[middle:][::-1].copy())[::-1]
        cut = int(np.argmin(before + after))
        waiting.append((ref[cut:], hyp[middle:], int(after[cut])))
        waiting.append((ref[:cut], hyp[:middle], int(before[cut])))
    return np.concatenate(parts)


def _undivided_path(ref: TokenArray, hyp: TokenArray) -> Operations:
    operations = np.full(len(ref) + len(hyp), -1, np.int8)
    if len(ref) == 0 or len(hyp) == 0:
        operations[:] = DELETION if len(ref) else INSERTION
        return operations
    pair = _Pair(ref, hyp)
    pair.limit = max(len(ref), len(hyp))
    pair.width = len(hyp)
    pair.carry = np.empty(len(hyp), np.uint8)
    blocks = (len(ref) + 63) >> 6
    planes = np.empty(blocks * len(hyp) * 3, np.uint64)
    pair.run(0, _State.of(blocks), planes)
    bit_parallel.trace_rapidfuzz(pair.ref, pair.hyp, pair.band[1], planes, operations)
    return operations[operations >= 0]


def _last_column(ref: TokenArray, hyp: TokenArray) -> IntArray:
    """Return the distances of all starts of `ref`, the empty one first, from the whole of `hyp`."""
    pair = _Pair(ref, hyp)
    pair.limit = pair.rows + pair.columns
    state = _State.of((pair.rows + 63) >> 6)
    for first in pair.starts:
        pair.run(first, state)
    column = np.empty(pair.rows + 1, np.int64)
    column[0] = pair.columns
    column[1:] = _bits(state.plus, pair.rows).astype(np.int64) - _bits(state.minus, pair.rows)
    return np.cumsum(column, out=column)


def _bits(blocks: BitArray, count: int) -> npt.NDArray[np.uint8]:
    return np.unpackbits(blocks.astype("<u8").view(np.uint8), count=count, bitorder="little")


def common_ends(ref: TokenArray, hyp: TokenArray) -> tuple[int, int]:
    """Return the lengths of the common start and, in what is left, of the common end."""
    shorter = min(len(ref), len(hyp))
    head = _agreeing(ref[:shorter], hyp[:shorter])
    left = shorter - head
    return head, _agreeing(ref[len(ref) - left :][::-1], hyp[len(hyp) - left :][::-1])


def _agreeing(left: TokenArray, right: TokenArray) -> int:
    differ = left != right
    return int(np.argmax(differ)) if differ.any() else len(differ)
