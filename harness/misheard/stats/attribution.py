"""Attribution: what each stage loses, and which share of all that is lost it has.

A chain of arms leads from nothing golden (`audio`) to the most golden arm that was run. What a stage loses is
what its golden value wins back: loss(recognition) = score(transcript) - score(audio). The whole is the
shortfall of the audio arm, ideal - score(audio). It is the sum of the losses and of a remainder, ideal -
score(most golden arm): what is wrong although every stage before the last had its golden value.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Counts, Family, FloatArray, Rate, divide
from misheard.metrics.table import CountTable
from misheard.stats.compare import arm_pairs
from misheard.stats.differences import Difference, compare_pairs
from misheard.stats.estimates import family_arms
from misheard.stats.resampling import (
    RESAMPLES,
    SEED,
    Intervals,
    Sample,
    Statistic,
    draw_samples,
    estimate_intervals,
)
from misheard.stats.rounding import ROUNDING
from misheard.stats.slices import unit_numbers
from misheard.stats.verdict import MIN_UNITS

STEPS: tuple[tuple[str, Arm, Arm], ...] = (("recognition", Arm.TRANSCRIPT, Arm.AUDIO),)
"""The chain, from the audio arm on: the stage, the arm with its golden value, the arm without."""

NOISE = (Arm.TRANSCRIPT, Arm.CONTROL)
"""The arm and its second execution, whose difference is noise."""

_CONTRASTS = (*((golden, arm) for _, golden, arm in STEPS), NOISE)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the shortfall, as an amount and as a share.

    Attributes:
        amount: in the metric's unit, positive where something is lost; None where undefined.
        share: amount / shortfall; None where there is none. `reason` says why: `no_pairs`, `undefined`,
            `nothing_lost` (the shortfall is not positive) or `whole_not_shown` (its interval includes zero,
            or there is none).
        intervals: of the share, from the same draws as those of all parts; None where there is none.
    """

    amount: float | None
    share: float | None
    reason: str | None
    intervals: Intervals | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What one stage loses in one metric.

    Attributes:
        stage: whose golden value is won back.
        golden, arm: the arm with the golden value, and the one without.
        difference: rate(arm) - rate(golden), with its verdict.
        part: of the shortfall, over the items that every arm of the chain counts.
        within_noise: whether the difference is smaller than what the control arm's own difference may be
            (the farther end of its interval, or its value where there is none); None without a control arm.
    """

    stage: str
    golden: Arm
    arm: Arm
    difference: Difference
    part: Share
    within_noise: bool | None


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where one metric is lost.

    Attributes:
        family, metric, better: which rate it is.
        n, units: items that every arm of the chain counts, and resampling units among them.
        shortfall: ideal - rate(audio), positive where something is lost; None where undefined.
        intervals: of the shortfall; None without items.
        losses: per stage, from the recognition on.
        remainder: what is lost with the golden value of every stage.
        noise: rate(control) - rate(transcript); None without a control arm.
    """

    family: str
    metric: str
    better: Literal["lower", "higher"]
    n: int
    units: int
    shortfall: float | None
    intervals: Intervals | None
    losses: tuple[Loss, ...]
    remainder: Share
    noise: Difference | None


@dataclass(frozen=True, slots=True)
class _Chain:
    """The counts of one family in every arm of the chain, side by side: float64[n, arms * K]."""

    family: Family
    steps: tuple[tuple[str, Arm, Arm], ...]
    values: FloatArray
    present: BoolArray

    def rate(self, rate: Rate, arm: Arm, sums: FloatArray) -> FloatArray:
        """Return a rate in one arm, from sums over the chain: [..., arms * K] -> [...]."""
        place = _arms(self.steps).index(arm)
        columns = len(self.family.columns)
        return rate.compute(sums[..., place * columns : (place + 1) * columns])


class Attributor:
    """Attributions over slices of one table; slices with the same items are computed once."""

    def __init__(
        self, table: CountTable, families: Sequence[Family], resamples: int = RESAMPLES, seed: int = SEED
    ) -> None:
        self._pairs = [
            (contrast, pair) for contrast in _CONTRASTS for pair in arm_pairs(table, families, *contrast)
        ]
        self._chains = _chains(table, families)
        self._units = unit_numbers(table.items)
        self._resamples = resamples
        self._seed = seed
        self._known: dict[bytes, tuple[Attribution, ...]] = {}

    def attribute(self, rows: BoolArray) -> tuple[Attribution, ...]:
        """Return the attribution of every metric that has a better direction and all arms of the chain.

        Args:
            rows: bool[n], the items of the slice.
        """
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = tuple(self._attribute(rows))
        return self._known[key]

    def _attribute(self, rows: BoolArray) -> list[Attribution]:
        if not self._chains:
            return []
        present = [chain.present & rows for chain in self._chains]
        counted = [number for number, mask in enumerate(present) if mask.any()]
        blocks = [(self._chains[number].values, present[number]) for number in counted]
        samples = dict(
            zip(counted, draw_samples(blocks, self._units, self._resamples, self._seed), strict=True)
        )
        differences = self._differences(rows)
        return [
            _attribution(chain, rate, int(present[number].sum()), samples.get(number), differences)
            for number, chain in enumerate(self._chains)
            for rate in chain.family.rates
            if rate.better is not None
        ]

    def _differences(self, rows: BoolArray) -> dict[tuple[Arm, Arm], dict[str, Difference]]:
        """Return the differences of every pair of arms, per metric, all from the same draws."""
        pairs = [pair for _, pair in self._pairs]
        found = iter(compare_pairs(pairs, self._units, rows, self._resamples, self._seed))
        differences: dict[tuple[Arm, Arm], dict[str, Difference]] = {contrast: {} for contrast in _CONTRASTS}
        for contrast, pair in self._pairs:
            for rate in pair.family.rates:
                differences[contrast][rate.name] = next(found)
        return differences


