"""The blocks of a comparison on a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    deciding,
    format_difference,
    format_difference_interval,
    format_value,
    is_detail,
    is_shown_by_condition,
    label,
    plain,
    section,
)
from misheard.report.terminal_cells import Column, Row, cell_tables, dim, grid, heading, sized
from misheard.report.terminal_matrix import distinct_cells, spaced
from misheard.report.values import Document

_STYLES = {"better": "bold green", "worse": "bold red", "changed": "bold", "too_few_items": "dim"}


def blocks(comparison: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(comparison, marks)
    yield from _whole(comparison, marks)
    yield from _by_cell(comparison, width, marks)
    yield _legend(comparison, marks)


def _header(comparison: Document, marks: Marks) -> RenderableType:
    suite = comparison["suite"]
    name = " ".join(str(suite[key]) for key in ("name", "version") if key in suite)
    sizes = f"{count_of(comparison['items'], 'item')} {marks.dot} {count_of(comparison['units'], 'unit')}"
    text = Text(f"{plain(name)}  ", style="bold").append(sizes, style="not bold")
    for side in ("a", "b"):
        run = comparison[side].get("run")
        text.append(f"\n{side.upper()}  ", style="bold").append(plain(str(run or "")), style="not bold")
    return text


def _whole(comparison: Document, marks: Marks) -> Iterator[RenderableType]:
    table = grid()
    table.add_column("")
    for title in ("A", "B", f"B {marks.minus} A"):
        table.add_column(title, justify="right")
    table.add_column("95% interval", justify="right")
    table.add_column("verdict")
    previous = None
    for difference in _shown(comparison["differences"]):
        if not difference["n"]:
            continue
        metric = difference["metric"]
        title = section(difference["family"], difference["arm"])
        group = (title, difference["n"], difference["failed_a"], difference["failed_b"])
        if group != previous:
            previous = group
            _add_group(table, title, difference)
        verdict = difference["verdict"]
        table.add_row(
            f"  {label(metric)}",
            *(format_value(metric, difference[side], marks) for side in ("a", "b")),
            _styled(format_difference(metric, difference["difference"], marks), verdict),
            dim(format_difference_interval(metric, deciding(difference), marks)),
            _styled(verdict.replace("_", " "), verdict),
        )
    yield Group(heading("Every item that both have", "paired by item"), table)


def _add_group(table: Table, title: str, difference: Document) -> None:
    if table.row_count:
        table.add_row("")
    failed = (
        f"{count} failed" if count else "" for count in (difference["failed_a"], difference["failed_b"])
    )
    sizes = (dim(size) for size in (*failed, f"n {sized(difference)}"))
    table.add_row(Text(title, style="bold"), *sizes)


def _styled(text: str, verdict: str) -> Text:
    return Text(text, style=_STYLES.get(verdict, ""))


def _shown(differences: Sequence[Document]) -> list[Document]:
    """Return the differences of the arms audio and then transcript; the control is noise on both sides."""
    return [
        difference
        for arm in ("audio", "transcript")
        for difference in differences
        if difference["arm"] == arm and not is_detail(difference["metric"])
    ]


def _by_cell(comparison: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    cells = distinct_cells(comparison["cells"], "differences")
    columns = [
        Column(
            axes=tuple(plain(cell["axis"]) for cell in same),
            values=tuple("(none)" if cell["value"] is None else plain(cell["value"]) for cell in same),
            sizes=(count_of(same[0]["items"], "item") if same[0]["items"] else "no items",),
        )
        for same in cells
    ]
    rows = list(_cell_rows([same[0] for same in cells], marks))
    yield Group(
        heading(f"By condition, B {marks.minus} A", "audio arm; interval below"),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def _cell_rows(cells: Sequence[Document], marks: Marks) -> Iterator[Row]:
    title: tuple[str, tuple[str, ...]] | None = None
    for differences in zip(*(_shown(cell["differences"]) for cell in cells), strict=True):
        first = differences[0]
        if (
            first["arm"] != "audio"
            or not is_shown_by_condition(first["metric"])
            or not any(difference["n"] for difference in differences)
        ):
            continue
        sizes = tuple(f"n {sized(one)}" if one["n"] else "" for one in differences)
        if title != (section(first["family"], "audio"), sizes):
            title = (section(first["family"], "audio"), sizes)
            yield Row(title[0], tuple(dim(size) if size else None for size in sizes), is_section=True)
        yield Row(label(first["metric"]), tuple(_cell_value(one, marks) for one in differences))


def _cell_value(difference: Document, marks: Marks) -> Text | None:
    metric, verdict = difference["metric"], difference["verdict"]
    if difference["difference"] is None:
        return None
    text = Text(justify="right")
    if verdict in ("better", "worse", "changed"):
        text.append(f"{verdict} ", style=_STYLES[verdict])
    text.append(format_difference(metric, difference["difference"], marks), style=_STYLES.get(verdict, ""))
    interval = format_difference_interval(metric, deciding(difference), marks)
    return text.append(f"\n{interval}", style="dim") if interval else text


def _legend(comparison: Document, marks: Marks) -> RenderableType:
    statistics = comparison["statistics"]
    tests = sum(
        difference["verdict"] != "too_few_items"
        for group in (comparison["differences"], *(cell["differences"] for cell in comparison["cells"]))
        for difference in group
    )
    parts = [
        f"* under {statistics['min_items']} items or {statistics['min_units']} units: no verdict",
        "percentages differ by points",
        "unit: a session, or an item without one",
        "intervals: 95%, over units, shared draws",
    ]
    if tests:
        parts.append(f"of {tests} verdicts, about 1 in 20 would see a change where there is none")
    return dim(f" {marks.dot} ".join(parts))
