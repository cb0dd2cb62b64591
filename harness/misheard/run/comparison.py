"""Two run directories set side by side. Only report files are read: no text, no model."""

from pathlib import Path
from typing import Any

from misheard.errors import NotComparableError
from misheard.report.comparison import build_comparison
from misheard.run.finished import read_finished_run
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
    _check_scorers(a, b, report_a["scorer"], report_b["scorer"])
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


def _check_scorers(a: Path, b: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    keys = sorted(k for k in {*first, *second} - {"sha256"} if first.get(k) != second.get(k))
    if keys:
        raise NotComparableError(
            f"{a} and {b} were scored differently: {', '.join(keys)}; score both in the same way with "
            "misheard score RUN --set scoring.NAME=VALUE (or on_failure=VALUE)"
        )


def _side(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    return {"run": path.name, "system": report["system"]}
