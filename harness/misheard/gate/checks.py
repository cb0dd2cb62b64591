"""Every check of a gate, answered from the counts and times of two runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from misheard.gate.resolve import Claim
from misheard.gate.sentences import REASONS, rate_sentence, slice_name
from misheard.gate.verdict import Check
from misheard.metrics.base import BoolArray
from misheard.metrics.table import CountTable
from misheard.stats.differences import Difference, Pairs, compare_pairs
from misheard.stats.estimates import Estimate, Estimator, family_failures
from misheard.stats.gate import TOO_SMALL, Finding, Rule, Status, judge_claims, judge_difference, judge_rate
from misheard.stats.pairing import reorder
from misheard.stats.resampling import RESAMPLES, Interval
from misheard.stats.selection import Condition, selectable_axes, slices_by, where_rows
from misheard.stats.slices import Slice, unit_numbers

SEED = 1
"""Of the bootstrap: that of `misheard compare`, so that both show the same figures."""

Conditions = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a gate judges by.

    Attributes:
        candidate: all counts of the candidate.
        paired: the counts of baseline and candidate over the items that both have, in the candidate's order;
            None without a baseline.
        axes: the declared values of each condition axis of the candidate's suite.
    """

    candidate: CountTable
    paired: tuple[CountTable, CountTable] | None
    axes: dict[str, list[str]]


def common_items(baseline: CountTable, candidate: CountTable) -> tuple[CountTable, CountTable]:
    """Return two tables over the items that both have, in the candidate's order."""
    known = {item.id for item in baseline.items}
    items = [item for item in candidate.items if item.id in known]
    return reorder(baseline, items), reorder(candidate, items)


class Checker:
    """Answers claims from the evidence; every draw is that of `misheard compare`, so that figures agree."""

    def __init__(self, evidence: Evidence, claims: Sequence[Claim], resamples: int = RESAMPLES) -> None:
        self._evidence = evidence
        self._resamples = resamples
        self._axes = selectable_axes((), evidence.axes)
        families = {claim.family.name: claim.family for claim in claims if claim.is_absolute}
        self._estimator = Estimator(evidence.candidate, tuple(families.values()), resamples, SEED)
        self._items = evidence.candidate.items if evidence.paired is None else evidence.paired[1].items
        self._units = unit_numbers(self._items)

    def answer(self, claims: Sequence[Claim]) -> list[Check]:
        """Return the checks of all claims, those of which any is enough with their sum."""
        checks: list[Check] = []
        any_of = [check for claim in claims if claim.any_of for check in self._claim(claim)]
        if any_of:
            checks.extend(_any_of(any_of))
        checks.extend(check for claim in claims if not claim.any_of for check in self._claim(claim))
        return checks

    def _claim(self, claim: Claim) -> list[Check]:
        check = self._absolute if claim.is_absolute else self._difference
        found = [check(claim, cell) for cell in self._cells(claim)]
        # What nobody declared, such as no value on an axis, is a slice only where items count, or failed.
        kept = [
            one
            for one in found
            if self._is_declared(one.slice) or one.n or one.failed_candidate or one.failed_baseline
        ]
        return kept or [check(claim, self._nothing(claim))]

    def _is_declared(self, conditions: Conditions) -> bool:
        return all(value in self._axes.get(axis, ()) for axis, value in conditions)

    def _nothing(self, claim: Claim) -> Slice:
        """Return what stands for a claim of which the filter leaves no slice."""
        return Slice(_fixed(claim.conditions), np.zeros_like(self._chosen(claim)))

    def _cells(self, claim: Claim) -> list[Slice]:
        """Return the slices to check, over the candidate's items or, for a difference, those of both runs."""
        items = self._evidence.candidate.items if claim.is_absolute else self._items
        rows = self._chosen(claim)
        given = _fixed(claim.conditions)
        if not claim.axes:
            return [Slice(given, rows)]
        return [
            Slice((*_others(given, claim.axes), *cell.conditions), cell.rows & rows)
            for cell in slices_by(items, self._evidence.axes, claim.axes)
            if not _is_excluded(cell.conditions, claim.conditions)
        ]

    def _chosen(self, claim: Claim) -> BoolArray:
        """Return the rows of the claim's filter, whose values are looked up in the whole candidate."""
        everything = self._evidence.candidate.items
        rows = where_rows(everything, self._evidence.axes, claim.conditions)
        if claim.is_absolute:
            return rows
        chosen = {item.id for item, is_chosen in zip(everything, rows, strict=True) if is_chosen}
        return np.array([item.id in chosen for item in self._items], dtype=np.bool_)

    def _difference(self, claim: Claim, cell: Slice) -> Check:
        pairs = self._pairs(claim)
        if pairs is None:
            return _check(claim, cell.conditions, Finding(Status.NO_EVIDENCE, "not_measured"))
        (difference,) = compare_pairs(
            [pairs], self._units, cell.rows, self._resamples, SEED, metrics=[claim.metric]
        )
        finding = judge_difference(difference, claim.tolerance)
        intervals = None if finding.reason in TOO_SMALL else difference.intervals
        check = _check(
            claim,
            cell.conditions,
            finding,
            baseline=difference.a,
            candidate=difference.b,
            difference=difference.difference,
            interval=None if intervals is None else intervals.deciding,
            n=difference.n,
            units=difference.units,
            failed_baseline=difference.failed_a,
            failed_candidate=difference.failed_b,
        )
        return replace(check, p_value=_p_value(difference)) if claim.any_of else check

    def _pairs(self, claim: Claim) -> Pairs | None:
        """Return the counts of both runs side by side; None where one of them did not measure the rate."""
        if self._evidence.paired is None:
            return None
        counts, failed = [], []
        for table in self._evidence.paired:
            arm = table.arms.get(claim.arm)
            if arm is None or claim.family.name not in arm.counts:
                return None
            counts.append(arm.counts[claim.family.name])
            failed.append(family_failures(table, claim.family, claim.arm))
        return Pairs.of(claim.family, claim.arm, (counts[0], counts[1]), (failed[0], failed[1]))

    def _absolute(self, claim: Claim, cell: Slice) -> Check:
        found: list[Estimate] = [
            one
            for one in self._estimator.estimate(cell.rows)
            if (one.family, one.metric, one.arm) == (claim.family.name, claim.metric, claim.arm)
        ]
        if not found:
            return _check(claim, cell.conditions, Finding(Status.NO_EVIDENCE, "not_measured"))
        estimate = found[0]
        finding, interval = judge_rate(estimate, claim.tolerance)
        resampled = None if estimate.intervals is None else estimate.intervals.deciding
        return _check(
            claim,
            cell.conditions,
            finding,
            candidate=estimate.value,
            interval=interval,
            by_unit=interval is not None and interval != resampled,
            n=estimate.n,
            units=estimate.units,
            failed_candidate=estimate.failed,
        )


