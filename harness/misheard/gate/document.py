"""The verdict as JSON, described by `verdict.schema.json`: the same verdict, the same bytes."""

from typing import Any

from misheard.gate.sentences import summary
from misheard.gate.verdict import Check, GateVerdict

FORMAT = "misheard-verdict"
FORMAT_VERSION = 1


def verdict_document(verdict: GateVerdict) -> dict[str, Any]:
    """Return the verdict as JSON values. No text of an item is in it, and no NaN."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **outcome_fields(verdict),
        "gate": {"name": verdict.gate, "sha256": verdict.gate_sha256},
        "suite": verdict.suite,
        "suite_lock": verdict.suite_lock,
        "candidate": verdict.candidate,
        "baseline": verdict.baseline,
        "soak": verdict.soak,
        "refusals": list(verdict.refusals),
        "checks": [_check(check) for check in verdict.checks],
    }


def outcome_fields(verdict: GateVerdict) -> dict[str, Any]:
    """Return what the documents of all verdicts say of the whole."""
    return {
        "outcome": str(verdict.outcome),
        "exit_code": verdict.exit_code,
        "summary": summary(verdict),
        "notes": list(verdict.notes),
    }


def answer_fields(check: Check) -> dict[str, Any]:
    """Return what the documents of all verdicts say of a check."""
    interval = check.interval
    return {
        "id": check.id,
        "role": check.role,
        "status": str(check.status),
        "reason": check.reason,
        "decides": check.decides,
        "why": check.why,
        "limit": check.limit,
        "interval": None if interval is None else [interval.low, interval.high],
        "n": check.n,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        **answer_fields(check),
        "rule": check.rule,
        "metric": check.metric,
        "arm": check.arm,
        "slice": dict(check.slice),
        "baseline": check.baseline,
        "candidate": check.candidate,
        "difference": check.difference,
        "p_value": check.p_value,
        "units": check.units,
        "failed_baseline": check.failed_baseline,
        "failed_candidate": check.failed_candidate,
    }
