"""Comparison of two systems, paired by item, over identical suites."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.stats.estimates import family_arms, family_failures
from misheard.stats.pairing import check_same_items, reorder
from misheard.stats.resampling import (
    RESAMPLES,
    SEED,
    Intervals,
    Sample,
    Statistic,
    draw_samples,
    estimate_intervals,
)
from misheard.stats.slices import items_sha256, slice_items, unit_numbers, used_axes
from misheard.stats.verdict import Verdict, decide


@dataclass(frozen=True, slots=True)
class Unpaired:
    """The items that one side counts, or both lost, and that are therefore in no pair, by the reason.

    Attributes:
        a_failed: B counts them, A failed.
        b_failed: A counts them, B failed.
        both_failed: both failed; whether the rate would have applied to them is not known.
        not_counted: one side counts them and the other does not, without having failed.
    """

    a_failed: int
    b_failed: int
    both_failed: int
    not_counted: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One rate in one arm, over the pairs that both systems have.

    Attributes:
        family, metric, arm, better: which rate it is, and which direction is an improvement.
        n: pairs; items that count on both sides.
        units: resampling units among them.
        failed_a, failed_b: items that failed on either side, in the arm or the one it is compared with.
        unpaired: items outside the pairs.
        a, b: the rate of each system over the pairs; None where undefined.
        difference: b - a; None where either is undefined.
        intervals: of the difference; None without pairs.
        verdict: see `decide`.
    """

    family: str
    metric: str
    arm: Arm
    better: Literal["lower", "higher"] | None
    n: int
    units: int
    failed_a: int
    failed_b: int
    unpaired: Unpaired
    a: float | None
    b: float | None
    difference: float | None
    intervals: Intervals | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """The differences over the items of one condition cell; see `misheard.stats.slices.items_sha256`."""

    axis: str
    value: str | None
    items: int
    items_sha256: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """System B against system A.

    Attributes:
        items, units: of the suite that both ran over.
        without_session: items that are a unit of their own.
        resamples, seed: of the bootstrap.
        differences: over all pairs.
        slices: over the pairs of each condition cell.
        not_compared: families and arms that only one side has.
    """

    items: int
    units: int
    without_session: int
    resamples: int
    seed: int
    differences: tuple[Difference, ...]
    slices: tuple[SliceComparison, ...]
    not_compared: tuple[tuple[str, Arm], ...]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The counts of one family and arm on both sides, side by side: float64[n, 2K]."""

    family: Family
    arm: Arm
    values: FloatArray
    present_a: BoolArray
    present_b: BoolArray
    failed_a: BoolArray
    failed_b: BoolArray

    @classmethod
    def of(
        cls, family: Family, arm: Arm, counts: tuple[Counts, Counts], failed: tuple[BoolArray, BoolArray]
    ) -> "_Pairs":
        a, b = counts
        values = np.concatenate([a.values, b.values], axis=1)
        return cls(family, arm, values, a.present, b.present, *failed)

    @property
    def present(self) -> BoolArray:
        """Which items are pairs: bool[n]."""
        return self.present_a & self.present_b

    def unpaired(self, rows: BoolArray) -> Unpaired:
        """Return how many of some items, bool[n], are in no pair, and why."""
        only_a = rows & self.present_a & ~self.present_b
        only_b = rows & self.present_b & ~self.present_a
        neither = rows & ~self.present_a & ~self.present_b
        return Unpaired(
            a_failed=int(np.count_nonzero(only_b & self.failed_a)),
            b_failed=int(np.count_nonzero(only_a & self.failed_b)),
            both_failed=int(np.count_nonzero(neither & self.failed_a & self.failed_b)),
            not_counted=int(np.count_nonzero((only_a & ~self.failed_b) | (only_b & ~self.failed_a))),
        )

    def same_on_every_pair(self, rate: Rate, rows: BoolArray) -> bool:
        """Whether no pair among some items, bool[n], differs in a rate; undefined equals undefined."""
        columns = len(self.family.columns)
        values = self.values[self.present & rows]
        a, b = rate.compute(values[:, :columns]), rate.compute(values[:, columns:])
        return bool(np.array_equal(a, b, equal_nan=True))


def compare_tables(
    a: CountTable,
    b: CountTable,
    families: Sequence[Family],
    *,
    axes: Mapping[str, Sequence[str]] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Return every difference rate(B) - rate(A), paired by item id, over the suite and per condition cell.

    Both tables must come from the same scorer; the caller sees to that.

    Args:
        a: the counts of system A.
        b: the counts of system B.
        families: the metric families, as both were scored.
        axes: the declared values of each condition axis; without them, the values that the items use.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Raises NotComparableError where the items differ, naming them.
    """
    check_same_items(a.items, b.items)
    b = reorder(b, a.items)
    pairs, not_compared = _pair(a, b, families)
    units = unit_numbers(a.items)

    known: dict[bytes, tuple[Difference, ...]] = {}

    def compare(rows: BoolArray) -> tuple[Difference, ...]:
        key = rows.tobytes()
        if key not in known:
            known[key] = _compare_rows(pairs, units, rows, resamples, seed)
        return known[key]

    return Comparison(
        items=len(a.items),
        units=len(set(units.tolist())),
        without_session=sum(1 for item in a.items if item.session is None),
        resamples=resamples,
        seed=seed,
        differences=compare(np.ones(len(a.items), dtype=np.bool_)),
        slices=tuple(
            SliceComparison(
                axis=cell.axis,
                value=cell.value,
                items=cell.items,
                items_sha256=items_sha256(a.items, cell.rows),
                differences=compare(cell.rows),
            )
            for cell in slice_items(a.items, used_axes(a.items) if axes is None else axes)
        ),
        not_compared=not_compared,
    )


