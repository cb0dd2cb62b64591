"""The matrix on a terminal: a row per metric, a column per condition cell."""

import json
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    deciding,
    format_interval,
    format_value,
    is_shown_by_condition,
    label,
    plain,
    section,
)
from misheard.report.terminal_cells import Column, Row, cell_tables, dim, heading, sized
from misheard.report.values import Document


def matrix_block(report: Document, width: int, marks: Marks) -> RenderableType:
    """Return the metrics of the audio arm by condition, a column per cell."""
    cells = distinct_cells(report["matrix"], "estimates")
    columns = [_column(same, unit_noun(report)) for same in cells]
    rows = list(_matrix_rows(report, [same[0] for same in cells], marks))
    return Group(
        heading("By condition", f"audio arm; interval below; {marks.worst} worst cell of a row"),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def spaced(tables: Iterable[Table]) -> Iterator[RenderableType]:
    """Yield tables with an empty line between them."""
    for place, table in enumerate(tables):
        if place:
            yield Text("")
        yield table


def distinct_cells(cells: Sequence[Document], numbers: str) -> list[list[Document]]:
    """Return the cells, those with the same `numbers` together: axes with one value repeat one another."""
    same: dict[str, list[Document]] = {}
    for cell in cells:
        values = [
            {**entry, "flags": [flag for flag in entry["flags"] if flag != "primary"]}
            for entry in cell[numbers]
        ]
        key = json.dumps([cell["items"], values], sort_keys=True)
        same.setdefault(key if cell["items"] else f"{cell['axis']}={cell['value']}", []).append(cell)
    return list(same.values())


def unit_noun(report: Document) -> str:
    """Return what a report's units are called: sessions, unless some items have none."""
    return "unit" if report["items"]["without_session"] else "session"


def _column(cells: Sequence[Document], noun: str) -> Column:
    first = cells[0]
    sizes = ["no items"]
    if first["items"]:
        failed = max(first["failed"].values(), default=0)
        sizes = [count_of(first["items"], "item"), count_of(first["units"], noun), f"{failed} failed"]
    return Column(
        axes=tuple(plain(cell["axis"]) for cell in cells),
        values=tuple("(none)" if cell["value"] is None else plain(cell["value"]) for cell in cells),
        sizes=tuple(sizes),
    )


def _matrix_rows(report: Document, cells: Sequence[Document], marks: Marks) -> Iterator[Row]:
    worst = {
        (entry["metric"], entry["arm"]): (entry["axis"], entry["value"]) for entry in report["worst_cells"]
    }
    title: tuple[str, tuple[str, ...]] | None = None
    for metric in _shown_metrics(report):
        name = metric["metric"]
        estimates = [_find(cell, metric) for cell in cells]
        if all(estimate is None or estimate["n"] + estimate["failed"] == 0 for estimate in estimates):
            continue
        sizes = tuple(
            "" if estimate is None or not estimate["n"] else f"n {sized(estimate)}" for estimate in estimates
        )
        if title != (section(metric["family"], "audio"), sizes):
            title = (section(metric["family"], "audio"), sizes)
            yield Row(title[0], tuple(dim(size) if size else None for size in sizes), is_section=True)
        at_worst = worst.get((name, "audio"))
        values = tuple(
            _matrix_value(estimate, name, (cell["axis"], cell["value"]) == at_worst, marks)
            for cell, estimate in zip(cells, estimates, strict=True)
        )
        is_primary = any(estimate is not None and "primary" in estimate["flags"] for estimate in estimates)
        yield Row(f"{label(name)}{f' {marks.primary}' if is_primary else ''}", values)


def _shown_metrics(report: Document) -> list[Document]:
    """Return the metrics of the audio arm, losses first."""
    shown = [
        metric
        for metric in report["metrics"]
        if "audio" in metric["arms"] and is_shown_by_condition(metric["metric"])
    ]
    return sorted(shown, key=lambda metric: metric["relative_to"] is None)


def _find(cell: Document, metric: Document) -> Document | None:
    wanted = (metric["family"], metric["metric"], "audio")
    for estimate in cell["estimates"]:
        if (estimate["family"], estimate["metric"], estimate["arm"]) == wanted:
            found: Document = estimate
            return found
    return None


def _matrix_value(estimate: Document | None, metric: str, is_worst: bool, marks: Marks) -> Text | None:
    if estimate is None or estimate["value"] is None:
        return None
    text = Text(justify="right")
    if is_worst:
        text.append(f"{marks.worst} ", style="bold red")
    text.append(format_value(metric, estimate["value"], marks), style="bold red" if is_worst else "")
    interval = format_interval(metric, deciding(estimate), marks)
    return text.append(f"\n{interval}", style="dim") if interval else text
