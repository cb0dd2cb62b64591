"""The verdict on a session as JSON, described by `soak-verdict.schema.json`: counts, times, lines and ids."""

from typing import Any

from misheard.gate.sentences import summary
from misheard.gate.verdict import Check
from misheard.soak.verdict import Breaches, SoakVerdict

FORMAT = "misheard-soak-verdict"
FORMAT_VERSION = 1


def soak_document(judged: SoakVerdict) -> dict[str, Any]:
    """Return the verdict as JSON values, without NaN."""
    verdict = judged.verdict
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "outcome": str(verdict.outcome),
        "exit_code": verdict.exit_code,
        "summary": summary(verdict),
        "trace": verdict.candidate,
        "limits": {"name": verdict.gate, "sha256": verdict.gate_sha256},
        "seconds": judged.seconds,
        "counts": dict(judged.counts),
        "notes": list(verdict.notes),
        "checks": [_check(check, judged.breaches[check.id]) for check in verdict.checks],
    }


def _check(check: Check, breaches: Breaches) -> dict[str, Any]:
    interval = check.interval
    return {
        "id": check.id,
        "role": check.role,
        "status": str(check.status),
        "reason": check.reason,
        "decides": check.decides,
        "why": check.why,
        "purpose": breaches.why,
        "value": check.candidate,
        "limit": check.limit,
        "interval": None if interval is None else [interval.low, interval.high],
        "n": check.n,
        "breaches": breaches.count,
        "events": [
            {"line": pointer.line, "t": pointer.t, "event": pointer.event, "id": pointer.id}
            for pointer in breaches.first
        ],
    }
