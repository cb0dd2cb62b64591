"""What a page leaves out where a run has very much, and that it says so; what is worst is never left out."""

import copy
from dataclasses import replace

import pytest
from hostile_pages import KEY, entry, gate_check, hostile_comparison
from hostile_run import AXIS, hostile_documents, hostile_table

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.html import (
    comparison_page,
    index_page,
    run_distributions,
    run_failures,
    run_matrix,
    run_verdict,
)
from misheard.report.html.index_documents import Index
from misheard.report.html.page import Filters, Page, Panels, Prose, Section, Table
from misheard.report.html.render import render
from misheard.report.html.run_facts import configuration_section, reproduce_section
from misheard.report.html.run_highlights import named_cells
from misheard.report.html.run_matrix import matrix_section, shown_groups
from misheard.report.html.run_matrix_cells import estimate_in
from misheard.report.html.run_verdict import verdict_section
from misheard.report.values import Document


def wide_report(values: int) -> Document:
    """Return a report with so many values of one more axis, the last of which is a worst cell."""
    report = hostile_documents().report
    cell = next(cell for cell in report["matrix"] if cell["axis"] == AXIS)
    names = [f"{number:04d}{'x' * 76}" for number in range(values)]
    cells = [{**cell, "axis": "wide", "value": name, "items_sha256": name} for name in names]
    worst = {**report["worst_cells"][0], "axis": "wide", "value": names[-1]}
    return {
        **report,
        "matrix": [*report["matrix"], *cells],
        "worst_cells": [*report["worst_cells"], worst],
    }


def prose(section: Section) -> str:
    return " ".join(text for block in section.blocks if isinstance(block, Prose) for text in block.sentences)


def test_of_very_many_conditions_the_worst_are_kept() -> None:
    report = wide_report(300)
    section = matrix_section(report)
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    assert len(table.rows) == 240 and "68 more conditions are in matrix.csv" in prose(section)
    kept = {(axis, value) for row in table.rows for axis, value in row.conditions.items()}
    assert {(one["axis"], one["value"]) for one in report["worst_cells"] if one["arm"] == "audio"} <= kept
    (filters,) = [block for block in section.blocks if isinstance(block, Filters)]
    assert {(axis, value) for axis, values in filters.axes.items() for value in values} == kept
    (panels,) = [block for block in section.blocks if isinstance(block, Panels)]
    tables = [block for panel in panels.panels for block in panel.blocks if isinstance(block, Table)]
    assert sum((len(one.columns) + 1) * len(one.rows) for one in tables) <= 4_000


def test_of_very_many_metrics_the_primary_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_matrix, "_MOST_CELLS", 0)
    report = copy.deepcopy(hostile_documents().report)
    (whole,) = [block for block in matrix_section(report).blocks if isinstance(block, Table)]
    last = next(one for one in report["metrics"] if one["metric"] == whole.columns[-1].key)
    for cell in report["matrix"]:
        if (estimate := estimate_in(cell, last, "audio")) is not None:
            estimate["flags"] = ["primary"]
    rows = len(shown_groups(report)[0])
    monkeypatch.setattr(run_matrix, "_LETTERS_OF_A_CELL", 10_000)
    monkeypatch.setattr(run_matrix, "_MOST_SEEN", 3 * rows)
    monkeypatch.setattr(run_distributions, "_MOST_FIGURES", 1)
    (table,) = [block for block in matrix_section(report).blocks if isinstance(block, Table)]
    assert table.columns[0] == whole.columns[0] and table.columns[1].mark is not None
    assert [column.key for column in table.columns] == [whole.columns[0].key, last["metric"]]
    assert table.notes[-1].endswith(" more metrics are in matrix.csv")
    (section,) = run_distributions.distributions_section(hostile_documents())
    assert "more metrics are in items.parquet" in prose(section)


def test_few_conditions_are_all_there() -> None:
    groups, more = shown_groups(wide_report(100))
    assert len(groups) == 108 and more == ""


