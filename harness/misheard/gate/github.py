"""The verdict for GitHub Actions: workflow commands that annotate a run, and Markdown for its summary."""

from misheard.gate.sentences import summary, undecided
from misheard.gate.verdict import Check, GateVerdict, Outcome
from misheard.report.markdown import cut_lines, markdown_text
from misheard.stats.gate import Status

_LEVELS = {Status.FAIL: "error", Status.NO_EVIDENCE: "error", Status.INCONCLUSIVE: "warning"}
_MARKS = {
    Status.PASS: "pass",
    Status.FAIL: "**fail**",
    Status.INCONCLUSIVE: "**inconclusive**",
    Status.NO_EVIDENCE: "**no evidence**",
    Status.WAIVED: "waived",
}
_MAX_SUMMARY_BYTES = 900_000
"""GitHub drops a step summary over 1 MiB."""


def annotations(verdict: GateVerdict) -> list[str]:
    """Return workflow commands, one a line: what blocks, and then the verdict."""
    lines = [_command("error", "misheard gate: not comparable", text) for text in verdict.refusals]
    lines.extend(
        _command(_LEVELS[check.status], f"misheard gate: {check.id}", check.why)
        for check in verdict.checks
        if check.decides and check.status in _LEVELS
    )
    level = "notice" if verdict.outcome is Outcome.SHIP else "error"
    return [*lines, _command(level, "misheard gate", summary(verdict))]


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(verdict: GateVerdict) -> str:
    """Return the verdict as Markdown, cut to what a step summary may hold."""
    baseline = "none" if verdict.baseline is None else markdown_text(verdict.baseline)
    soak = "" if verdict.soak is None else f", soak {markdown_text(verdict.soak)}"
    head = [
        f"## {markdown_text(summary(verdict))}",
        "",
        f"gate {markdown_text(verdict.gate)}, suite {markdown_text(verdict.suite or 'unknown')}, "
        f"candidate {markdown_text(verdict.candidate)}, baseline {baseline}{soak}",
        "",
    ]
    body = [f"* {markdown_text(text)}" for text in (*verdict.refusals, *verdict.notes)]
    if verdict.checks:
        body += ["", "| status | check | finding |", "| --- | --- | --- |", *map(_row, verdict.checks)]
    return cut_lines([*head, *body], _MAX_SUMMARY_BYTES, "the JSON document")


def _row(check: Check) -> str:
    status = _MARKS[check.status] + undecided(check)
    return f"| {status} | {markdown_text(check.id)} | {markdown_text(check.why)} |"
