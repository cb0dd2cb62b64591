"""Run directories set beside a baseline: their report files are read, or their journals are counted again.

Which transcripts differ is read from the journals either way.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from misheard.config import RunConfig, parse_config
from misheard.errors import InputError
from misheard.metrics.base import Arm, Family
from misheard.report.comparison import ComparedPair, build_comparison
from misheard.report.labels import metric_suggestion
from misheard.run.directory import RunDirectory
from misheard.run.finished import FinishedRun, check_same_scorer, read_finished_run
from misheard.run.scoring import count_journal, run_timings
from misheard.run.side_by_side import Side, compare_machines, compare_transcripts, read_side
from misheard.stats.compare import EVERYTHING, Comparison, Selection, adjust_together, compare_tables
from misheard.stats.pairing import check_same_items
from misheard.stats.selection import where_rows
from misheard.suite.problems import shown


def compare_runs(
    baseline: Path,
    others: Sequence[Path],
    selection: Selection = EVERYTHING,
    *,
    resamples: int,
    seed: int,
    rescore: bool = False,
) -> dict[str, Any]:
    """Return the comparisons of runs with a baseline as JSON values.

    Where metrics are chosen, the p-values over all pairs are adjusted by Holm for all of them together, for
    all runs and for the chosen arms, without the control arm where none is chosen.

    Args:
        baseline: the directory of run A.
        others: the directories that each are B in turn.
        selection: what is compared.
        resamples: of the bootstrap.
        seed: of the bootstrap and of the sign-flip test.
        rescore: count the journals of all runs again, as the baseline's config says, and write nothing.

    Raises NotComparableError where suites or scorers differ, naming what does; IncompleteRunError for a run
    that has no report, or cannot be scored; InputError for a selection of what does not exist.
    """
    paths = [baseline, *others]
    first, *rest = _recounted(paths) if rescore else [read_finished_run(path) for path in paths]
    _check_arms(selection, [first, *rest])
    for other in rest:
        check_same_items(first.table.items, other.table.items)
        check_same_scorer(first, other)
    _check_selection(selection, first)
    comparisons = [
        compare_tables(
            first.table,
            other.table,
            first.families,
            axes=first.report["axes"],
            selection=selection,
            resamples=resamples,
            seed=seed,
        )
        for other in rest
    ]
    if selection.metrics:
        arms = selection.arms or (Arm.AUDIO, Arm.TRANSCRIPT)
        comparisons = list(adjust_together(comparisons, arms))
    side, chosen = read_side(first), _chosen_ids(selection, first)
    return build_comparison(
        [
            _pair(comparison, first, other, side, chosen)
            for comparison, other in zip(comparisons, rest, strict=True)
        ],
        suite=first.report["suite"],
        scorer=first.report["scorer"],
        primary_metrics=first.report["primary_metrics"],
        selection=selection,
        rescored=rescore,
    )


def _pair(
    comparison: Comparison, first: FinishedRun, other: FinishedRun, side: Side, chosen: Collection[str]
) -> ComparedPair:
    other_side = read_side(other)
    return ComparedPair(
        comparison,
        _description(first),
        _description(other),
        compare_machines(side, other_side),
        compare_transcripts(side, other_side, chosen, first.report["scorer"]["profile"]),
    )


def _chosen_ids(selection: Selection, run: FinishedRun) -> set[str]:
    rows = where_rows(run.table.items, run.report["axes"], selection.where)
    return {item.id for item, is_chosen in zip(run.table.items, rows, strict=True) if is_chosen}


def _description(run: FinishedRun) -> dict[str, Any]:
    return {"run": run.path.name, "system": run.report["system"]}


def _recounted(paths: Sequence[Path]) -> list[FinishedRun]:
    """Return runs counted from their journals as the first one's config says."""
    directories = [RunDirectory.open(path) for path in paths]
    first = directories[0]
    overrides = _scoring_options(parse_config(str(first.run_json), first.read_run()["config"], ()))
    return [_recount(directory, overrides) for directory in directories]


def _scoring_options(config: RunConfig) -> list[str]:
    return [
        f"scoring.profile={config.scoring.profile}",
        f"scoring.response_scorer={config.scoring.response_scorer}",
        f"on_failure={config.on_failure}",
    ]


def _recount(directory: RunDirectory, overrides: Sequence[str]) -> FinishedRun:
    counted = count_journal(directory, overrides)
    report = {
        "suite": counted.suite_description,
        "system": counted.run["system"],
        "scorer": counted.scorer,
        "axes": {axis: list(values) for axis, values in counted.suite.axes.items()},
        "primary_metrics": dict(counted.suite.primary_metrics),
        "timings": run_timings(directory, counted),
    }
    return FinishedRun(directory.root, report, counted.families, counted.table)


def _check_arms(selection: Selection, runs: Sequence[FinishedRun]) -> None:
    """Raise InputError for an arm that a run does not have."""
    for run in runs:
        for arm in selection.arms:
            if arm not in run.table.arms:
                raise InputError(
                    f"--arm {arm}: {run.path} was not run in it; it has {', '.join(run.table.arms)}"
                )


def _check_selection(selection: Selection, run: FinishedRun) -> None:
    """Raise InputError for metrics that were not counted, and for conditions that no item fulfils."""
    known = _metric_names(run.families, selection)
    for option, names in (("--metric", selection.metrics), ("--margin", selection.margins)):
        for name in names:
            if name not in known:
                hint = metric_suggestion(name, known)
                raise InputError(f"{option} names the unknown metric {shown(name)}{hint}")
    rows = where_rows(run.table.items, run.report["axes"], selection.where)
    if rows.size and not np.any(rows):
        text = ",".join(map(str, selection.where))
        raise InputError(f"--where {shown(text)}: none of the {rows.size} items; choose other values")


def _metric_names(families: Sequence[Family], selection: Selection) -> Collection[str]:
    """Return the names of the rates that the chosen arms have."""
    return [
        rate.name
        for family in families
        if not selection.arms or not set(family.arms).isdisjoint(selection.arms)
        for rate in family.rates
    ]
