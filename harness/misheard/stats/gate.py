"""How a release gate judges: from an interval, a count or times to a status. `misheard.gate` does the rest.

Every rule fails closed. What cannot be judged is not passed, and each status says why it is what it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from misheard.metrics.base import FloatArray
from misheard.stats.differences import Difference
from misheard.stats.estimates import Estimate
from misheard.stats.exact import clopper_pearson, quantile, quantile_upper_bound
from misheard.stats.multiplicity import holm
from misheard.stats.resampling import Interval
from misheard.stats.slices import MIN_ITEMS
from misheard.stats.verdict import MIN_UNITS, Verdict

Better = Literal["lower", "higher"] | None

ALPHA = 0.05
"""Level of the claims of which any one is enough, after Holm's adjustment."""

TOO_SMALL = frozenset({"too_few_items", "too_few_units"})
"""The reasons for which no interval is looked at."""

LATENCY_PROBABILITY = 0.95
LATENCY_CONFIDENCE = 0.95


class Status(StrEnum):
    """What one check says."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NO_EVIDENCE = "no_evidence"
    """What the check needs is not there: an empty slice, a missing time, an undefined rate."""
    WAIVED = "waived"
    """Left out on purpose; the gate file says why."""


class Rule(StrEnum):
    """How a tolerance is written in a gate file; its direction is in its name."""

    MUST_IMPROVE = "must_improve"
    MUST_FALL = "must_fall_by_at_least"
    MUST_RISE = "must_rise_by_at_least"
    MAY_RISE = "may_rise_by_at_most"
    MAY_FALL = "may_fall_by_at_most"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"


ABSOLUTE = frozenset({Rule.AT_MOST, Rule.AT_LEAST})
"""The rules about the candidate alone; the others are about its difference from a baseline."""

_FOR_LOWER = frozenset({Rule.MUST_FALL, Rule.MAY_RISE, Rule.AT_MOST})
_FOR_HIGHER = frozenset({Rule.MUST_RISE, Rule.MAY_FALL, Rule.AT_LEAST})


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Which values are acceptable: of a difference, or of a rate where the rule is absolute.

    Attributes:
        rule: what is asked.
        value: the margin or bound, a share; 0 for MUST_IMPROVE.
        better: which direction of the rate is an improvement.
    """

    rule: Rule
    value: float
    better: Better

    @property
    def fits(self) -> bool:
        """Whether the rule's direction is the one in which the rate can get worse, or better."""
        if self.rule is Rule.MUST_IMPROVE:
            return self.better is not None
        return self.better is None or (self.rule in _FOR_LOWER) == (self.better == "lower")

    def accepts(self, value: float) -> bool:
        """Whether a value is acceptable."""
        if self.rule is Rule.MUST_IMPROVE:
            return value < 0.0 if self.better == "lower" else value > 0.0
        if self.rule is Rule.MUST_FALL:
            return value <= -self.value
        if self.rule is Rule.MAY_FALL:
            return value >= -self.value
        return value >= self.value if self.rule in _FOR_HIGHER else value <= self.value

    def rejects(self, value: float) -> bool:
        """Whether a value is unacceptable. No change is no improvement, and does not speak against one."""
        return not self.accepts(value) and not (self.rule is Rule.MUST_IMPROVE and value == 0.0)

    def judge(self, interval: Interval) -> "Finding":
        """Return whether an interval holds acceptable values alone, unacceptable ones alone, or both."""
        ends = interval.low, interval.high
        if not all(map(math.isfinite, ends)):
            return Finding(Status.NO_EVIDENCE, "undefined")
        if all(map(self.accepts, ends)):
            return Finding(Status.PASS, "acceptable")
        if all(map(self.rejects, ends)):
            return Finding(Status.FAIL, "unacceptable")
        return Finding(Status.INCONCLUSIVE, "spans")


@dataclass(frozen=True, slots=True)
class Finding:
    """A status and why it is that one; `misheard.gate.sentences` puts the reason into words."""

    status: Status
    reason: str


def judge_difference(difference: Difference, tolerance: Tolerance) -> Finding:
    """Judge a paired difference by its deciding interval.

    Under MIN_ITEMS pairs or MIN_UNITS units it is inconclusive whatever it is; without pairs, or with an
    undefined rate, there is no evidence. A rate that is the same on every pair is known not to have changed.
    """
    if difference.n == 0 or difference.difference is None:
        return Finding(Status.NO_EVIDENCE, "no_pairs" if difference.n == 0 else "undefined")
    if weak := _too_small(difference.n, difference.units):
        return weak
    interval = None if difference.intervals is None else difference.intervals.deciding
    if interval is None:
        return Finding(Status.INCONCLUSIVE, "no_interval")
    if difference.verdict is Verdict.SAME:
        return Finding(Status.PASS if tolerance.accepts(0.0) else Status.FAIL, "same")
    if interval.low == interval.high == 0.0:
        return Finding(Status.INCONCLUSIVE, "cancels")
    return tolerance.judge(interval)


