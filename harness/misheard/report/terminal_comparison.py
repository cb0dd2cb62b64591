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
    system_name,
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
from misheard.report.terminal_side_by_side import side_by_side_blocks
from misheard.report.terminal_slices import slice_blocks
from misheard.report.values import Document


def blocks(document: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield the blocks from top to bottom, those of one comparison after the other."""
    yield _header(document, width, marks)
    chosen = document["selection"]["metrics"]
    for comparison in document["comparisons"]:
        if len(document["comparisons"]) > 1:
            yield _sides(comparison)
        yield _whole(document, comparison, width, marks)
        if not chosen:
            yield _by_cell(comparison, width, marks)
        in_detail = chosen or sorted(set(document["primary_metrics"].values()))
        yield from slice_blocks(comparison, in_detail, _arms(document), width, marks)
        yield from side_by_side_blocks(comparison, width, marks)
    yield _legend(document, width, marks)


def _header(document: Document, width: int, marks: Marks) -> RenderableType:
    suite, first = document["suite"], document["comparisons"][0]
    name = plain(" ".join(str(suite[key]) for key in ("name", "version") if key in suite))
    sizes = [count_of(first["items"], "item"), count_of(first["units"], unit_noun(first))]
    parts = [suite_line(name, sizes, width, marks)]
    where = document["selection"]["where"]
    if where:
        parts.append(Text("only items with " + plain(", ".join(where))))
    if document["rescored"]:
        parts.append(dim("all journals counted again for this comparison; no report was changed"))
    if len(document["comparisons"]) == 1:
        parts.append(_sides(first))
    return Group(*parts)


def _sides(comparison: Document) -> Text:
    lines = Text()
    for side in ("a", "b"):
        run, name = comparison[side].get("run"), system_name(comparison[side].get("system"))
        which = "  ".join(plain(str(part)) for part in dict.fromkeys((run, name)) if part)
        lines.append(f"{side.upper()}  ", style="bold").append(which, style="not bold")
        lines.append("\n" if side == "a" else "")
    return lines


def _whole(document: Document, comparison: Document, width: int, marks: Marks) -> RenderableType:
    by_choice = bool(document["selection"]["metrics"] or document["selection"]["arms"])
    shown = [
        difference
        for difference in _of_arms(comparison["differences"], _arms(document))
        if _has_value(difference) and (by_choice or not is_detail(difference["metric"]))
    ]
    layouts = [_whole_grid(shown, marks, is_wide) for is_wide in (True, False)]
    profile = profile_line(document["scorer"])
    return Group(
        heading("Every item that both have", "paired by item", width),
        fitting(width, *layouts) if shown else dim("no pairs of these metrics and arms"),
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


def _arms(document: Document) -> Sequence[str]:
    return document["selection"]["arms"] or ("audio", "transcript")


def _of_arms(differences: Sequence[Document], arms: Sequence[str]) -> list[Document]:
    """Return the differences of some arms, one arm after the other; the control is noise on both sides."""
    return [difference for arm in arms for difference in differences if difference["arm"] == arm]


def _by_cell(comparison: Document, width: int, marks: Marks) -> RenderableType:
    groups = same_items(comparison["cells"])
    columns = [
        Column(*names(cells), (count_of(cells[0]["items"], "item") if cells[0]["items"] else "no items",))
        for cells in groups
    ]
    rows = list(_cell_rows(groups, _worst_cells(comparison), marks))
    return Group(
        heading(f"By condition, B {marks.minus} A", "audio arm; interval below", width),
        *spaced(cell_tables(columns, rows, width, marks.missing)),
    )


def _worst_cells(comparison: Document) -> set[tuple[str, str, str | None]]:
    """Return the metric, axis and value of the worst slices in the audio arm."""
    return {
        (cell["metric"], cell["axis"], cell["value"])
        for cell in comparison["worst_cells"]
        if cell["arm"] == "audio"
    }


def _cell_rows(
    groups: Sequence[Sequence[Document]], worst: set[tuple[str, str, str | None]], marks: Marks
) -> Iterator[Row]:
    title: tuple[str, tuple[str, ...]] | None = None
    for differences in zip(*(_of_arms(cells[0]["differences"], ["audio"]) for cells in groups), strict=True):
        first = differences[0]
        if not is_shown_by_condition(first["metric"]) or not any(map(_has_value, differences)):
            continue
        sizes = tuple(f"n {sized(one)}" if one["n"] else "" for one in differences)
        if title != (section(first["family"], "audio"), sizes):
            title = (section(first["family"], "audio"), sizes)
            yield section_row(*title)
        is_worst = [
            any((first["metric"], cell["axis"], cell["value"]) in worst for cell in cells) for cells in groups
        ]
        yield Row(
            label(first["metric"]),
            tuple(_cell_value(one, mark, marks) for one, mark in zip(differences, is_worst, strict=True)),
        )


def _has_value(difference: Document) -> bool:
    return difference["n"] > 0 and (difference["a"] is not None or difference["b"] is not None)


def _cell_value(difference: Document, is_worst: bool, marks: Marks) -> Cell | None:
    metric, verdict = difference["metric"], difference["verdict"]
    if difference["difference"] is None:
        return None
    text = Text(justify="right")
    if is_worst:
        text.append(f"{marks.worst} ", style="bold red")
    if verdict in ("better", "worse", "changed", "same"):
        text.append(f"{verdict} ", style=VERDICT_STYLES.get(verdict, ""))
    text.append(
        format_difference(metric, difference["difference"], marks), style=VERDICT_STYLES.get(verdict, "")
    )
    interval = difference_interval(metric, difference)
    return Cell(text, format_difference_interval(metric, interval, marks), interval is not None)


def _legend(document: Document, width: int, marks: Marks) -> RenderableType:
    comparisons = document["comparisons"]
    noun = unit_noun(comparisons[0])
    differences = [
        difference
        for comparison in comparisons
        for group in (comparison, *comparison["cells"])
        for difference in group["differences"]
    ]
    signs = [
        *shared_signs(document["statistics"], noun, same_items(comparisons[0]["cells"])),
        f"{marks.missing} no value",
        "percentages differ by points",
        "draws are shared by A and B",
        *_verdict_signs(document, differences),
    ]
    if any(comparison["worst_cells"] for comparison in comparisons):
        signs.append(f"{marks.worst} where B loses most or gains least")
    metrics = {one["metric"] for one in comparisons[0]["differences"] if _has_value(one)}
    return legend_block(
        [signs, _detail_signs(document, differences), terms(metrics, document["scorer"])], width, marks
    )


def _verdict_signs(document: Document, differences: Sequence[Document]) -> Iterator[str]:
    if any(difference["verdict"] == "same" for difference in differences):
        yield "same: equal on every pair"
    for metric, size in document["selection"]["margins"].items():
        yield f"equivalent: {plain(metric)} differs by less than {size:g}"
    tests = sum(difference["verdict"] != "too_few_items" for difference in differences)
    if tests:
        yield f"of {count_of(tests, 'verdict')}, about 1 in 20 would see a change where there is none"


def _detail_signs(document: Document, differences: Sequence[Document]) -> Iterator[str]:
    """Yield what the columns of slice tables mean, or how to get them."""
    if not (document["selection"]["metrics"] or document["primary_metrics"]):
        yield "--metric NAME shows both intervals, p and the smallest detectable effect of each slice"
        return
    yield "p: sign-flip test"
    yield "smallest: difference that these pairs would show with a chance of 80%"
    slices, whole = (
        {
            adjusted["tests"]
            for difference in differences
            if (adjusted := difference["adjusted"]) is not None and adjusted["method"] == method
        }
        for method in ("benjamini_hochberg", "holm")
    )
    if slices:
        yield f"adjusted: for up to {count_of(max(slices), 'slice')} of a metric (Benjamini and Hochberg)"
    if whole:
        yield f"of all items: for {count_of(max(whole), 'test')} (Holm)"