def test_of_very_many_worst_cells_some_are_named() -> None:
    cells = [{"axis": "a", "value": str(number)} for number in range(2000)]
    assert named_cells(cells) == "a=0, a=1, a=2, a=3, a=4, a=5 and 1,994 more"
    assert named_cells([{"axis": "a", "value": None}]) == "a=(none)"


def slices(page: Page) -> Section:
    return next(section for section in page.sections if section.id == "slices")


def test_of_very_many_slices_the_worst_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_page, "_MOST_SLICES", 2)
    monkeypatch.setattr(comparison_page, "_MOST_ROWS", 3)
    documents = hostile_comparison()
    comparison = documents.document["comparisons"][0]
    last = comparison["cells"][-1]
    worst = [{**one, "axis": last["axis"], "value": last["value"]} for one in comparison["worst_cells"]]
    document = {**documents.document, "comparisons": [{**comparison, "worst_cells": worst}]}
    section = slices(comparison_page.comparison_page(replace(documents, document=document)))
    (panels,) = [block for block in section.blocks if isinstance(block, Panels)]
    (panel,) = panels.panels
    (table,) = [block for block in panel.blocks if isinstance(block, Table)]
    left = len(comparison["cells"]) - 2
    assert len(table.rows) == 3 and table.rows[-1].name == last["value"]
    assert f"{left} more slices are in the JSON" in prose(section) and "more metrics" in prose(section)


@pytest.mark.parametrize(("detail", "most"), [("", 20), ("x" * 200, 2)])
def test_failed_items_with_very_many_conditions_or_long_details_do_not_fill_the_page(
    monkeypatch: pytest.MonkeyPatch, detail: str, most: int
) -> None:
    monkeypatch.setattr(run_failures, "_MOST_LETTERS", 400)
    table = hostile_table()
    audio = table.arms[Arm.AUDIO]
    failure = Failure("recognize", FailureKind.ASR_ERROR, detail)
    failed = CountTable(
        table.items, {**table.arms, Arm.AUDIO: replace(audio, failures=(failure,) * len(table.items))}
    )
    documents = replace(hostile_documents(), table=failed)
    shown = run_failures.failures_section(documents).blocks[1]
    assert isinstance(shown, Table) and 1 <= len(shown.rows) <= most
    total = sum(one is not None for arm in failed.arms.values() for one in arm.failures)
    assert shown.notes == (f"and {total - len(shown.rows)} more in failures.csv",)


def test_of_very_many_checks_those_that_passed_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_verdict, "_MOST_CHECKS", 2)
    checks = [gate_check(id=f"c{n}", status=status) for n, status in enumerate(("pass", "pass", "fail"))]
    verdict = {"summary": "NO SHIP: x", "refusals": [], "notes": [], "checks": checks}
    (section,) = verdict_section(verdict)
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    assert [row.name for row in table.rows] == ["c0", "c2"] and table.notes[0].startswith("and 1 more")


def test_of_very_many_metrics_of_runs_those_that_most_have_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_page, "_MOST_FIGURES", 4)
    figure = entry(0).figures[KEY]
    runs = [
        entry(n, figures={(str(n), "wer"): figure, **({KEY: figure} if n else {})}, suite_name=str(n))
        for n in range(3)
    ]
    first = index_page.index_page(Index(tuple(runs), ())).sections[0].blocks[0]
    assert isinstance(first, Table) and [column.title for column in first.columns if column.group] == ["en"]
    assert first.notes[1].startswith("3 more metrics")


def test_names_and_values_of_a_megabyte_do_not_fill_the_page() -> None:
    long, documents = "w" * 1_000_000, hostile_documents()
    run = {
        **documents.run,
        "config": {"recognizer": {"kind": "fake", "model": long, "options": [long] * 3}, long: long},
        "suite": {"name": long, "path": long},
        "versions": {f"{number}{long}": long for number in range(2)},
        "machine": {str(number): "x" for number in range(1_200)},
    }
    sections = (configuration_section(named := replace(documents, run=run)), reproduce_section(named))
    html = render(Page(long, "Run", (long,), sections))
    assert len(html) < 250_000 and f"{'w' * 2_000}… (1,000,000 characters)" in html
    assert "700, in the files of the directory" in html and "take config out of run.json" in html
