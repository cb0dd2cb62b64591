"""A matrix of chosen items: cells by combinations of conditions, filtered, as one deterministic document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.errors import InputError
from misheard.metrics.base import Family
from misheard.metrics.table import CountTable, ItemInfo
from misheard.report.items import failed_anywhere, items_document
from misheard.report.labels import metric_suggestion
from misheard.report.matrix import LANGUAGE_AXIS, matrix_documents, worst_cells
from misheard.report.values import Document
from misheard.report.why_empty import without_value
from misheard.stats.estimates import Estimator
from misheard.stats.selection import Condition, slices_by, where_rows
from misheard.stats.slices import KIND_AXIS, Slice, slice_items
from misheard.suite.items import ItemKind
from misheard.suite.problems import shown

FORMAT = "misheard-matrix"
FORMAT_VERSION = 1

MAX_RESAMPLES = 1_000_000


@dataclass(frozen=True, slots=True)
class MatrixChoice:
    """Which cells of which items, in which metrics.

    Attributes:
        by: combinations of axes, a cell per combination of their values; empty for each declared axis.
        where: conditions that every item fulfils.
        metrics: names of metrics; empty for all.
    """

    by: tuple[tuple[str, ...], ...] = ()
    where: tuple[Condition, ...] = ()
    metrics: tuple[str, ...] = ()


def build_matrix(
    table: CountTable, families: Sequence[Family], report: Document, choice: MatrixChoice
) -> Document:
    """Return the matrix of chosen items as JSON values, described by `matrix.schema.json`.

    A cell of the report that is chosen again has the same numbers. Declared combinations without items are
    there, except where the filter rules them out.

    Args:
        table: the run's counts.
        families: as the run was scored.
        report: of the run; suite, axes, scorer and the settings of the bootstrap come from it.
        choice: what to show.

    Raises InputError for an axis, a value or a metric that is not there, and where no item is chosen, and
    ValueError for a report with other settings than a run can have.
    """
    axes = report["axes"]
    chosen = where_rows(table.items, axes, choice.where)
    if not chosen.any():
        filters = ",".join(map(str, choice.where))
        raise InputError(f"--where {filters}: no item has these conditions; there is nothing to show")
    cells = [cell for by in choice.by for cell in slices_by(table.items, axes, by)]
    cells = cells if choice.by else list(slice_items(table.items, axes))
    left = [Slice(c.conditions, c.rows & chosen) for c in cells if _is_left(c, choice.where)]
    slices = [cell for cell in left if cell.items or _is_declared(cell, axes)]
    settings = report["statistics"]
    if not 1 <= settings["resamples"] <= MAX_RESAMPLES or settings["seed"] < 0:
        raise ValueError("the settings of the bootstrap are none that a run can have")
    estimator = Estimator(table, families, settings["resamples"], settings["seed"])
    primary = report["primary_metrics"]
    items = [table.items[place] for place in np.flatnonzero(chosen).tolist()]
    matrix = matrix_documents(table, estimator, slices, primary, _shared_language(items))
    metrics = _chosen_metrics(report["metrics"], choice.metrics)
    shown_cells = [
        {
            "conditions": dict(cell.conditions),
            **document,
            "estimates": _of_metrics(document["estimates"], metrics),
        }
        for cell, document in zip(slices, matrix, strict=True)
    ]
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "suite": report["suite"],
        "system": report["system"],
        "scorer": report["scorer"],
        "statistics": settings,
        "by": [list(axes) for axes in choice.by],
        "where": [str(condition) for condition in choice.where],
        "items": items_document(items),
        "samples_failed": int((failed_anywhere(table) & chosen).sum()),
        "metrics_chosen": bool(choice.metrics),
        "metrics": metrics,
        "without_value": without_value(report, metrics, shown_cells) if choice.metrics else [],
        "matrix": shown_cells,
        "worst_cells": _of_metrics(worst_cells(estimator, slices), metrics),
    }


def _is_left(cell: Slice, where: Sequence[Condition]) -> bool:
    """Whether a filter leaves a cell any items that it could have."""
    values = dict(cell.conditions)
    return all(
        condition.axis not in values or (values[condition.axis] in condition.values) != condition.negated
        for condition in where
    )


def _is_declared(cell: Slice, axes: Mapping[str, Sequence[str]]) -> bool:
    """Whether the suite says that there may be such items."""
    kinds = [str(kind) for kind in ItemKind]
    return all(value in axes.get(axis, kinds if axis == KIND_AXIS else ()) for axis, value in cell.conditions)


def _shared_language(items: Sequence[ItemInfo]) -> str | None:
    """Return the language of all items, where they share one."""
    languages = {item.conditions.get(LANGUAGE_AXIS) for item in items}
    return languages.pop() if len(languages) == 1 else None


def _chosen_metrics(known: Sequence[Document], names: Sequence[str]) -> list[Document]:
    scored = [metric["metric"] for metric in known]
    for name in names:
        if name not in scored:
            hint = metric_suggestion(name, scored)
            raise InputError(f"--metric {shown(name)}: the run has no such metric{hint}")
    return [metric for metric in known if not names or metric["metric"] in names]


def _of_metrics(documents: Sequence[Document], metrics: Sequence[Document]) -> list[Document]:
    wanted = {(metric["family"], metric["metric"]) for metric in metrics}
    return [document for document in documents if (document["family"], document["metric"]) in wanted]
