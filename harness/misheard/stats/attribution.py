"""Attribution: what each stage loses, and which share of all that is lost it has.

A chain of arms leads from nothing golden (`audio`) to the most golden arm that was run. What a stage loses is
what its golden value wins back: loss(recognition) = score(transcript) - score(audio), loss(planning) =
score(plan) - score(transcript). The whole is the shortfall of the audio arm, best - score(audio). It is the
sum of the losses and of a remainder, best - score(most golden arm): what is wrong although every stage before
had its golden value. A part is negative where the golden value makes things worse.

What the corrector wins or harms is a contrast of its own, audio against uncorrected, no link of the chain.
"""

import math
from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, BoolArray, Family, FloatArray, Rate, divide
from misheard.metrics.table import CountTable
from misheard.stats.chains import AFTER, Chain, find_chains
from misheard.stats.compare import arm_pairs
from misheard.stats.differences import Difference, compare_pairs
from misheard.stats.losses import Attribution, Largest, Loss, Share
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
from misheard.stats.slices import MIN_ITEMS, unit_numbers
from misheard.stats.verdict import MIN_UNITS

NOISE = (Arm.TRANSCRIPT, Arm.CONTROL)
"""The arm and its second execution, whose difference is noise."""

CORRECTION = (Arm.UNCORRECTED, Arm.AUDIO)
"""The arm without the corrector, and the same with it."""

_Contrast = tuple[Arm, Arm]


