"""Intervals over resampling units: the percentile bootstrap and the leave-one-unit-out jackknife.

A statistic is any function of sums of counts, [..., K] -> [...]; both intervals see nothing else of a metric.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import BoolArray, FloatArray
from misheard.stats.exact import korn_graubard
from misheard.stats.rounding import settle
from misheard.stats.student import t_quantile
from misheard_kernels.resampling import resample_sums

Statistic = Callable[[FloatArray], FloatArray]

CONFIDENCE = 0.95
PERCENTILES = (2.5, 97.5)
RESAMPLES = 10_000
SEED = 20_240_607
MANY_UNITS = 80
"""From this many units on the bootstrap's interval decides alone (see `Intervals.deciding`). With rare loops
of errors it was measured to hold 92 % of the differences over 40 sessions and 95 % over 80
(scripts/bench/coverage.py)."""

MAX_UNDEFINED_SHARE = 0.05
"""With more of the resamples undefined than this, the percentiles would describe the rest alone."""


FEW_EVENTS = 10
"""With fewer events than this, or fewer rows without one, the exact interval of a proportion decides."""


MAX_RESAMPLED = 4_096
"""More units than this are resampled in so many groups, by their number in the suite (Wolter, Introduction to
Variance Estimation, chapter 2). That gives the spread a relative error of 1 / sqrt(2 * 4095), which is 1.1 %
and less than that of 10,000 resamples."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at the level CONFIDENCE."""

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside, its ends included."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class Intervals:
    """What resampling says about one statistic.

    Attributes:
        units: how many units were resampled.
        bootstrap, jackknife: None where there is none; `reasons` says why.
        undefined_resamples: resamples in which the statistic was undefined (a denominator of 0); they are
            left out of the percentiles.
        reasons: per missing interval (`bootstrap`, `jackknife`), one of `undefined`, `one_unit`,
            `undefined_resamples`, `undefined_without_one_unit`.
        exact: of a proportion with few events or without any spread between units; None for all else.
        standard_error: of the statistic, by the jackknife; None where that has no interval.
        monte_carlo_error: standard errors of the bootstrap's two ends for the number of resamples, by
            `percentile_errors`; None without a bootstrap.
        largest_unit_share: items of the largest unit / items, among those that count.
        keeps_sign: whether the statistic has the same sign (or is 0) whichever unit is left out.
    """

    units: int
    bootstrap: Interval | None
    jackknife: Interval | None
    undefined_resamples: int
    reasons: Mapping[str, str]
    exact: Interval | None = None
    standard_error: float | None = None
    monte_carlo_error: tuple[float, float] | None = None
    largest_unit_share: float | None = None
    keeps_sign: bool | None = None

    @property
    def deciding(self) -> Interval | None:
        """The interval that verdicts go by, and that tables show.

        Over few units the percentile bootstrap covers too little and the jackknife with t(G - 1) does not,
        so that under MANY_UNITS the interval spans both, and there is none without both. Where a proportion
        has an exact interval neither covers enough, and that one decides.
        """
        if self.exact is not None:
            return self.exact
        if self.units >= MANY_UNITS:
            return self.bootstrap
        if self.bootstrap is None or self.jackknife is None:
            return None
        return Interval(
            low=min(self.bootstrap.low, self.jackknife.low),
            high=max(self.bootstrap.high, self.jackknife.high),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """Unit totals of some counts with everything that resampling makes of them, shared by all statistics.

    Attributes:
        totals: float64[G, K], the sums of each unit.
        sums: float64[K], over all units.
        resampled: float64[R, K], sums of R samples of units with replacement; R is 0 for a single unit.
        left_out: float64[G, K], sums without each unit in turn.
        units: how many units there are; more than G where they are resampled in groups.
        largest_share: items of the largest unit / items.

    G is the number of units, or MAX_RESAMPLED where there are more.
    """

    totals: FloatArray
    sums: FloatArray
    resampled: FloatArray
    left_out: FloatArray
    units: int
    largest_share: float

    def columns(self, start: int, end: int, units: int, largest_share: float) -> "Sample":
        """Return the same draws of some of the columns, which are of such units."""
        return Sample(
            totals=self.totals[:, start:end],
            sums=self.sums[start:end],
            resampled=self.resampled[:, start:end],
            left_out=self.left_out[:, start:end],
            units=units,
            largest_share=largest_share,
        )


def draw_sample(
    totals: FloatArray, resamples: int = RESAMPLES, seed: int = SEED, *, group_alike: bool = False
) -> Sample:
    """Resample unit totals, float64[G, K], each of one item.

    The draws depend on the seed and G alone, and with `group_alike`, which is quicker where many units are
    alike, on the totals too (see `misheard_kernels.resampling.resample_sums`).
    """
    sums, units = np.add.reduce(totals, axis=0), totals.shape[0]
    resampled = left_out = np.empty((0, totals.shape[1]))
    if units > 1:
        resampled = resample_sums(totals, resamples, seed, group_alike=group_alike)
        left_out = sums - totals
    return Sample(totals, sums, resampled, left_out, units, largest_share=1.0 / units)


def estimate_intervals(
    sample: Sample, statistic: Statistic, proportion: tuple[int, int] | None = None
) -> Intervals:
    """Return the intervals of a statistic, or the reasons why there is none.

    `proportion` are the columns (events, trials) where the statistic is the share of rows with an event and
    every row of the sample has 0 or 1 of both.
    """
    point = float(statistic(sample.sums))
    share = sample.largest_share
    if not math.isfinite(point):
        return _no_intervals(sample.units, "undefined", share)
    if sample.units < 2:
        # an interval over one unit would collapse to a point and so exclude zero
        return _no_intervals(sample.units, "one_unit", share)
    resampled = settle(statistic(sample.resampled), point)
    left_out = settle(statistic(sample.left_out), point)
    bootstrap, undefined = percentile_interval(resampled)
    error = jackknife_error(left_out)
    reasons = {}
    if bootstrap is None:
        reasons["bootstrap"] = "undefined_resamples"
    if error is None:
        reasons["jackknife"] = "undefined_without_one_unit"
    return Intervals(
        units=sample.units,
        bootstrap=bootstrap,
        jackknife=None if error is None else _t_interval(point, error, len(sample.totals)),
        undefined_resamples=undefined,
        reasons=reasons,
        exact=None if proportion is None or error is None else _exact_interval(sample, proportion, error),
        standard_error=error,
        monte_carlo_error=None if bootstrap is None else percentile_errors(resampled),
        largest_unit_share=share,
        keeps_sign=bool((np.sign(left_out) == np.sign(point)).all()),
    )


def _no_intervals(units: int, reason: str, share: float) -> Intervals:
    reasons = {"bootstrap": reason, "jackknife": reason}
    return Intervals(units, None, None, 0, reasons, largest_unit_share=share)


def _exact_interval(sample: Sample, proportion: tuple[int, int], error: float) -> Interval | None:
    events, trials = (sample.totals[:, column] for column in proportion)
    count, total = float(events.sum()), float(trials.sum())
    if min(count, total - count) >= FEW_EVENTS and error > 0:
        return None
    return Interval(*korn_graubard(events, trials, error))


def percentile_interval(values: FloatArray) -> tuple[Interval | None, int]:
    """Return the central 95 % of resampled values (linear interpolation) and how many were undefined.

    Undefined values are left out; with more than 5 % of them there is no interval.
    """
    defined = values[np.isfinite(values)]
    undefined = values.size - defined.size
    if defined.size == 0 or undefined > MAX_UNDEFINED_SHARE * values.size:
        return None, undefined
    low, high = np.percentile(defined, PERCENTILES)
    return Interval(float(low), float(high)), undefined


def percentile_errors(values: FloatArray) -> tuple[float, float]:
    """Return the Monte-Carlo standard errors of the two percentiles, from order statistics.

    How many of R resamples lie below the q-quantile is binomial, with standard deviation sqrt(R q (1 - q)).
    The error is half the distance between the percentiles that lie so many ranks below and above, which
    needs no density (Serfling, Approximation Theorems, 2.6). Undefined values are left out.
    """
    defined = values[np.isfinite(values)]
    ends = np.array(PERCENTILES)
    ranks = 100.0 * np.sqrt(ends / 100.0 * (1.0 - ends / 100.0) / defined.size)
    around = np.clip([ends - ranks, ends + ranks], 0.0, 100.0)
    below, above = np.percentile(defined, around)
    low, high = ((above - below) / 2.0).tolist()
    return low, high


def jackknife_error(left_out: FloatArray) -> float | None:
    """Return the standard error, from the values with each of G units left out.

    The variance is (G - 1) / G times the sum of squared deviations from the values' mean (Efron 1982, §3).
    None where a value is undefined: then one unit alone carries the statistic. Exactly 0 where all are equal.
    """
    units = left_out.size
    if units < 2 or not np.isfinite(left_out).all():
        return None
    if (left_out == left_out[0]).all():
        # their mean may round to another value
        return 0.0
    # fsum rounds once, so the order of the units does not matter
    mean = math.fsum(left_out) / units
    squares = math.fsum((left_out - mean) ** 2)
    return math.sqrt(squares * (units - 1) / units)


def jackknife_interval(point: float, left_out: FloatArray) -> Interval | None:
    """Return point ± t(G - 1) * standard error, from the values with each of G units left out, or None."""
    error = jackknife_error(left_out)
    return None if error is None else _t_interval(point, error, left_out.size)


def _t_interval(point: float, error: float, units: int) -> Interval:
    half = t_quantile(PERCENTILES[1] / 100.0, units - 1) * error
    return Interval(point - half, point + half)


def unit_totals(values: FloatArray, units: npt.NDArray[np.intp], count: int) -> FloatArray:
    """Return the sums of rows, float64[n, K], per unit: float64[count, K]; rows are added in order."""
    columns = [np.bincount(units, column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0))


def draw_samples(
    blocks: Sequence[tuple[FloatArray, BoolArray]],
    units: npt.NDArray[np.intp],
    resamples: int = RESAMPLES,
    seed: int = SEED,
    *,
    group_alike: bool = False,
) -> list[Sample]:
    """Return a sample per block of counts, in order.

    Each block resamples the units that have a row in it, and no others: a unit without rows would only make
    the size of the samples random. Blocks over the same units share every draw, and are drawn in one pass.
    Over more than MAX_RESAMPLED units, groups of units are resampled, unless alike units are grouped.

    Args:
        blocks: pairs of counts, float64[n, K], and the rows that count, bool[n], at least one of them True.
        units: intp[n], the resampling unit of each row.
        resamples: how many samples to draw.
        seed: the seed of the draws.
        group_alike: as in `draw_sample`.
    """
    by_units: dict[bytes, list[int]] = {}
    totals: list[FloatArray] = []
    sizes: list[tuple[int, float]] = []
    for number, (values, rows) in enumerate(blocks):
        # sorted by the suite-wide number, so that blocks with the same units number them alike
        members, inverse = np.unique(units[rows], return_inverse=True)
        by_units.setdefault(members.tobytes(), []).append(number)
        sizes.append((members.size, float(np.bincount(inverse).max() / inverse.size)))
        groups = members.size if group_alike else min(members.size, MAX_RESAMPLED)
        totals.append(unit_totals(values[rows], inverse % groups, groups))
    samples: dict[int, Sample] = {}
    for numbers in by_units.values():
        widths = [totals[number].shape[1] for number in numbers]
        side_by_side = np.concatenate([totals[number] for number in numbers], axis=1)
        joined = draw_sample(side_by_side, resamples, seed, group_alike=group_alike)
        ends = np.cumsum(widths)
        for number, start, end in zip(numbers, ends - widths, ends, strict=True):
            samples[number] = joined.columns(int(start), int(end), *sizes[number])
    return [samples[number] for number in range(len(blocks))]
