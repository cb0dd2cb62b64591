"""The verdict on a session as JSON, described by `soak-verdict.schema.json`: counts, times, lines and ids."""

from typing import Any

from misheard.gate.document import answer_fields, outcome_fields
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
        **outcome_fields(verdict),
        "trace": verdict.candidate,
        "limits": {"name": verdict.gate, "sha256": verdict.gate_sha256},
        "seconds": judged.seconds,
        "counts": dict(judged.counts),
        "checks": [_check(check, judged.breaches[check.id]) for check in verdict.checks],
    }


def _check(check: Check, breaches: Breaches) -> dict[str, Any]:
    return {
        **answer_fields(check),
        "purpose": breaches.why,
        "value": check.candidate,
        "breaches": breaches.count,
        "events": [
            {"line": pointer.line, "t": pointer.t, "event": pointer.event, "id": pointer.id}
            for pointer in breaches.first
        ],
    }