def _check(
    claim: Claim,
    conditions: Conditions,
    finding: Finding,
    *,
    baseline: float | None = None,
    candidate: float | None = None,
    difference: float | None = None,
    interval: Interval | None = None,
    by_unit: bool = False,
    n: int = 0,
    units: int = 0,
    failed_baseline: int | None = None,
    failed_candidate: int = 0,
) -> Check:
    name = "/".join(
        [claim.place, claim.metric, str(claim.arm), *(slice_name(conditions),) * bool(conditions)]
    )
    check = Check(
        id=name,
        role=claim.role,
        status=finding.status,
        reason=finding.reason,
        why="",
        rule=str(claim.tolerance.rule),
        limit=None if claim.tolerance.rule is Rule.MUST_IMPROVE else claim.tolerance.value,
        metric=claim.metric,
        arm=str(claim.arm),
        slice=conditions,
        baseline=baseline,
        candidate=candidate,
        difference=difference,
        interval=interval,
        by_unit=by_unit,
        n=n,
        units=units,
        failed_baseline=failed_baseline,
        failed_candidate=failed_candidate,
    )
    return replace(check, why=rate_sentence(check))


def _any_of(checks: Sequence[Check]) -> list[Check]:
    """Return the sum of claims of which any is enough, then each of them, which decides nothing alone."""
    findings = [Finding(check.status, check.reason) for check in checks]
    judged, adjusted, whole = judge_claims(findings, [check.p_value for check in checks])
    claims = [
        replace(check, status=finding.status, reason=finding.reason, decides=False, p_value=p)
        for check, finding, p in zip(checks, judged, adjusted, strict=True)
    ]
    summary = Check("primary_any_of", "primary", whole.status, whole.reason, REASONS[whole.reason])
    return [summary, *(replace(claim, why=rate_sentence(claim)) for claim in claims)]


def _p_value(difference: Difference) -> float | None:
    return None if difference.sign_flip is None else difference.sign_flip.p


def _fixed(conditions: Sequence[Condition]) -> Conditions:
    """Return the axes on which a filter leaves one value."""
    return tuple(
        (condition.axis, condition.values[0])
        for condition in conditions
        if not condition.negated and len(condition.values) == 1
    )


def _others(given: Conditions, axes: Sequence[str]) -> Conditions:
    return tuple((axis, value) for axis, value in given if axis not in axes)


def _is_excluded(cell: Conditions, conditions: Sequence[Condition]) -> bool:
    """Whether a filter leaves nothing of a cell by its own axes: it is then not asked about."""
    return any(
        axis == condition.axis and (value in condition.values) == condition.negated
        for axis, value in cell
        for condition in conditions
    )
