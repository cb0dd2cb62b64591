"""The checks of a gate that are about no rate: times, failures, required slices and the suite's gate axes."""

from collections.abc import Sequence

import numpy as np

from misheard.gate.checks import Evidence
from misheard.gate.resolve import LANGUAGE_AXIS, Claim
from misheard.gate.sentences import (
    REASONS,
    failures_sentence,
    latency_sentence,
    size_sentence,
    slice_name,
)
from misheard.gate.spec import PRIMARY, Gate, Latency, RequiredSlices
from misheard.gate.verdict import Check
from misheard.metrics.base import Arm, BoolArray
from misheard.metrics.table import CountTable
from misheard.report.items import failed_anywhere
from misheard.stats.gate import (
    Finding,
    LatencyFigures,
    Status,
    judge_failures,
    judge_latency,
    judge_size,
    measure_latency,
)
from misheard.stats.resampling import Interval
from misheard.stats.selection import slices_by
from misheard.stats.slices import failed_rows, unit_numbers

_TIMINGS = {
    "recognize": "recognize_seconds",
    "correct": "correct_seconds",
    "llm": "llm_seconds",
    "first_token": "first_token_seconds",
    "plan": "plan_seconds",
    "render": "render_seconds",
}
_COUNTED = {
    "correct": "correction",
    "llm": "response",
    "first_token": "response",
    "plan": "scene",
    "render": "scene",
}
"""The family that counts every item which went through a stage."""


def check_budgets(gate: Gate, evidence: Evidence) -> list[Check]:
    """Return the checks of latency, failures and required slices."""
    latency = [
        _latency(f"latency[{place}]", budget, evidence.candidate) for place, budget in enumerate(gate.latency)
    ]
    required = [
        check
        for place, slices in enumerate(gate.required_slices)
        for check in _required(f"required_slices[{place}]", slices, evidence)
    ]
    return [*latency, _failures(gate, evidence.candidate), *required]


def _latency(place: str, budget: Latency, table: CountTable) -> Check:
    """Judge the times of the items that went through a stage of the audio arm and did not fail."""
    arm = table.arms.get(Arm.AUDIO)
    expected = _went_through(budget.stage, table)
    count = int(np.count_nonzero(expected))
    seconds = np.full(count, np.nan) if arm is None else arm.timings[_TIMINGS[budget.stage]][expected]
    known = seconds[np.isfinite(seconds) & (seconds >= 0.0)]
    missing = count - known.size
    figures = measure_latency(known)
    finding = judge_latency(figures, missing, budget.p95_seconds_at_most)
    return Check(
        id=f"{place}/{budget.stage}",
        role="latency",
        status=finding.status,
        reason=finding.reason,
        why=latency_sentence(
            budget.stage, figures, known.size, missing, budget.p95_seconds_at_most, finding.reason
        ),
        rule="p95_seconds_at_most",
        limit=budget.p95_seconds_at_most,
        metric=_TIMINGS[budget.stage],
        arm=str(Arm.AUDIO),
        candidate=figures.p95,
        interval=_bounds(figures),
        n=int(known.size),
    )


def _bounds(figures: LatencyFigures) -> Interval | None:
    if figures.lower is None or figures.upper is None:
        return None
    return Interval(figures.lower, figures.upper)


def _went_through(stage: str, table: CountTable) -> BoolArray:
    healthy: BoolArray = ~failed_rows(table, Arm.AUDIO)
    arm = table.arms.get(Arm.AUDIO)
    if stage == "recognize" or arm is None:
        return healthy
    asked = arm.counts.get(_COUNTED[stage])
    return healthy & asked.present if asked is not None else np.zeros(len(table.items), dtype=np.bool_)


def _failures(gate: Gate, table: CountTable) -> Check:
    budget = gate.failures
    failed, items = int(np.count_nonzero(failed_anywhere(table))), len(table.items)
    finding = judge_failures(failed, items, budget.count_at_most, budget.rate_at_most)
    why = failures_sentence(failed, items, budget.count_at_most, budget.rate_at_most, finding.reason)
    by_count = budget.count_at_most is not None
    return Check(
        id="failures",
        role="failures",
        status=finding.status,
        reason=finding.reason,
        why=why,
        rule="count_at_most" if by_count else "rate_at_most",
        limit=budget.count_at_most if by_count else budget.rate_at_most,
        candidate=failed if by_count else failed / max(items, 1),
        n=items,
        failed_candidate=failed,
    )


def _required(place: str, required: RequiredSlices, evidence: Evidence) -> list[Check]:
    """Judge the size of every combination, of items that failed on no side."""
    tables = (evidence.candidate,) if evidence.paired is None else evidence.paired
    table = tables[-1]
    healthy = ~np.logical_or.reduce([failed_anywhere(one) for one in tables])
    units = unit_numbers(table.items)
    checks = []
    for cell in slices_by(table.items, evidence.axes, required.by):
        if any(value is None for _, value in cell.conditions):
            continue
        rows = cell.rows & healthy
        items, sessions = int(np.count_nonzero(rows)), len(set(units[rows].tolist()))
        wanted = required.items_at_least, required.sessions_at_least
        finding = judge_size(items, sessions, *wanted)
        name = slice_name(cell.conditions)
        checks.append(
            Check(
                id=f"{place}/{name}",
                role="required_slice",
                status=finding.status,
                reason=finding.reason,
                why=size_sentence(f"slice {name}", items, sessions, *wanted, finding.reason),
                rule="items_at_least",
                limit=required.items_at_least,
                slice=cell.conditions,
                n=items,
                units=sessions,
            )
        )
    return checks


def check_gate_axes(gate: Gate, claims: Sequence[Claim], axes: Sequence[str]) -> list[Check]:
    """Return a check per gate axis of the suite that no claim looks at slice by slice.

    Without a waiver, which says why, it has no evidence.
    """
    looked_at = {axis for claim in claims for axis in claim.axes}
    parts = [part for part in (gate.primary, *gate.guards) if part is not None]
    if any(part.metric == PRIMARY for part in parts):
        looked_at.add(LANGUAGE_AXIS)
    return [_gate_axis(axis, gate.waived_axes.get(axis)) for axis in axes if axis not in looked_at]


def _gate_axis(axis: str, waiver: str | None) -> Check:
    finding = (
        Finding(Status.NO_EVIDENCE, "gate_axis_unchecked")
        if waiver is None
        else Finding(Status.WAIVED, "waived")
    )
    why = f"gate axis {axis}: {REASONS[finding.reason]}" + ("" if waiver is None else f": {waiver}")
    return Check(f"gate_axes/{axis}", "gate_axis", finding.status, finding.reason, why)
