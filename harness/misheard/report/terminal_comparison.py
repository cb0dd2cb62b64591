"""The blocks of a comparison on a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    count_of,
    difference_interval,
    format_difference,
    format_difference_interval,
    format_value,
    is_detail,
    is_shown_by_condition,
    label,
    plain,
    section,
    unit_noun,
)
from misheard.report.terminal_cells import (
    Cell,
    Column,
    Grid,
    Row,
    cell_tables,
    dim,
    fitting,
    heading,
    sized,
    suite_line,
)
from misheard.report.terminal_differences import VERDICT_STYLES, difference_cells, difference_columns
from misheard.report.terminal_legend import legend_block, profile_line, shared_signs, terms
from misheard.report.terminal_matrix import names, same_items, section_row, spaced
from misheard.report.values import Document


def blocks(comparison: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom."""
    yield _header(comparison, width, marks)
    yield _whole(comparison, width, marks)
    yield _by_cell(comparison, width, marks)
    yield _legend(comparison, width, marks)


def _header(comparison: Document, width: int, marks: Marks) -> RenderableType:
    suite = comparison["suite"]
    name = plain(" ".join(str(suite[key]) for key in ("name", "version") if key in suite))
    sizes = [count_of(comparison["items"], "item"), count_of(comparison["units"], unit_noun(comparison))]
    text = suite_line(name, sizes, width, marks)
    for side in ("a", "b"):
        run = comparison[side].get("run")
        text.append(f"\n{side.upper()}  ", style="bold").append(plain(str(run or "")), style="not bold")
    return text


def _whole(comparison: Document, width: int, marks: Marks) -> RenderableType:
    shown = [difference for difference in _shown(comparison["differences"]) if _has_value(difference)]
    layouts = [_whole_grid(shown, marks, is_wide) for is_wide in (True, False)]
    profile = profile_line(comparison["scorer"])
    return Group(
        heading("Every item that both have", "paired by item", width),
        fitting(width, *layouts),
        *([] if profile is None else [Text(""), profile]),
    )


def _whole_grid(shown: Sequence[Document], marks: Marks, is_wide: bool) -> Grid:
    columns = difference_columns(f"B {marks.minus} A", is_wide)
    grid = Grid([("", "left"), ("A", "right"), ("B", "right"), *columns])
    previous = None
    for difference in shown:
        metric = difference["metric"]
        title = section(difference["family"], difference["arm"])
        group = (title, difference["n"], difference["failed_a"], difference["failed_b"])
        if group != previous:
            previous = group
            _add_group(grid, title, difference)
        values = [format_value(metric, difference[side], marks) for side in ("a", "b")]
        grid.add(*difference_cells(f"  {label(metric)}", values, metric, difference, marks, is_wide))
    return grid


def _add_group(grid: Grid, title: str, difference: Document) -> None:
    if grid.rows:
        grid.add("")
    failed = (
        f"{count} failed" if count else "" for count in (difference["failed_a"], difference["failed_b"])
    )
    grid.add(Text(title, style="bold"), *(dim(size) for size in (*failed, f"n {sized(difference)}")))


def _shown(differences: Sequence[Document]) -> list[Document]:
    """Return the differences of the arms audio and then transcript; the control is noise on both sides."""
    return [
        difference
        for arm in ("audio", "transcript")
        for difference in differences
        if difference["arm"] == arm and not is_detail(difference["metric"])
    ]


def _by_cell(comparison: Document, width: int, marks: Marks) -> RenderableType:
    groups = same_items(comparison["cells"])
    columns = [
        Column(*names(cells), (count_of(cells[0]["items"], "item") if cells[0]["items"] else "no items",))
        for cells in groups
    ]
    rows = list(_cell_rows([cells[0] for cells in groups], marks))
    return Group(
        heading(f"By condition, B {marks.minus} A", "audio arm; interval below", width),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def _cell_rows(cells: Sequence[Document], marks: Marks) -> Iterator[Row]:
    title: tuple[str, tuple[str, ...]] | None = None
    for differences in zip(*(_shown(cell["differences"]) for cell in cells), strict=True):
        first = differences[0]
        if (
            first["arm"] != "audio"
            or not is_shown_by_condition(first["metric"])
            or not any(_has_value(difference) for difference in differences)
        ):
            continue
        sizes = tuple(f"n {sized(one)}" if one["n"] else "" for one in differences)
        if title != (section(first["family"], "audio"), sizes):
            title = (section(first["family"], "audio"), sizes)
            yield section_row(*title)
        yield Row(label(first["metric"]), tuple(_cell_value(one, marks) for one in differences))


def _has_value(difference: Document) -> bool:
    return difference["n"] > 0 and (difference["a"] is not None or difference["b"] is not None)


def _cell_value(difference: Document, marks: Marks) -> Cell | None:
    metric, verdict = difference["metric"], difference["verdict"]
    if difference["difference"] is None:
        return None
    text = Text(justify="right")
    if verdict in ("better", "worse", "changed", "same"):
        text.append(f"{verdict} ", style=VERDICT_STYLES.get(verdict, ""))
    text.append(
        format_difference(metric, difference["difference"], marks), style=VERDICT_STYLES.get(verdict, "")
    )
    interval = difference_interval(metric, difference)
    return Cell(text, format_difference_interval(metric, interval, marks), interval is not None)


def _legend(comparison: Document, width: int, marks: Marks) -> RenderableType:
    differences = [
        difference
        for group in (comparison["differences"], *(cell["differences"] for cell in comparison["cells"]))
        for difference in group
    ]
    cells = same_items(comparison["cells"])
    signs = [
        *shared_signs(comparison["statistics"], unit_noun(comparison), cells),
        f"{marks.missing} no value",
        "percentages differ by points",
        "draws are shared by A and B",
    ]
    if any(difference["verdict"] == "same" for difference in differences):
        signs.append("same: equal on every pair")
    tests = sum(difference["verdict"] != "too_few_items" for difference in differences)
    if tests:
        signs.append(f"of {tests} verdicts, about 1 in 20 would see a change where there is none")
    metrics = {difference["metric"] for difference in comparison["differences"]}
    return legend_block([signs, terms(metrics, comparison["scorer"])], width, marks)