class Attributor:
    """Attributions over slices of one table; slices with the same items are computed once."""

    def __init__(
        self, table: CountTable, families: Sequence[Family], resamples: int = RESAMPLES, seed: int = SEED
    ) -> None:
        self._chains = find_chains(table, families)
        steps = [(step.golden, step.arm) for chain in self._chains for step in chain.steps]
        self._contrasts = tuple(dict.fromkeys((*steps, NOISE, CORRECTION)))
        self._pairs = [
            (contrast, pair) for contrast in self._contrasts for pair in arm_pairs(table, families, *contrast)
        ]
        self._units = unit_numbers(table.items)
        self._resamples = resamples
        self._seed = seed
        self._known: dict[bytes, tuple[Attribution, ...]] = {}

    def attribute(self, rows: BoolArray) -> tuple[Attribution, ...]:
        """Return the attribution of every metric that has a best score and a chain of arms.

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
            _attribution(_Parts(chain, rate, samples.get(number)), int(present[number].sum()), differences)
            for number, chain in enumerate(self._chains)
            for rate in chain.family.rates
            if rate.better is not None
        ]

    def _differences(self, rows: BoolArray) -> dict[_Contrast, dict[str, Difference]]:
        """Return the differences of every pair of arms, per metric, all from the same draws."""
        pairs = [pair for _, pair in self._pairs]
        found = iter(compare_pairs(pairs, self._units, rows, self._resamples, self._seed))
        differences: dict[_Contrast, dict[str, Difference]] = {contrast: {} for contrast in self._contrasts}
        for contrast, pair in self._pairs:
            for rate in pair.family.rates:
                differences[contrast][rate.name] = next(found)
        return differences


class _Parts:
    """The shortfall of one rate over one sample of a chain, and how it divides."""

    def __init__(self, chain: Chain, rate: Rate, sample: Sample | None) -> None:
        self.chain, self.rate, self.sample = chain, rate, sample
        self.rest = AFTER[chain.arms[-1]]
        self.whole = math.nan if sample is None else float(self.shortfall(sample.sums))
        self.intervals = None if sample is None else estimate_intervals(sample, self.shortfall)
        self._why = _why_no_share(self.whole, sample, self.intervals)

    def shortfall(self, sums: FloatArray) -> FloatArray:
        return self._missing(self.chain.arms[0], sums)

    def amounts(self) -> dict[str, Statistic]:
        """Return what each stage loses, and what is lost after all of them, as statistics of sums."""
        lost = {step.stage: self._lost(step.golden, step.arm) for step in self.chain.steps}
        return {**lost, self.rest: lambda sums: self._missing(self.chain.arms[-1], sums)}

    def share(self, amount: Statistic) -> Share:
        """Return a part of the shortfall."""
        if self.sample is None:
            return Share(None, None, None, self._why, None)
        value = float(amount(self.sample.sums))
        lost, spread = _finite(value), estimate_intervals(self.sample, amount)
        if self._why is not None:
            return Share(lost, spread, None, self._why, None)

        def share(sums: FloatArray) -> FloatArray:
            whole = self.shortfall(sums)
            return divide(amount(sums), np.where(whole > ROUNDING, whole, 0.0))

        if lost is None:
            return Share(None, spread, None, "undefined", None)
        return Share(
            lost, spread, float(share(self.sample.sums)), None, estimate_intervals(self.sample, share)
        )

    def largest(self, n: int) -> Largest | None:
        """Return the largest part, over n items."""
        amounts = self.amounts()
        if self.sample is None or not math.isfinite(self.whole):
            return None
        sums = self.sample.sums
        values = {stage: float(amount(sums)) for stage, amount in amounts.items()}
        if not all(map(math.isfinite, values.values())):
            return None
        first, second, *_ = sorted(values, key=lambda stage: -values[stage])
        leads = {
            stage: estimate_intervals(self.sample, _minus(amounts[first], amounts[stage]))
            for stage in values
            if stage != first
        }
        is_large = n >= MIN_ITEMS and self._why is None
        return Largest(
            stage=first,
            next=second,
            lead=values[first] - values[second],
            intervals=leads[second],
            is_shown=is_large and all(map(_is_positive, leads.values())),
        )

    def _missing(self, arm: Arm, sums: FloatArray) -> FloatArray:
        """Return how far an arm is from the best value, positive where something is missing."""
        value = self.chain.rate(self.rate, arm, sums)
        best = (0.0 if self.rate.better == "lower" else 1.0) if self.rate.best is None else self.rate.best
        return value - best if self.rate.better == "lower" else best - value

    def _lost(self, golden: Arm, arm: Arm) -> Statistic:
        return lambda sums: self._missing(arm, sums) - self._missing(golden, sums)


def _minus(first: Statistic, second: Statistic) -> Statistic:
    return lambda sums: first(sums) - second(sums)


def _is_positive(intervals: Intervals) -> bool:
    deciding = intervals.deciding
    return deciding is not None and deciding.low > ROUNDING


def _attribution(parts: _Parts, n: int, differences: dict[_Contrast, dict[str, Difference]]) -> Attribution:
    chain, name = parts.chain, parts.rate.name
    amounts = parts.amounts()
    noise = differences[NOISE].get(name)
    return Attribution(
        family=chain.family.name,
        metric=name,
        better=parts.rate.better or "higher",
        n=n,
        units=0 if parts.sample is None else parts.sample.units,
        shortfall=_finite(parts.whole),
        intervals=parts.intervals,
        losses=tuple(
            Loss(
                stage=step.stage,
                golden=step.golden,
                arm=step.arm,
                difference=differences[step.golden, step.arm][name],
                part=parts.share(amounts[step.stage]),
                within_noise=_is_within(noise, differences[step.golden, step.arm][name]),
            )
            for step in chain.steps
        ),
        undefined=chain.undefined,
        rest=parts.rest,
        remainder=parts.share(amounts[parts.rest]),
        largest=parts.largest(n),
        noise=noise,
        correction=differences[CORRECTION].get(name),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


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


def _is_within(noise: Difference | None, difference: Difference) -> bool | None:
    if noise is None or noise.difference is None or difference.difference is None:
        return None
    bound = abs(noise.difference)
    interval = None if noise.intervals is None or noise.units < MIN_UNITS else noise.intervals.deciding
    if interval is not None:
        bound = max(bound, abs(interval.low), abs(interval.high))
    return abs(difference.difference) < bound
