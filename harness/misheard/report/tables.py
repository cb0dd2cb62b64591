"""CSV tables: matrix.csv and failures.csv, safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence

from misheard.metrics.table import CountTable
from misheard.report.failures import failure_rows
from misheard.report.labels import rate_interval
from misheard.report.values import Document

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

MATRIX_COLUMNS = (
    "axis",
    "value",
    "family",
    "metric",
    "arm",
    "rate",
    "low",
    "high",
    "n",
    "units",
    "failed",
    "reason",
    "flags",
    "counts",
)
FAILURE_COLUMNS = ("item", "arm", "stage", "kind", "detail")


def matrix_csv(report: Document) -> str:
    """Return the matrix of a report, a row per cell, metric and arm.

    `low` and `high` are the deciding interval as the terminal shows it (see `rate_interval`): empty under 6
    units, and within what the rate can reach. `counts` are the sums that the rate is made from, as
    `errors=3 points=5`.
    """
    return _table(
        MATRIX_COLUMNS,
        (
            (safe_text(cell["axis"]), safe_text(cell["value"] or ""), *_estimate_fields(estimate))
            for cell in report["matrix"]
            for estimate in cell["estimates"]
        ),
    )


def selection_csv(matrix: Document) -> str:
    """Return a matrix by one combination of axes (see `misheard.report.selection`), with a column per axis.

    By none or by several it has the columns of `matrix_csv`. An empty value stands for items without one.
    """
    if len(matrix["by"]) != 1:
        return matrix_csv(matrix)
    (axes,) = matrix["by"]
    return _table(
        (*(f"condition.{axis}" for axis in axes), *MATRIX_COLUMNS[2:]),
        (
            (
                *(safe_text(cell["conditions"][axis] or "") for axis in axes),
                *_estimate_fields(estimate),
            )
            for cell in matrix["matrix"]
            for estimate in cell["estimates"]
        ),
    )


def _estimate_fields(estimate: Document) -> tuple[object, ...]:
    return (
        estimate["family"],
        estimate["metric"],
        estimate["arm"],
        estimate["value"],
        *(rate_interval(estimate["metric"], estimate) or (None, None)),
        estimate["n"],
        estimate["units"],
        estimate["failed"],
        estimate["reason"],
        " ".join(estimate["flags"]),
        " ".join(f"{name}={value}" for name, value in estimate["counts"].items()),
    )


def failures_csv(table: CountTable) -> str:
    """Return every failure, one row per item and arm; without any, the header alone."""
    return _table(
        FAILURE_COLUMNS,
        (
            (item, str(arm), failure.stage, str(failure.kind), safe_text(failure.detail))
            for item, arm, failure in failure_rows(table)
        ),
    )


def safe_text(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula: one that could be gets an apostrophe in front.

    Lone surrogates, which no file can hold, are written as escapes.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
