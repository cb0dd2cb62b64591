"""Two run directories set side by side. Only report files are read: no text, no model."""

from pathlib import Path
from typing import Any

from misheard.errors import IncompleteRunError, NotComparableError
from misheard.metrics.registry import ScoringSettings, families
from misheard.report.comparison import build_comparison
from misheard.report.files import read_items_parquet, read_report
from misheard.run.directory import RunDirectory
from misheard.stats.compare import compare_tables


def compare_runs(a: Path, b: Path, resamples: int, seed: int) -> dict[str, Any]:
    """Return the comparison of run B with run A as JSON values.

    Raises NotComparableError where suites or scorers differ, naming what does, and IncompleteRunError for a
    run that has no report.
    """
    reports = {path: _finished(path) for path in (a, b)}
    scorers = [report["scorer"] for report in reports.values()]
    if scorers[0] != scorers[-1]:
        keys = sorted(k for k in {*scorers[0], *scorers[-1]} if scorers[0].get(k) != scorers[-1].get(k))
        raise NotComparableError(
            f"{a} and {b} were scored differently ({', '.join(keys)}); "
            "score both with the same version and settings: misheard score RUN"
        )
    scorer = scorers[0]
    active = families(ScoringSettings(profile=scorer["profile"]), scorer["abstentions"])
    tables = [read_items_parquet(path / "items.parquet", active) for path in (a, b)]
    comparison = compare_tables(
        tables[0], tables[1], active, axes=reports[a]["axes"], resamples=resamples, seed=seed
    )
    return build_comparison(
        comparison,
        suite=reports[a]["suite"],
        scorer=scorer,
        a=_side(a, reports[a]),
        b=_side(b, reports[b]),
    )


def _finished(path: Path) -> dict[str, Any]:
    run = RunDirectory.open(path).read_run()
    if run["status"] != "complete":
        raise IncompleteRunError(f"{path}: the run is not complete; go on with --out {path} --resume")
    return read_report(path)


def _side(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    return {"run": path.name, "system": report["system"]}