def compare_arms(
    table: CountTable,
    families: Sequence[Family],
    golden: Arm = Arm.TRANSCRIPT,
    arm: Arm = Arm.AUDIO,
    *,
    rows: BoolArray | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Difference, ...]:
    """Return rate(arm) - rate(golden) of one system, for every family that both arms have.

    With the default arms this is what recognition loses: a verdict `worse` says that mishearing costs.
    `rows`, bool[n], are the items to compare over; without them all are.
    """
    counts = {(family.name, name): counts for family, name, counts in family_arms(table, families)}
    pairs = [
        _Pairs.of(
            family,
            arm,
            (counts[family.name, golden], counts[family.name, arm]),
            (family_failures(table, family, golden), family_failures(table, family, arm)),
        )
        for family in families
        if family.relative_to is None and {(family.name, golden), (family.name, arm)} <= counts.keys()
    ]
    chosen = np.ones(len(table.items), dtype=np.bool_) if rows is None else rows
    return _compare_rows(pairs, unit_numbers(table.items), chosen, resamples, seed)


def _pair(
    a: CountTable, b: CountTable, families: Sequence[Family]
) -> tuple[list[_Pairs], tuple[tuple[str, Arm], ...]]:
    counts_a = {(family.name, arm): counts for family, arm, counts in family_arms(a, families)}
    counts_b = {(family.name, arm): counts for family, arm, counts in family_arms(b, families)}
    pairs = [
        _Pairs.of(
            family,
            arm,
            (counts_a[family.name, arm], counts_b[family.name, arm]),
            (family_failures(a, family, arm), family_failures(b, family, arm)),
        )
        for family in families
        for arm in family.arms
        if (family.name, arm) in counts_a and (family.name, arm) in counts_b
    ]
    return pairs, tuple(sorted(counts_a.keys() ^ counts_b.keys()))


def _compare_rows(
    pairs: Sequence[_Pairs], units: npt.NDArray[np.intp], rows: BoolArray, resamples: int, seed: int
) -> tuple[Difference, ...]:
    present = [pair.present & rows for pair in pairs]
    counted = [number for number, mask in enumerate(present) if mask.any()]
    drawn = draw_samples(
        [(pairs[number].values, present[number]) for number in counted], units, resamples, seed
    )
    samples = dict(zip(counted, drawn, strict=True))
    return tuple(
        _difference(pair, rate, rows, int(np.count_nonzero(present[number])), samples.get(number))
        for number, pair in enumerate(pairs)
        for rate in pair.family.rates
    )


def _difference(pair: _Pairs, rate: Rate, rows: BoolArray, n: int, sample: Sample | None) -> Difference:
    columns = len(pair.family.columns)
    a = b = math.nan
    intervals = None
    if sample is not None:
        a = float(rate.compute(sample.sums[:columns]))
        b = float(rate.compute(sample.sums[columns:]))
        intervals = estimate_intervals(sample, _difference_of(rate, columns))
    return Difference(
        family=pair.family.name,
        metric=rate.name,
        arm=pair.arm,
        better=rate.better,
        n=n,
        units=0 if sample is None else sample.units,
        failed_a=int(np.count_nonzero(pair.failed_a & rows)),
        failed_b=int(np.count_nonzero(pair.failed_b & rows)),
        unpaired=pair.unpaired(rows),
        a=_finite(a),
        b=_finite(b),
        difference=_finite(b - a),
        intervals=intervals,
        verdict=decide(n, rate.better, intervals, identical=a == b and pair.same_on_every_pair(rate, rows)),
    )


def _difference_of(rate: Rate, columns: int) -> Statistic:
    def difference(sums: FloatArray) -> FloatArray:
        return rate.compute(sums[..., columns:]) - rate.compute(sums[..., :columns])

    return difference


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