def _arms(steps: Sequence[tuple[str, Arm, Arm]]) -> list[Arm]:
    return [steps[0][2], *(golden for _, golden, _ in steps)]


def _chains(table: CountTable, families: Sequence[Family]) -> list[_Chain]:
    counts = {(family.name, arm): counts for family, arm, counts in family_arms(table, families)}
    chains = []
    for family in families:
        steps = tuple(
            step for step in STEPS if {(family.name, step[1]), (family.name, step[2])} <= counts.keys()
        )
        if family.relative_to is None and steps:
            parts: list[Counts] = [counts[family.name, arm] for arm in _arms(steps)]
            values = np.concatenate([part.values for part in parts], axis=1)
            present = np.logical_and.reduce([part.present for part in parts])
            chains.append(_Chain(family, steps, values, present))
    return chains


def _attribution(
    chain: _Chain,
    rate: Rate,
    n: int,
    sample: Sample | None,
    differences: dict[tuple[Arm, Arm], dict[str, Difference]],
) -> Attribution:
    better = rate.better or "higher"
    arms = _arms(chain.steps)

    def score(arm: Arm, sums: FloatArray) -> FloatArray:
        # every rate with a better direction is best at 1 or at 0
        value = chain.rate(rate, arm, sums)
        return value if better == "higher" else 1.0 - value

    def shortfall(sums: FloatArray) -> FloatArray:
        return 1.0 - score(arms[0], sums)

    def lost(golden: Arm, arm: Arm) -> Statistic:
        return lambda sums: score(golden, sums) - score(arm, sums)

    whole = math.nan if sample is None else float(shortfall(sample.sums))
    intervals = None if sample is None else estimate_intervals(sample, shortfall)
    reason = _why_no_share(whole, sample, intervals)
    noise = differences[NOISE].get(rate.name)

    def part(amount: Statistic) -> Share:
        return _share(sample, amount, shortfall, reason)

    return Attribution(
        family=chain.family.name,
        metric=rate.name,
        better=better,
        n=n,
        units=0 if sample is None else sample.units,
        shortfall=whole if math.isfinite(whole) else None,
        intervals=intervals,
        losses=tuple(
            Loss(
                stage=stage,
                golden=golden,
                arm=arm,
                difference=differences[golden, arm][rate.name],
                part=part(lost(golden, arm)),
                within_noise=_is_within(noise, differences[golden, arm][rate.name]),
            )
            for stage, golden, arm in chain.steps
        ),
        remainder=part(lambda sums: 1.0 - score(arms[-1], sums)),
        noise=noise,
    )


def _why_no_share(whole: float, sample: Sample | None, intervals: Intervals | None) -> str | None:
    if sample is None or intervals is None:
        return "no_pairs"
    if not math.isfinite(whole):
        return "undefined"
    if whole <= ROUNDING:
        return "nothing_lost"
    deciding = intervals.deciding
    if sample.units < MIN_UNITS or deciding is None or deciding.low <= ROUNDING:
        return "whole_not_shown"
    return None


def _share(sample: Sample | None, amount: Statistic, shortfall: Statistic, reason: str | None) -> Share:
    if sample is None:
        return Share(None, None, reason, None)
    value = float(amount(sample.sums))
    lost = value if math.isfinite(value) else None
    if reason is not None:
        return Share(lost, None, reason, None)

    def share(sums: FloatArray) -> FloatArray:
        whole = shortfall(sums)
        return divide(amount(sums), np.where(whole > ROUNDING, whole, 0.0))

    return Share(lost, float(share(sample.sums)), None, estimate_intervals(sample, share))


def _is_within(noise: Difference | None, difference: Difference) -> bool | None:
    if noise is None or noise.difference is None or difference.difference is None:
        return None
    bound = abs(noise.difference)
    interval = None if noise.intervals is None or noise.units < MIN_UNITS else noise.intervals.deciding
    if interval is not None:
        bound = max(bound, abs(interval.low), abs(interval.high))
    return abs(difference.difference) < bound
