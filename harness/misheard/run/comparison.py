"""Two run directories set side by side. Only report files are read: no text, no model."""

from pathlib import Path
from typing import Any

from misheard.errors import IncompleteRunError, NotComparableError
from misheard.metrics.base import Family
from misheard.metrics.content import SuiteContent
from misheard.metrics.registry import SCORER_VERSION, ScoringSettings, families
from misheard.metrics.table import CountTable
from misheard.report.comparison import build_comparison
from misheard.report.files import read_items_parquet, read_report
from misheard.run.directory import RunDirectory
from misheard.stats.compare import compare_tables
from misheard.stats.pairing import check_same_items


def compare_runs(a: Path, b: Path, resamples: int, seed: int) -> dict[str, Any]:
    """Return the comparison of run B with run A as JSON values.

    Raises NotComparableError where suites or scorers differ, naming what does, and IncompleteRunError for a
    run that has no report.
    """
    report_a, report_b = _finished(a), _finished(b)
    active, table_a = _counts(a, report_a)
    _, table_b = _counts(b, report_b)
    check_same_items(table_a.items, table_b.items)
    _check_scorers(a, b, report_a["scorer"], report_b["scorer"])
    comparison = compare_tables(
        table_a, table_b, active, axes=report_a["axes"], resamples=resamples, seed=seed
    )
    return build_comparison(
        comparison,
        suite=report_a["suite"],
        scorer=report_a["scorer"],
        a=_side(a, report_a),
        b=_side(b, report_b),
    )


def _counts(path: Path, report: dict[str, Any]) -> tuple[tuple[Family, ...], CountTable]:
    scorer = report["scorer"]
    if scorer.get("version") != SCORER_VERSION:
        raise NotComparableError(
            f"{path}: was scored by another version of misheard; score it again: misheard score {path}"
        )
    content = SuiteContent.from_json(scorer["content"])
    active = families(ScoringSettings(profile=scorer["profile"]), scorer["abstentions"], content)
    return active, read_items_parquet(path / "items.parquet", active)


def _check_scorers(a: Path, b: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    keys = sorted(k for k in {*first, *second} - {"sha256"} if first.get(k) != second.get(k))
    if keys:
        raise NotComparableError(
            f"{a} and {b} were scored differently: {', '.join(keys)}; score both in the same way with "
            "misheard score RUN --set scoring.NAME=VALUE (or on_failure=VALUE)"
        )


def _finished(path: Path) -> dict[str, Any]:
    run = RunDirectory.open(path).read_run()
    if run["status"] != "complete":
        raise IncompleteRunError(f"{path}: the run is not complete; go on with --out {path} --resume")
    return read_report(path)


def _side(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    return {"run": path.name, "system": report["system"]}
