"""The compiled loops behind `misheard_kernels.resampling.resample_sums`; importing them imports numba.

Each resample is a function of its number alone, so that the resamples can be shared out over Python threads,
which the compiled code leaves running.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint64, void

from misheard_kernels.compilation import compiled, internal
from misheard_kernels.resampling import GOLDEN, MASK_32, MIX_1, MIX_2
from misheard_kernels.resampling_groups import GUIDE_BITS, Groups
from misheard_kernels.resampling_packing import WORD_BITS, FloatArray, IntArray, PackedColumns, WordArray

# typed here, because numba turns a mix of signed and unsigned 64-bit integers into float64
_GOLDEN = uint64(GOLDEN)
_MIX_1 = uint64(MIX_1)
_MIX_2 = uint64(MIX_2)
_MASK_32 = uint64(MASK_32)


def _array(kind: Any, dimensions: int) -> Any:
    # read-only, because such a signature takes arrays of both kinds
    return types.Array(kind, dimensions, "C", readonly=True)


_PACKED = (
    _array(types.uint64, 2),
    _array(types.int64, 1),
    _array(types.uint64, 1),
    _array(types.uint64, 1),
    types.int64,
)
_GROUPS = (
    _array(types.int64, 2),
    types.int64,
    _array(types.int64, 1),
    _array(types.int64, 1),
    _array(types.uint64, 1),
    _array(types.int64, 1),
    _array(types.int32, 2),
    types.uint64,
)
_SUMS = types.Array(types.int64, 2, "C")
_FRACTIONAL_SUMS = types.Array(types.float64, 2, "C")

_SMALL_WORK = 16_000_000
"""Draws times words that one thread gets done before others have started."""


def unit_sums(
    packed: PackedColumns, fractional: FloatArray, resamples: int, seed: int, threads: int | None = None
) -> tuple[IntArray, FloatArray]:
    """Return what `misheard_kernels.resampling.unit_sums_numpy` returns.

    Args:
        packed: the integer columns.
        fractional: float64[G, F], C-contiguous.
        resamples: how many.
        seed: of the draws.
        threads: how many to use; None for one per processor that this process may run on.
    """
    units, columns = fractional.shape
    whole = np.zeros((resamples, len(packed.word)), dtype=np.int64)
    sums = np.zeros((resamples, columns))

    def fill(start: int, stop: int) -> None:
        if len(packed.word):
            _fill_whole(*_arguments(packed), np.uint64(seed), start, stop, whole)
        if columns:
            _fill_fractional(fractional, np.uint64(seed), start, stop, sums)

    work = resamples * units * (1 + len(packed.words) + columns)
    _share_out(fill, resamples, threads, work)
    return whole, sums


def group_sums(groups: Groups, resamples: int, seed: int, threads: int | None = None) -> IntArray:
    """Return the sums of the rows of `groups` over R samples of all units: int64[R, K].

    Args:
        groups: the units.
        resamples: how many.
        seed: of the draws.
        threads: how many to use; None for one per processor that this process may run on.
    """
    sums = np.zeros((resamples, len(groups.rows)), dtype=np.int64)
    tables = groups.tables
    shift = np.uint64(WORD_BITS - GUIDE_BITS)

    def fill(start: int, stop: int) -> None:
        _fill_groups(
            *_arguments(groups.units), groups.rows, groups.others, groups.part_group, groups.part_table,
            tables.bounds, tables.zero, tables.guide, shift, np.uint64(seed), start, stop, sums,
        )  # fmt: skip

    _share_out(fill, resamples, threads, resamples * (groups.others + 4 * len(groups.part_group)))
    return sums


def _arguments(packed: PackedColumns) -> tuple[WordArray, IntArray, WordArray, WordArray, int]:
    return packed.words, packed.word, packed.shift, packed.mask, packed.block


def _share_out(fill: Callable[[int, int], None], resamples: int, threads: int | None, work: int) -> None:
    workers = threads or (1 if work <= _SMALL_WORK else _available_processors())
    if workers == 1:
        fill(0, resamples)
        return
    bounds = np.linspace(0, resamples, workers + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, bounds[:-1], bounds[1:]))


def _available_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@internal
def _mix(word: Any) -> Any:
    word = (word ^ (word >> uint64(30))) * _MIX_1
    word = (word ^ (word >> uint64(27))) * _MIX_2
    return word ^ (word >> uint64(31))


@internal
def _key(seed: Any, resample: int) -> Any:
    return _mix(_mix(seed + _GOLDEN) + uint64(resample + 1) * _GOLDEN)


@internal
def _add_draws(
    words: WordArray,
    word: IntArray,
    shift: WordArray,
    mask: WordArray,
    buffer: WordArray,
    key: Any,
    bound: int,
    draws: int,
    out: IntArray,
    resample: int,
) -> None:
    """Add the rows of `draws` draws among the first `bound` units, as many at a time as `buffer` has halves.

    Slices of arrays would be counted as references, which costs more than adding up a few rows.
    """
    limit = uint64(bound)
    half = uint64(32)
    for first in range(0, draws, 2 * buffer.size):
        count = min(2 * buffer.size, draws - first)
        pairs = count >> 1
        base = key + uint64(first >> 1) * _GOLDEN
        for pair in range(pairs + (count & 1)):
            buffer[pair] = _mix(base + uint64(pair + 1) * _GOLDEN)
        column = 0
        for plane in range(words.shape[0]):
            total = uint64(0)
            for pair in range(pairs):
                drawn = buffer[pair]
                total += (
                    words[plane, ((drawn & _MASK_32) * limit) >> half]
                    + words[plane, ((drawn >> half) * limit) >> half]
                )
            if count & 1:
                total += words[plane, ((buffer[pairs] & _MASK_32) * limit) >> half]
            while column < word.size and word[column] == plane:
                out[resample, column] += int64((total >> shift[column]) & mask[column])
                column += 1


@compiled(void(*_PACKED, uint64, int64, int64, _SUMS))
def _fill_whole(
    words: WordArray,
    word: IntArray,
    shift: WordArray,
    mask: WordArray,
    block: int,
    seed: Any,
    start: int,
    stop: int,
    out: IntArray,
) -> None:
    buffer = np.empty(block >> 1, dtype=np.uint64)
    units = words.shape[1]
    for resample in range(start, stop):
        _add_draws(words, word, shift, mask, buffer, _key(seed, resample), units, units, out, resample)


@compiled(void(_array(types.float64, 2), uint64, int64, int64, _FRACTIONAL_SUMS))
def _fill_fractional(totals: FloatArray, seed: Any, start: int, stop: int, out: FloatArray) -> None:
    units, columns = totals.shape
    for resample in range(start, stop):
        state = _key(seed, resample)
        word = uint64(0)
        for draw in range(units):
            if draw % 2 == 0:
                state += _GOLDEN
                word = _mix(state)
                half = word & _MASK_32
            else:
                half = word >> uint64(32)
            unit = (half * uint64(units)) >> uint64(32)
            for column in range(columns):
                out[resample, column] += totals[unit, column]


@compiled(void(*_PACKED, *_GROUPS, uint64, int64, int64, _SUMS))
def _fill_groups(
    words: WordArray,
    word: IntArray,
    shift: WordArray,
    mask: WordArray,
    block: int,
    rows: IntArray,
    others: int,
    part_group: IntArray,
    part_table: IntArray,
    bounds: WordArray,
    zero: IntArray,
    guide: npt.NDArray[np.int32],
    guide_shift: Any,
    seed: Any,
    start: int,
    stop: int,
    out: IntArray,
) -> None:
    buffer = np.empty(block >> 1, dtype=np.uint64)
    units = words.shape[1]
    parts = part_group.size
    columns, common = rows.shape
    counts = np.empty(common + 1, dtype=np.int64)
    part_words = np.empty(parts, dtype=np.uint64)
    for resample in range(start, stop):
        key = _key(seed, resample)
        while True:
            counts[:] = 0
            total = 0
            for part in range(parts):
                part_words[part] = _mix(key + uint64(part + 1) * _GOLDEN)
            for part in range(parts):
                drawn = part_words[part]
                table = part_table[part]
                place = int64(guide[table, drawn >> guide_shift])
                while drawn > bounds[place]:
                    place += 1
                count = place - zero[table]
                counts[part_group[part]] += count
                total += count
            if total <= units:
                break
            key = _mix(key)
        for column in range(columns):
            drawn_sum = 0
            for group in range(common):
                drawn_sum += counts[group] * rows[column, group]
            out[resample, column] = drawn_sum
        key += uint64(parts) * _GOLDEN
        _add_draws(words, word, shift, mask, buffer, key, others, int64(counts[common]), out, resample)
        key += uint64((counts[common] + 1) >> 1) * _GOLDEN
        _add_draws(words, word, shift, mask, buffer, key, units, units - total, out, resample)
