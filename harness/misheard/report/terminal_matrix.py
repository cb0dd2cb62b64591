"""The matrix on a terminal: a row per metric, a column per condition cell."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    format_interval,
    format_value,
    is_shown_by_condition,
    label,
    plain,
    rate_interval,
    section,
    unit_noun,
)
from misheard.report.terminal_cells import Cell, Column, Row, cell_tables, dim, heading, sized
from misheard.report.values import Document
from misheard.stats.slices import KIND_AXIS

_CellName = tuple[str, str | None]


def matrix_block(
    report: Document, width: int, marks: Marks, title: str = "By condition", *, all_metrics: bool = False
) -> RenderableType:
    """Return the metrics of the audio arm by condition, a column per set of items.

    Args:
        report: a report, or a matrix of chosen items (see `misheard.report.selection`).
        width: of a line.
        marks: signs.
        title: of the block.
        all_metrics: whether metrics that only break others down have rows too.
    """
    groups = same_items(report["matrix"])
    columns = cell_columns(report, groups)
    rows = list(_matrix_rows(report, groups, marks, all_metrics=all_metrics))
    note = "audio arm; interval below"
    if has_worst_cell(report):
        note += f"; {marks.worst} worst cell of a row"
    return Group(
        heading(title, note, width),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def spaced(tables: Iterable[Table]) -> Iterator[RenderableType]:
    """Yield tables with an empty line between them."""
    for place, table in enumerate(tables):
        if place:
            yield Text("")
        yield table


def same_items(cells: Sequence[Document]) -> list[list[Document]]:
    """Return the cells, those that hold the very same items together; cells without items stay alone.

    A kind of items that a suite lacks is no condition that it asks for, and has no cell here.
    """
    groups: dict[object, list[Document]] = {}
    for place, cell in enumerate(cells):
        if cell["axis"] == KIND_AXIS and not cell["items"]:
            continue
        groups.setdefault(cell["items_sha256"] if cell["items"] else place, []).append(cell)
    return list(groups.values())


def names(cells: Sequence[Document]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the axes of cells and their values, as headings show them; those of a combination one by one."""
    pairs = [pair for cell in cells for pair in cell.get("conditions", {cell["axis"]: cell["value"]}).items()]
    return (
        tuple(plain(axis) for axis, _ in pairs),
        tuple("(none)" if value is None else plain(value) for _, value in pairs),
    )


def cell_columns(report: Document, groups: Sequence[Sequence[Document]]) -> list[Column]:
    """Return a heading per group of cells of a matrix that hold the same items."""
    return [_column(cells, unit_noun(report["items"])) for cells in groups]


def _column(cells: Sequence[Document], noun: str) -> Column:
    first = cells[0]
    sizes: tuple[str, ...] = ("no items",)
    if first["items"]:
        failed = f"{first['samples_failed']} failed"
        sizes = (count_of(first["items"], "item"), count_of(first["units"], noun), failed)
    return Column(*names(cells), sizes)


def _matrix_rows(
    report: Document, groups: Sequence[Sequence[Document]], marks: Marks, *, all_metrics: bool
) -> Iterator[Row]:
    worst = worst_names(report)
    title: tuple[str, tuple[str, ...]] | None = None
    for metric in shown_metrics(report, all_metrics=all_metrics):
        name = metric["metric"]
        estimates = [cell_estimate(cells[0], metric) for cells in groups]
        if all(estimate is None or has_nothing(estimate) for estimate in estimates):
            continue
        if not all_metrics and repeats_whole(metric, [cells[0] for cells in groups]):
            continue
        sizes = tuple(
            "" if estimate is None or not estimate["n"] else f"n {sized(estimate)}" for estimate in estimates
        )
        if title != (section(metric["family"], "audio"), sizes):
            title = (section(metric["family"], "audio"), sizes)
            yield section_row(*title)
        marked = worst.get((metric["family"], name), set())
        values = tuple(
            _matrix_value(estimate, name, not marked.isdisjoint(_cell_names(cells)), marks)
            for cells, estimate in zip(groups, estimates, strict=True)
        )
        is_primary = any(estimate is not None and "primary" in estimate["flags"] for estimate in estimates)
        yield Row(f"{label(name)}{f' {marks.primary}' if is_primary else ''}", values)


def has_worst_cell(report: Document) -> bool:
    """Whether the matrix of the audio arm marks any cell."""
    return bool(worst_names(report))


def section_row(title: str, sizes: Sequence[str]) -> Row:
    """Return the row that heads a section, with n per column."""
    return Row(title, tuple(Cell(dim(size)) if size else None for size in sizes), is_section=True)


def worst_names(report: Document) -> dict[tuple[str, str], set[_CellName]]:
    """Return the worst cells of each family and metric of the audio arm."""
    worst: dict[tuple[str, str], set[_CellName]] = {}
    for entry in report["worst_cells"]:
        if entry["arm"] == "audio":
            found = worst.setdefault((entry["family"], entry["metric"]), set())
            found.add((entry["axis"], entry["value"]))
    return worst


def _cell_names(cells: Sequence[Document]) -> set[_CellName]:
    return {(cell["axis"], cell["value"]) for cell in cells}


def shown_metrics(report: Document, *, all_metrics: bool) -> list[Document]:
    """Return the metrics of the audio arm, losses first."""
    shown = [
        metric
        for metric in report["metrics"]
        if "audio" in metric["arms"] and (all_metrics or is_shown_by_condition(metric["metric"]))
    ]
    return sorted(shown, key=lambda metric: metric["relative_to"] is None)


def cell_estimate(cell: Document, metric: Document) -> Document | None:
    """Return the estimate of a metric in the audio arm of a cell; None where there is none."""
    wanted = (metric["family"], metric["metric"], "audio")
    for estimate in cell["estimates"]:
        if (estimate["family"], estimate["metric"], estimate["arm"]) == wanted:
            found: Document = estimate
            return found
    return None


def repeats_whole(metric: Document, cells: Sequence[Document]) -> bool:
    """Whether the error rate of one script is that of all tokens in every cell: nothing else is spoken."""
    whole, _, script = metric["metric"].partition("_")
    if whole not in ("wer", "cer") or metric["family"] != metric["metric"] or not script:
        return False
    pairs = [
        (cell_estimate(cell, metric), cell_estimate(cell, {"family": whole, "metric": whole}))
        for cell in cells
    ]
    return all(
        alone is not None and other is not None and alone["counts"] == other["counts"]
        for alone, other in pairs
    )


def has_nothing(estimate: Document) -> bool:
    """Whether an estimate is of no items at all, or undefined for all of them."""
    return estimate["n"] + estimate["failed"] == 0 or (estimate["value"] is None and estimate["n"] > 0)


def _matrix_value(estimate: Document | None, metric: str, is_worst: bool, marks: Marks) -> Cell | None:
    if estimate is None or estimate["value"] is None:
        return None
    text = Text(justify="right")
    if is_worst:
        text.append(f"{marks.worst} ", style="bold red")
    text.append(format_value(metric, estimate["value"], marks), style="bold red" if is_worst else "")
    interval = rate_interval(metric, estimate)
    return Cell(text, format_interval(metric, interval, marks), interval is not None)