def judge_rate(estimate: Estimate, tolerance: Tolerance) -> tuple[Finding, Interval | None]:
    """Judge the candidate's own rate by its interval; return the interval that decided.

    Where no unit differs from another, as when nothing ever happened, resampling says nothing. Then each unit
    counts as one trial of a proportion, whose exact interval decides (see `misheard.stats.exact`).
    """
    if estimate.n == 0 or estimate.value is None:
        return Finding(Status.NO_EVIDENCE, "no_items" if estimate.n == 0 else "undefined"), None
    if weak := _too_small(estimate.n, estimate.units):
        return weak, None
    interval = None if estimate.intervals is None else estimate.intervals.deciding
    if interval is None:
        return Finding(Status.INCONCLUSIVE, "no_interval"), None
    if interval.low == interval.high:
        if not 0.0 <= estimate.value <= 1.0:
            return Finding(Status.INCONCLUSIVE, "no_variation"), interval
        interval = Interval(*clopper_pearson(estimate.value * estimate.units, estimate.units))
    return tolerance.judge(interval), interval


def _too_small(n: int, units: int) -> Finding | None:
    if n < MIN_ITEMS:
        return Finding(Status.INCONCLUSIVE, "too_few_items")
    return Finding(Status.INCONCLUSIVE, "too_few_units") if units < MIN_UNITS else None


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """The 95th percentile of some times, in seconds, with bounds that hold for any distribution.

    `lower` and `upper` are one-sided bounds, each at 95 %; None where there are too few times for any.
    """

    p95: float | None
    lower: float | None
    upper: float | None


def measure_latency(seconds: FloatArray) -> LatencyFigures:
    """Return the figures of times, float64[n], all of them finite."""
    upper = quantile_upper_bound(seconds, LATENCY_PROBABILITY, LATENCY_CONFIDENCE)
    mirrored = quantile_upper_bound(-seconds, 1.0 - LATENCY_PROBABILITY, LATENCY_CONFIDENCE)
    return LatencyFigures(
        quantile(seconds, LATENCY_PROBABILITY),
        None if upper is None or mirrored is None else -mirrored,
        upper,
    )


def judge_latency(figures: LatencyFigures, missing: int, at_most: float) -> Finding:
    """Judge a budget by the upper bound of the 95th percentile. One time that is missing is no evidence."""
    if missing or figures.p95 is None:
        return Finding(Status.NO_EVIDENCE, "missing_times" if missing else "no_times")
    if figures.upper is None or figures.lower is None:
        return Finding(Status.INCONCLUSIVE, "too_few_times")
    if figures.upper <= at_most:
        return Finding(Status.PASS, "acceptable")
    return (
        Finding(Status.FAIL, "unacceptable")
        if figures.lower > at_most
        else Finding(Status.INCONCLUSIVE, "spans")
    )


def judge_failures(failed: int, items: int, count_at_most: int | None, rate_at_most: float | None) -> Finding:
    """Judge how many items failed. It is a budget: what happened counts, not what might have."""
    if items == 0:
        return Finding(Status.NO_EVIDENCE, "no_items")
    over = count_at_most is not None and failed > count_at_most
    over |= rate_at_most is not None and failed / items > rate_at_most
    return Finding(Status.FAIL, "over_budget") if over else Finding(Status.PASS, "acceptable")


def judge_size(items: int, units: int, items_at_least: int, units_at_least: int) -> Finding:
    """Judge whether a slice that must be there is large enough. An empty one is no evidence."""
    if items == 0:
        return Finding(Status.NO_EVIDENCE, "no_items")
    if items < items_at_least or units < units_at_least:
        return Finding(Status.INCONCLUSIVE, "too_small")
    return Finding(Status.PASS, "acceptable")


def judge_claims(
    findings: Sequence[Finding], p_values: Sequence[float | None]
) -> tuple[tuple[Finding, ...], tuple[float, ...], Finding]:
    """Judge claims of which any one is enough; return each, Holm's adjusted p-values, and the whole.

    A claim holds where its interval says so and its adjusted p-value is at most ALPHA. A claim without a
    p-value counts with 1. One that is shown to be wrong fails the whole, and one without evidence leaves it
    without. One whose rate changed on no pair fails nothing, unless none changed.
    """
    adjusted = holm([1.0 if p is None or math.isnan(p) else p for p in p_values])
    judged = tuple(
        Finding(Status.INCONCLUSIVE, "holm") if finding.status is Status.PASS and p > ALPHA else finding
        for finding, p in zip(findings, adjusted, strict=True)
    )
    return judged, adjusted, _judge_any(judged)


def _judge_any(findings: Sequence[Finding]) -> Finding:
    statuses = [finding.status for finding in findings]
    if Status.NO_EVIDENCE in statuses:
        return Finding(Status.NO_EVIDENCE, "a_claim_without_evidence")
    if Finding(Status.FAIL, "unacceptable") in findings:
        return Finding(Status.FAIL, "a_claim_is_wrong")
    if Status.PASS in statuses:
        return Finding(Status.PASS, "a_claim_holds")
    nothing_changed = set(statuses) == {Status.FAIL}
    return Finding(Status.FAIL if nothing_changed else Status.INCONCLUSIVE, "no_claim_holds")
