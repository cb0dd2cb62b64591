"""Resampling of units of which many are alike: one number per distinct row in place of one draw per unit.

How often each of G units is drawn in G draws is multinomial. Independent Poisson counts, given their sum N,
are multinomial too (Johnson, Kotz and Balakrishnan 1997, chapter 35), so that a sample is made of

* a Poisson count for each *common* row, with mean rate * (units that have it), where
  rate = 1 - 2**-gap_bits, and one for all other units together, which says how many draws fall among them;
* where these add up to N > G, all of them once more, which conditions on N alone (about once in 100,000);
* a uniform draw among the other units for each of their count;
* G - N draws among all units.

No logarithm, exponential or other rounded function takes part: a Poisson count is looked up in a table of
cumulative probabilities in units of 2**-64, made with Python's integers. The same seed gives the same sums
on every machine.

The words are those of `resampling`: count i takes word i. After the P counts the draws among the other units
take two halves of a word each time, then the draws among all units, which begin with a word of their own.
Where all counts are made once more, mix(key) replaces the key.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from misheard_kernels.resampling_packing import (
    WORD_BITS,
    IntArray,
    PackedColumns,
    WordArray,
    pack_columns,
    value_bits,
)

MIN_UNITS = 2**14
"""With fewer units a draw per unit takes no time worth saving."""

COMMON = 8
"""Units that share a row, from which it gets a count of its own."""

LARGEST_MEAN = 1024
GUIDE_BITS = 10
_SIGNIFICANT_BITS = 3
_EXACT_MEAN = 32
_COUNT_COST = 5
"""What a Poisson count costs, in draws. Measured."""

_FIXED_POINT = 128
_NEGLIGIBLE_BITS = 72


@dataclass(frozen=True, slots=True)
class PoissonTables:
    """Cumulative distributions of Poisson counts, laid end to end, with a guide into each.

    A word w stands for the count k - zero[t], where k is the first place from `guide[t, w >> 54]` on with
    w <= bounds[k].

    Attributes:
        bounds: uint64[...], see `poisson_bounds`; the last one of each table is 2**64 - 1.
        zero: int64[T], the place that stands for the count 0; it may lie before the table.
        guide: int32[T, 2**GUIDE_BITS], the first place with cell << 54 <= bounds[place].
    """

    bounds: WordArray
    zero: IntArray
    guide: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Groups:
    """Units in groups: the others first, then the common rows, each in ascending order of their rows.

    Attributes:
        rows: int64[K, H], the common rows, a column after the other.
        others: how many units have no common row.
        units: the rows of all G units in this order, packed.
        part_group: int64[P], the group that each Poisson count adds to; H for the other units.
        part_table: int64[P], the table that it is looked up in.
        tables: of the means that occur.
    """

    rows: IntArray
    others: int
    units: PackedColumns
    part_group: IntArray
    part_table: IntArray
    tables: PoissonTables


def group_units(values: IntArray) -> Groups | None:
    """Return the groups of non-negative int64[G, K], or None where a draw per unit is about as quick.

    Which it is depends on the rows alone, in whatever order they come.
    """
    bits = value_bits(values)
    if len(values) < MIN_UNITS or sum(bits) > WORD_BITS:
        return None
    rows, counts = _distinct_rows(values, bits)
    common = counts >= COMMON
    others = int(counts[~common].sum())
    gap_bits = _gap_bits(len(values))
    parts = [(group, mean) for group, count in enumerate(counts[common]) for mean in _parts(int(count))]
    parts += [(int(common.sum()), mean) for mean in _parts(others)]
    if _COUNT_COST * len(parts) + others + (len(values) >> gap_bits) > len(values) // 2:
        return None
    parts.sort(key=itemgetter(1))  # a table stays in the processor's cache while it is in use
    means = sorted({mean for _, mean in parts})
    table = {mean: number for number, mean in enumerate(means)}
    order = np.argsort(common, kind="stable")
    return Groups(
        rows=np.ascontiguousarray(rows[common].T),
        others=others,
        units=pack_columns(np.repeat(rows[order], counts[order], axis=0)),
        part_group=np.array([group for group, _ in parts], dtype=np.int64),
        part_table=np.array([table[mean] for _, mean in parts], dtype=np.int64),
        tables=_lay_out(means, gap_bits),
    )


def _distinct_rows(values: IntArray, bits: list[int]) -> tuple[IntArray, npt.NDArray[np.intp]]:
    """Return the distinct rows of non-negative int64[G, K] in lexicographic order, and how many have each."""
    keys = np.zeros(len(values), dtype=np.uint64)
    for column, width in enumerate(bits):
        keys = (keys << np.uint64(width)) | values[:, column].astype(np.uint64)
    distinct, counts = np.unique(keys, return_counts=True)
    rows = np.empty((len(distinct), len(bits)), dtype=np.int64)
    for column in reversed(range(len(bits))):
        rows[:, column] = distinct & np.uint64((1 << bits[column]) - 1)
        distinct = distinct >> np.uint64(bits[column])
    return rows, counts


def _gap_bits(units: int) -> int:
    """Return the largest gap_bits that leaves four standard deviations of N between its mean and G."""
    gap_bits = 1
    while (8 << gap_bits) ** 2 <= units:
        gap_bits += 1
    return gap_bits


def _parts(count: int) -> list[int]:
    """Return numbers of few significant bits that add up to `count`: few tables serve all of them."""
    parts = [LARGEST_MEAN] * (count // LARGEST_MEAN)
    rest = count % LARGEST_MEAN
    while rest:
        low = 0 if rest <= _EXACT_MEAN else rest.bit_length() - _SIGNIFICANT_BITS
        parts.append(rest >> low << low)
        rest -= parts[-1]
    return parts


def _lay_out(means: list[int], gap_bits: int) -> PoissonTables:
    tables = [poisson_bounds(mean * ((1 << gap_bits) - 1), gap_bits) for mean in means]
    starts = np.cumsum([0, *(len(bounds) for _, bounds in tables[:-1])])
    cells = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(WORD_BITS - GUIDE_BITS)
    return PoissonTables(
        bounds=np.concatenate([bounds for _, bounds in tables]),
        zero=np.array([start - first for start, (first, _) in zip(starts, tables, strict=True)], np.int64),
        guide=np.stack(
            [
                start + np.searchsorted(bounds, cells)
                for start, (_, bounds) in zip(starts, tables, strict=True)
            ]
        ).astype(np.int32),
    )


@lru_cache(maxsize=256)
def poisson_bounds(numerator: int, gap_bits: int) -> tuple[int, WordArray]:
    """Return the cumulative distribution of X, Poisson with mean numerator / 2**gap_bits.

    Weights relative to the mode, P(k + 1) / P(k) = mean / (k + 1), are summed in fixed point and divided by
    their sum, so that e**-mean is never needed. What lies beyond 2**-72 of the mode is left out.

    Returns:
        The smallest count k with P(X <= k) >= 2**-64, and from there on 2**64 * P(X <= k) - 1, rounded down,
        as uint64.
    """
    mode = numerator >> gap_bits
    negligible = 1 << _FIXED_POINT - _NEGLIGIBLE_BITS
    above = [1 << _FIXED_POINT]
    while above[-1] > negligible:
        above.append(above[-1] * numerator // (mode + len(above) << gap_bits))
    below: list[int] = []
    last, count = above[0], mode
    while count > 0 and last > negligible:
        last = last * (count << gap_bits) // numerator
        below.append(last)
        count -= 1
    weights = below[::-1] + above
    total = sum(weights)
    cumulative = [(weight << WORD_BITS) // total for weight in accumulate(weights)]
    skipped = sum(value == 0 for value in cumulative)
    return count + skipped, np.array([value - 1 for value in cumulative[skipped:]], dtype=np.uint64)
