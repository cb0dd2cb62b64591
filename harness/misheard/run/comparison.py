"""Two run directories set side by side. Only report files are read: no text, no model."""

from pathlib import Path
from typing import Any

from misheard.report.comparison import build_comparison
from misheard.run.finished import check_same_scorer, read_finished_run
from misheard.stats.compare import compare_tables
from misheard.stats.pairing import check_same_items


def compare_runs(a: Path, b: Path, resamples: int, seed: int) -> dict[str, Any]:
    """Return the comparison of run B with run A as JSON values.

    Raises NotComparableError where suites or scorers differ, naming what does, and IncompleteRunError for a
    run that has no report.
    """
    first, second = read_finished_run(a), read_finished_run(b)
    report_a, report_b = first.report, second.report
    check_same_items(first.table.items, second.table.items)
    check_same_scorer(first, second)
    comparison = compare_tables(
        first.table,
        second.table,
        first.families,
        axes=report_a["axes"],
        resamples=resamples,
        seed=seed,
    )
    return build_comparison(
        comparison,
        suite=report_a["suite"],
        scorer=report_a["scorer"],
        a=_side(a, report_a),
        b=_side(b, report_b),
    )


def _side(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    return {"run": path.name, "system": report["system"]}
