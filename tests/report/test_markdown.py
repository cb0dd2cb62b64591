"""The report of a run as Markdown: what it says, how long it gets, and that names stay names."""

import re
from typing import Any

import pytest

from made_up_tables import AXES, FAMILIES, make_table
from misheard.report.build import build_report
from misheard.report.markdown import MAX_BYTES, markdown_text, report_markdown
from misheard.report.terminal_matrix import same_items


def made_up_report(**changes: Any) -> dict[str, Any]:
    table = make_table(14, 10)
    told: dict[str, Any] = {
        "suite": {"name": "tiers", "version": "2"}, "system": {}, "scorer": {"sha256": ""}, "timings": None,
        "axes": AXES, "primary_metrics": {"en": "wer"}, "resamples": 200,
    }  # fmt: skip
    return build_report(table, FAMILIES, **told | changes)


VERDICT = {
    "outcome": "no_ship", "summary": "NO SHIP: of 2 checks 1 failed", "gate": {"name": "g.yaml"},
    "baseline": "old", "refusals": [], "notes": [],
    "checks": [
        {"status": "fail", "decides": True, "why": "WER rose"},
        {"status": "pass", "decides": True, "why": "fine"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return made_up_report()


def test_it_says_the_worst_cell_the_losses_and_a_matrix(report: dict[str, Any]) -> None:
    text = report_markdown(report)
    (worst,) = [one for one in report["worst_cells"] if (one["metric"], one["arm"]) == ("wer", "audio")]
    first = next(line for line in text.splitlines() if line.startswith("* "))
    assert first.startswith(f"* Worst cell: **{100 * worst['rate']:.1f}%**".replace(".", "\\."))
    assert f"**{worst['axis']}={worst['value']}**" in first and "95% interval" in first
    assert "* Stage to blame: **After the transcript**" in text
    assert "recognition\\: 10\\.8 points, 22%" in text and "* Mishearing costs most: **" in text
    lost = report["propagation"]["lost_to_recognition"]["correct_rate"]
    (row,) = [line for line in text.splitlines() if line.startswith("| correct |")]
    assert f"| {lost['verdict']} |" in row and f"{lost['n']} |" in row
    shown = re.findall(r"^\| (?:language|noise|mic)=", text, re.MULTILINE)
    assert len(shown) == len(same_items(report["matrix"])) == 7
    assert "verdict\\." not in text.splitlines()[0] and "NO SHIP" not in text


def test_a_verdict_stands_above_with_what_blocks(report: dict[str, Any]) -> None:
    lines = report_markdown(report, VERDICT).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("**NO SHIP**"))
    assert lines[place + 2] == "* WER rose" and "fine" not in "".join(lines)
    assert place < next(n for n, line in enumerate(lines) if "Worst cell" in line)


def test_it_stays_short_whatever_the_suite(report: dict[str, Any]) -> None:
    many = [f"{'v' * 200}{n}" for n in range(3000)]
    text = report_markdown(made_up_report(axes={**AXES, "room": many}))
    assert len(text.encode()) <= MAX_BYTES and "more cells are in matrix" in text
    long = {**report, "takeaway": ["x" * 900] * 200}
    cut = report_markdown(long)
    assert len(cut.encode()) <= MAX_BYTES + 100 and cut.rstrip().endswith("more lines: see the HTML report")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"), ("<script>", "\\<script\\>"), ("[x](y)", "\\[x\\]\\(y\\)"), ("a\nb", "a b"),
        ("@all #1", "\\@all \\#1"), ("a\u202eb", "a\\\\u202eb"), ("നല്ല", "നല്ല"),
    ],
)  # fmt: skip
def test_names_are_no_markdown(text: str, shown: str) -> None:
    assert markdown_text(text) == shown
