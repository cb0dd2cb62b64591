"""Paired differences of rates between two sides that count the same items."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate
from misheard.stats.detectable import smallest_detectable
from misheard.stats.resampling import Intervals, Sample, Statistic, draw_samples, estimate_intervals
from misheard.stats.rounding import settle
from misheard.stats.sign_flip import SignFlip, Swaps, swap_test, swap_units
from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS, Verdict, decide


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
class Adjusted:
    """A p-value of the sign-flip test, adjusted for how many tests stand beside it, itself among them."""

    p: float
    method: Literal["benjamini_hochberg", "holm"]
    tests: int


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
        sign_flip: the test that the systems may be swapped; None where the difference is undefined.
        smallest_detectable: size of difference that these pairs show in 8 of 10 cases (see
            `misheard.stats.detectable`), from the jackknife's standard error; None where that says nothing.
        margin: differences inside ± margin are equivalent; None where none was given.
        verdict: see `decide`.
        adjusted: p beside other tests; None where it stands alone.
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
    sign_flip: SignFlip | None
    smallest_detectable: float | None
    margin: float | None
    verdict: Verdict
    adjusted: Adjusted | None = None

    @property
    def can_decide(self) -> bool:
        """Whether there are the items and the units for a verdict."""
        return self.n >= MIN_ITEMS and self.units >= MIN_UNITS


@dataclass(frozen=True, slots=True)
class Pairs:
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
    ) -> "Pairs":
        """Return the pairs of (A, B) counts, each of n rows, with the rows that failed on either side."""
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


def compare_pairs(
    pairs: Sequence[Pairs],
    units: npt.NDArray[np.intp],
    rows: BoolArray,
    resamples: int,
    seed: int,
    *,
    metrics: Collection[str] = (),
    margins: Mapping[str, float] = MappingProxyType({}),
) -> tuple[Difference, ...]:
    """Return the difference of every rate over some of the items.

    Args:
        pairs: one per family and arm, each of n items.
        units: intp[n], the resampling unit of each item.
        rows: bool[n], the items to compare.
        resamples: of the bootstrap.
        seed: of the bootstrap and of the sign-flip test.
        metrics: the rates to compare; without any, all.
        margins: per rate, the size up to which a difference is none.
    """
    present = [pair.present & rows for pair in pairs]
    counted = [number for number, mask in enumerate(present) if mask.any()]
    drawn = draw_samples(
        [(pairs[number].values, present[number]) for number in counted], units, resamples, seed
    )
    samples = dict(zip(counted, drawn, strict=True))
    out: list[Difference] = []
    for number, pair in enumerate(pairs):
        n, sample = int(np.count_nonzero(present[number])), samples.get(number)
        swaps = None if sample is None else _swap(sample, seed)
        out.extend(
            _difference(pair, rate, rows, n, sample, swaps, margins.get(rate.name))
            for rate in pair.family.rates
            if not metrics or rate.name in metrics
        )
    return tuple(out)


def _swap(sample: Sample, seed: int) -> Swaps:
    a, b = np.hsplit(sample.totals, 2)
    return swap_units(a, b, seed=seed)


def _difference(
    pair: Pairs,
    rate: Rate,
    rows: BoolArray,
    n: int,
    sample: Sample | None,
    swaps: Swaps | None,
    margin: float | None,
) -> Difference:
    columns = len(pair.family.columns)
    a = b = math.nan
    intervals = None
    if sample is not None:
        a = float(rate.compute(sample.sums[:columns]))
        b = float(settle(rate.compute(sample.sums[columns:]), a))
        intervals = estimate_intervals(sample, _difference_of(rate, columns))
    error = None if intervals is None else intervals.standard_error
    is_same = a == b and pair.same_on_every_pair(rate, rows)
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
        sign_flip=None if swaps is None else swap_test(swaps, rate.compute),
        smallest_detectable=None
        if error is None or sample is None
        else smallest_detectable(error, sample.units),
        margin=margin,
        verdict=decide(n, rate.better, intervals, identical=is_same, margin=margin),
    )


def _difference_of(rate: Rate, columns: int) -> Statistic:
    def difference(sums: FloatArray) -> FloatArray:
        a = rate.compute(sums[..., :columns])
        return settle(rate.compute(sums[..., columns:]), a) - a

    return difference


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
