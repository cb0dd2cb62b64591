"""Estimates of every rate over some of the items: value, counts, n, units, failures, intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate
from misheard.metrics.table import CountTable
from misheard.stats.resampling import (
    RESAMPLES,
    SEED,
    Intervals,
    Sample,
    draw_samples,
    estimate_intervals,
)
from misheard.stats.slices import failed_rows, unit_numbers


@dataclass(frozen=True, slots=True)
class Estimate:
    """One rate in one arm over some items.

    Attributes:
        family, metric, arm, better: which rate it is, and which direction is an improvement.
        n: items that count in it.
        units: resampling units among them.
        failed: items of the chosen ones that failed in the arm, or in the arm that it is compared with.
        counts: sum per column of the family.
        value: None where there is none; `reason` says why: `no_items`, `no_scored_items` (none that applies,
            or all failed) or `undefined` (a denominator of 0).
        intervals: None where nothing counts.
    """

    family: str
    metric: str
    arm: Arm
    better: Literal["lower", "higher"] | None
    n: int
    units: int
    failed: int
    counts: Mapping[str, float]
    value: float | None
    reason: str | None
    intervals: Intervals | None


class Estimator:
    """Estimates over slices of one table; slices with the same items are estimated once."""

    def __init__(
        self, table: CountTable, families: Sequence[Family], resamples: int = RESAMPLES, seed: int = SEED
    ) -> None:
        self._table = table
        self._parts = family_arms(table, families)
        self._units = unit_numbers(table.items)
        self._resamples = resamples
        self._seed = seed
        self._known: dict[bytes, tuple[Estimate, ...]] = {}

    def estimate(self, rows: BoolArray) -> tuple[Estimate, ...]:
        """Return the estimates of every rate, in every arm that its family was counted in.

        Args:
            rows: bool[n], the items of the slice.
        """
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = self._estimate(rows)
        return self._known[key]

    def _estimate(self, rows: BoolArray) -> tuple[Estimate, ...]:
        present = [counts.present & rows for _, _, counts in self._parts]
        counted = [number for number, mask in enumerate(present) if mask.any()]
        blocks = [(self._parts[number][2].values, present[number]) for number in counted]
        drawn = draw_samples(blocks, self._units, self._resamples, self._seed)
        samples = dict(zip(counted, drawn, strict=True))
        out: list[Estimate] = []
        for number, (family, arm, counts) in enumerate(self._parts):
            values = counts.values[present[number]]
            n = int(np.count_nonzero(present[number]))
            failed = int(np.count_nonzero(family_failures(self._table, family, arm) & rows))
            missing = "no_scored_items" if rows.any() else "no_items"
            sample = samples.get(number)
            out.extend(
                _estimate_rate(family, rate, arm, n, failed, sample, missing, has_exact_bounds(rate, values))
                for rate in family.rates
            )
        return tuple(out)


def _estimate_rate(
    family: Family,
    rate: Rate,
    arm: Arm,
    n: int,
    failed: int,
    sample: Sample | None,
    missing: str,
    is_proportion: bool,
) -> Estimate:
    value = float("nan") if sample is None else float(rate.compute(sample.sums))
    sums = np.zeros(len(family.columns)) if sample is None else sample.sums
    defined = math.isfinite(value)
    return Estimate(
        family=family.name,
        metric=rate.name,
        arm=arm,
        better=rate.better,
        n=n,
        units=0 if sample is None else sample.units,
        failed=failed,
        counts=dict(zip(family.columns, sums.tolist(), strict=True)),
        value=value if defined else None,
        reason=None if defined else missing if sample is None else "undefined",
        intervals=None
        if sample is None
        else estimate_intervals(sample, rate.compute, rate.proportion if is_proportion else None),
    )


def has_exact_bounds(rate: Rate, values: FloatArray) -> bool:
    """Whether a rate is a share of rows with at most one event and one trial each, in float64[n, K]."""
    if rate.proportion is None:
        return False
    events, trials = (values[:, column] for column in rate.proportion)
    return bool(
        np.isin(trials, (0.0, 1.0)).all() and np.isin(events, (0.0, 1.0)).all() and (events <= trials).all()
    )


def family_arms(table: CountTable, families: Sequence[Family]) -> list[tuple[Family, Arm, Counts]]:
    """Return the families with each arm that the table counts them in, in order."""
    return [
        (family, arm, table.arms[arm].counts[family.name])
        for family in families
        for arm in family.arms
        if arm in table.arms and family.name in table.arms[arm].counts
    ]


_OF_ONE_STAGE = ("correction", "token_change_", "judge_meaning_replies", "judge_answer_replies")


def spans_arms(family: Family) -> bool:
    """Whether a family scores the same thing in every arm, so that arms can be set against each other.

    Counts of the corrector's edits and of the judge's replies do not: each arm gives them other texts.
    """
    return family.relative_to is None and not family.name.startswith(_OF_ONE_STAGE)


def family_failures(table: CountTable, family: Family, arm: Arm) -> BoolArray:
    """Return the items that failed in an arm, or in the arm that the family compares it with: bool[n]."""
    failed = failed_rows(table, arm)
    return failed if family.relative_to is None else failed | failed_rows(table, family.relative_to)
