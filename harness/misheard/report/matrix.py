"""The matrix, metric by condition: a cell per axis value, never a row over everything."""

from collections.abc import Mapping, Sequence

from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.items import failed_anywhere
from misheard.report.values import Document, estimate_document, size_flags
from misheard.stats.estimates import Estimate, Estimator
from misheard.stats.slices import Slice, failed_rows, items_sha256, unit_numbers

LANGUAGE_AXIS = "language"

_TIE = 1e-12
"""Rates at most this far apart are equal: sums of the same fractions may round differently."""


def matrix_documents(
    table: CountTable,
    estimator: Estimator,
    slices: Sequence[Slice],
    primary_metrics: Mapping[str, str],
    language: str | None = None,
) -> list[Document]:
    """Return a document per slice, in order, with the estimates of every metric and arm.

    `language` is that of slices without a condition on it, where all their items share one.
    """
    units = unit_numbers(table.items)
    failed = {arm: failed_rows(table, arm) for arm in table.arms}
    failed_any = failed_anywhere(table)
    return [
        {
            "axis": cell.axis,
            "value": cell.value,
            "items": cell.items,
            "items_sha256": items_sha256(table.items, cell.rows),
            "units": len(set(units[cell.rows].tolist())),
            "failed": {str(arm): int((rows & cell.rows).sum()) for arm, rows in failed.items()},
            "samples_failed": int((failed_any & cell.rows).sum()),
            "flags": size_flags(cell.items, len(set(units[cell.rows].tolist()))),
            "estimates": [
                _cell_estimate(estimate, _primary(cell, primary_metrics, language))
                for estimate in estimator.estimate(cell.rows)
            ],
        }
        for cell in slices
    ]


def _primary(cell: Slice, primary_metrics: Mapping[str, str], language: str | None) -> str | None:
    spoken = dict(cell.conditions).get(LANGUAGE_AXIS, language)
    return None if spoken is None else primary_metrics.get(spoken)


def _cell_estimate(estimate: Estimate, primary: str | None) -> Document:
    document = {
        "family": estimate.family,
        "metric": estimate.metric,
        "arm": str(estimate.arm),
        **estimate_document(estimate),
    }
    if estimate.metric == primary:
        document["flags"] = [*document["flags"], "primary"]
    return document


def worst_cells(estimator: Estimator, slices: Sequence[Slice]) -> list[Document]:
    """Return, per metric and arm with a better direction, the cell where it is worst, and all equal ones.

    Only axes on which at least two cells have a value can have a worst one. Where every such cell is equal,
    none is worst.
    """
    found: dict[tuple[str, str, Arm], list[tuple[Slice, Estimate]]] = {}
    for cell in slices:
        for estimate in estimator.estimate(cell.rows):
            cells = found.setdefault((estimate.family, estimate.metric, estimate.arm), [])
            if estimate.value is not None and estimate.better is not None:
                cells.append((cell, estimate))
    return [
        _worst_document(cell, estimate)
        for cells in found.values()
        for cell, estimate in _worst(_with_a_rival(cells))
    ]


def _with_a_rival(cells: Sequence[tuple[Slice, Estimate]]) -> list[tuple[Slice, Estimate]]:
    axes = [cell.axis for cell, _ in cells]
    return [(cell, estimate) for cell, estimate in cells if axes.count(cell.axis) > 1]


def _worst(cells: Sequence[tuple[Slice, Estimate]]) -> list[tuple[Slice, Estimate]]:
    badness = [_badness(estimate) for _, estimate in cells]
    if not badness or max(badness) - min(badness) <= _TIE:
        return []
    return [pair for pair, one in zip(cells, badness, strict=True) if max(badness) - one <= _TIE]


def _worst_document(cell: Slice, worst: Estimate) -> Document:
    return {
        "family": worst.family,
        "metric": worst.metric,
        "arm": str(worst.arm),
        "axis": cell.axis,
        "value": cell.value,
        "rate": worst.value,
        "n": worst.n,
        "units": worst.units,
        "flags": size_flags(worst.n, worst.units),
    }


def _badness(estimate: Estimate) -> float:
    value = estimate.value if estimate.value is not None else 0.0
    return value if estimate.better == "lower" else -value
