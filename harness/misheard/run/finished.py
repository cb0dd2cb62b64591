"""What a finished run says: its report and its counts. Only report files are read: no text, no model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from misheard.command_lines import path_argument
from misheard.errors import IncompleteRunError, NotComparableError
from misheard.metrics.base import Family
from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.registry import SCORER_VERSION, ScoringSettings, families
from misheard.metrics.table import CountTable
from misheard.report.failures import failures_document
from misheard.report.files import ITEMS, read_items_parquet, read_report
from misheard.report.items import items_document
from misheard.report.items_parquet import read_scorer_sha256
from misheard.run.directory import RunDirectory
from misheard.run.scorers import difference
from misheard.stats.estimates import family_arms
from misheard.stats.pairing import check_same_items


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run directory that was scored: its report, the families that it was counted in, its counts."""

    path: Path
    report: dict[str, Any]
    families: tuple[Family, ...]
    table: CountTable


def read_finished_run(path: Path) -> FinishedRun:
    """Return what a run directory's report.json and items.parquet hold.

    Raises IncompleteRunError for a run that is not complete or has no report, and for files of different
    runs; NotComparableError where another version of misheard scored it; InputError for damaged files.
    """
    run = RunDirectory.open(path).read_complete_run()
    report = read_report(path)
    active = scored_families(path, report)
    if read_scorer_sha256(path / ITEMS) != str(report["scorer"].get("sha256", "")):
        raise IncompleteRunError(
            f"{path}: report.json and {ITEMS} are of two scorings; score it again: "
            f"misheard score {path_argument(path)}"
        )
    table = read_items_parquet(path / ITEMS, active)
    _check_one_run(path, run, report, active, table)
    return FinishedRun(path, report, active, table)


def _check_one_run(
    path: Path, run: dict[str, Any], report: dict[str, Any], families: Sequence[Family], table: CountTable
) -> None:
    """Raise IncompleteRunError unless run.json, report.json and items.parquet say the same of the same run.

    Files that were copied between runs, or edited, would otherwise be judged under another run's name.
    """
    check_report_of_run(path, run, report)
    if not _has_figures_of(report, families, table):
        raise IncompleteRunError(
            f"{path}: report.json and {ITEMS} are not of the same run; score it again: "
            f"misheard score {path_argument(path)}"
        )


def check_report_of_run(path: Path, run: dict[str, Any], report: dict[str, Any]) -> None:
    """Raise IncompleteRunError unless report.json is of the system and the suite of run.json."""
    suite = report["suite"].get("sha256"), run["suite"].get("sha256")
    if report["system"] != run["system"] or suite[0] != suite[1]:
        raise IncompleteRunError(
            f"{path}: report.json is not of this run; score it again: misheard score {path_argument(path)}"
        )


def _has_figures_of(report: dict[str, Any], families: Sequence[Family], table: CountTable) -> bool:
    """Whether a report has the items, failures and sums of counts of a table."""
    if report["items"] != items_document(table.items) or report["failures"] != failures_document(table):
        return False
    if list(report["arms"]) != list(map(str, table.arms)):
        return False
    sums = {
        (str(arm), rate.name): (family.columns, counts.values[counts.present].sum(axis=0))
        for family, arm, counts in family_arms(table, families)
        for rate in family.rates
    }
    return all(
        np.allclose([estimate["counts"][name] for name in columns], expected, rtol=1e-9, atol=1e-9)
        for arm, metrics in report["arms"].items()
        for metric, estimate in metrics.items()
        for columns, expected in [sums[arm, metric]]
    )


def read_other_run(path: Path, first: FinishedRun) -> FinishedRun:
    """Return a run over the items of another, scored in the same way.

    Raises NotComparableError where items or scorers differ, naming what does, and as `read_finished_run`.
    """
    other = read_finished_run(path)
    check_same_items(first.table.items, other.table.items)
    check_same_scorer(first, other)
    return other


def scored_families(path: Path, report: dict[str, Any]) -> tuple[Family, ...]:
    """Return the families that a report was counted in. Raises NotComparableError for another version's."""
    scorer = report["scorer"]
    if scorer.get("version") != SCORER_VERSION:
        raise NotComparableError(
            f"{path}: was scored by another version of misheard; score it again: "
            f"misheard score {path_argument(path)}"
        )
    content = SuiteContent.from_json(scorer["content"])
    system = SystemContent.from_json(scorer.get("system", {}))
    return families(ScoringSettings(profile=scorer["profile"]), scorer["abstentions"], content, system)


def check_same_scorer(a: FinishedRun, b: FinishedRun) -> None:
    """Raise NotComparableError unless two runs were scored in the same way, naming what differs.

    What there is of each system only says which families there are; those of one run alone are not compared.
    So it is with a judge that one run alone has.
    """
    first, second = a.report["scorer"], b.report["scorer"]
    apart = {"sha256", "system"} | ({"judge"} - (first.keys() & second.keys()))
    keys = sorted(k for k in {*first, *second} - apart if first.get(k) != second.get(k))
    if keys == ["judge"]:
        raise NotComparableError(
            f"{a.path} and {b.path} have scores of different judges; let one judge both, or score both "
            "without: misheard score RUN --set judge=null"
        )
    if keys:
        how = difference((a.path, first), (b.path, second), keys)
        raise NotComparableError(
            f"{a.path} and {b.path} were scored differently: {how} (misheard compare --rescore counts both "
            "alike and changes no report)"
        )
