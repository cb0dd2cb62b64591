"""The arms side by side: what no item has is told, not shown as a row of dashes."""

from typing import Any

import numpy as np
import pytest

from made_up_tables import ANSWERS, FAMILIES, RESPONSE, WER, make_table, with_counts
from misheard.metrics.base import Arm, Counts
from misheard.report.build import build_report
from misheard.report.html.page import Prose, Table
from misheard.report.html.run_costs import costs_section


def report_without(*names: str) -> dict[str, Any]:
    """Return the report of a run none of whose items counts in some families."""
    table = make_table(2, 4)
    for name in names:
        for arm in (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL):
            values = np.zeros_like(table.arms[arm].counts[name].values)
            table = with_counts(table, arm, name, Counts(values, np.zeros(len(values), dtype=bool)))
    families = [family for family in FAMILIES if family in (WER, RESPONSE, ANSWERS)]
    return build_report(
        table, families, suite={"name": "s"}, system={}, scorer={"profile": "nfc"}, timings={}, axes={},
        primary_metrics={}, resamples=50,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("missing", "rows", "told"),
    [
        ((), {"answer quality", "exact match", "correct", "abstained", "hallucinated"}, []),
        (
            ("answer_class",),
            {"answer quality", "exact match"},
            ["correct, abstained, hallucinated: no item has a fact"],
        ),
    ],
)
def test_what_no_item_has_is_no_row_but_a_reason(
    missing: tuple[str, ...], rows: set[str], told: list[str]
) -> None:
    (section,) = costs_section(report_without(*missing))
    table, why = section.blocks[:2]
    assert isinstance(table, Table) and {row.name.rstrip(" ≈") for row in table.rows} == rows
    assert isinstance(why, Prose) and list(why.sentences) == told


def test_where_no_item_has_anything_there_is_no_table() -> None:
    (section,) = costs_section(report_without("answer_class", "response"))
    assert not [block for block in section.blocks if isinstance(block, Table)]
    told = [sentence for block in section.blocks if isinstance(block, Prose) for sentence in block.sentences]
    assert any("no item has a reference_answer" in one for one in told)
    assert "correct, abstained, hallucinated: no item has a fact" in told
