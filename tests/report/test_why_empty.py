"""Metrics without a value: what is said in place of an empty table, and why."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table, with_counts
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.power import Question, build_power
from misheard.report.selection import MatrixChoice, build_matrix
from misheard.report.terminal import render_power, render_report, render_selection
from misheard.report.why_empty import why_empty

WHOLE = make_table(8, 8)


def without(table: CountTable, *names: str) -> CountTable:
    """Return a table in which no item counts in some families."""
    for arm, part in table.arms.items():
        for name in names:
            if name in part.counts:
                none = replace(
                    part.counts[name],
                    values=np.zeros_like(part.counts[name].values),
                    present=np.zeros_like(part.counts[name].present),
                )
                table = with_counts(table, arm, name, none)
    return table


def report_of(table: CountTable, model: bool) -> dict[str, Any]:
    return build_report(
        table, FAMILIES, suite={"name": "made-up"}, system={}, scorer={"sha256": "0" * 64}, timings=None,
        axes=AXES, primary_metrics={"en": "wer"}, resamples=100,
        run={"language_model": model, "planner": False},
    )  # fmt: skip


def shown(renderable: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=100, highlight=False).print(renderable)
    return out.getvalue()


@pytest.mark.parametrize(
    ("family", "all_failed", "run", "why"),
    [
        ("response", False, {"language_model": False}, "the run has no language model"),
        ("response", False, {"language_model": True}, "no item has a reference_answer"),
        ("response", True, {"language_model": True}, "every item failed"),
        ("answer_class", False, None, "no item has a fact"),
        ("scene", False, {"planner": False}, "the run has no planner"),
        ("scene", False, {"planner": True}, "no item has a golden plan"),
        ("wer_devanagari", False, {"language_model": False}, "no item counts in it"),
    ],
)
def test_reasons(family: str, all_failed: bool, run: dict[str, bool] | None, why: str) -> None:
    assert why_empty(family, run, all_failed=all_failed) == why


@pytest.mark.parametrize(
    ("table", "model", "metrics", "said", "has_matrix"),
    [
        (without(WHOLE, "response"), False, ["response_quality"],
         "no value of answer quality: the run has no language model", False),
        (without(WHOLE, "answer_class"), True, ["correct_rate", "wer"],
         "no value of correct: no item has a fact", True),
        (WHOLE, True, ["correct_rate", "wer"], None, True),
    ],
)  # fmt: skip
def test_a_chosen_metric_without_a_value_says_why(
    table: CountTable, model: bool, metrics: list[str], said: str | None, has_matrix: bool
) -> None:
    report = report_of(table, model)
    matrix = build_matrix(table, FAMILIES, report, MatrixChoice(metrics=tuple(metrics)))
    text = shown(render_selection(matrix))
    assert [line for line in text.splitlines() if line.startswith("no value")] == ([said] if said else [])
    assert ("By condition" in text) == has_matrix
    assert len(matrix["without_value"]) == (said is not None)


def test_a_row_without_pairs_says_why() -> None:
    text = shown(render_report(report_of(without(WHOLE, "answer_class"), model=True)))
    assert "correct, abstained, hallucinated: no item has a fact" in text
    assert "no item has a fact" not in shown(render_report(report_of(WHOLE, model=True)))


def test_a_plan_leaves_out_what_no_item_counts_in_and_says_so() -> None:
    table = without(WHOLE, "response", "answer_class")
    report = report_of(table, model=False)
    plan = build_power(table, FAMILIES, report, Question(0.8, None, (), Arm.AUDIO, ()))
    assert {one["metric"] for one in plan["plans"]} > {"wer"}
    text = shown(render_power(plan))
    assert "left out, because the run has no items for them: " in text and "no items\n" not in text
    assert "word error rate" in text
