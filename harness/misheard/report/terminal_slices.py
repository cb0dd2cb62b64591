"""Differences slice by slice on a terminal: a table per metric, with all that a verdict rests on."""

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from misheard.report.labels import (
    Marks,
    difference_ends,
    format_difference,
    format_difference_interval,
    format_p,
    format_value,
    label,
    plain,
    unit_noun,
)
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined, sized
from misheard.report.terminal_differences import VERDICT_STYLES, verdict_word
from misheard.report.values import Document

_Place = tuple[str, str, str]


def slice_blocks(
    comparison: Document, metrics: Sequence[str], arms: Sequence[str], width: int, marks: Marks
) -> Iterator[RenderableType]:
    """Yield a table per metric and arm.

    Args:
        comparison: one entry of the document's `comparisons`.
        metrics: which to show, where they have a difference at all.
        arms: of those.
        width: of a line.
        marks: signs.
    """
    for place, whole in enumerate(comparison["differences"]):
        if whole["metric"] not in metrics or whole["arm"] not in arms or whole["difference"] is None:
            continue
        key = (whole["family"], whole["metric"], whole["arm"])
        rows = [("all items", "", whole), *_slices(comparison, place)]
        worst = _worst(comparison, key)
        noun = unit_noun(comparison)
        layouts = [_grid(rows, worst, noun, marks, is_wide) for is_wide in (True, False)]
        yield Group(
            heading(label(whole["metric"]), f"{whole['arm']} arm, slice by slice", width),
            *(dim(line) for line in _two_lines(noun, width, marks) if layouts[0].width > width),
            fitting(width, *layouts),
            dim(joined(_stability(whole, noun), width, marks)),
        )


def _two_lines(noun: str, width: int, marks: Marks) -> Iterator[str]:
    """Yield what the two lines of a slice hold, for a table that is not wide."""
    yield textwrap.fill(f"above: pairs, A, B {marks.minus} A with its bootstrap interval, p", width)
    yield textwrap.fill(
        f"below: {noun}s, B, smallest difference that these would show, jackknife interval, adjusted p", width
    )


def _stability(whole: Document, noun: str) -> Iterator[str]:
    """Yield how much of the difference over all items hangs on a single unit."""
    share = whole["intervals"]["largest_unit_share"]
    yield f"all items: the largest {noun} has {share:.0%} of the pairs"
    if whole["keeps_sign"] is not None and whole["difference"]:
        kept = "the same" if whole["keeps_sign"] else "not the same"
        yield f"the sign is {kept} whichever {noun} is left out"


def _slices(comparison: Document, place: int) -> Iterator[tuple[str, str, Document]]:
    for cell in comparison["cells"]:
        value = "(none)" if cell["value"] is None else cell["value"]
        yield plain(cell["axis"]), plain(value), cell["differences"][place]


def _worst(comparison: Document, key: _Place) -> set[tuple[str, str]]:
    return {
        (plain(cell["axis"]), "(none)" if cell["value"] is None else plain(cell["value"]))
        for cell in comparison["worst_cells"]
        if (cell["family"], cell["metric"], cell["arm"]) == key
    }


def _grid(
    rows: Sequence[tuple[str, str, Document]],
    worst: set[tuple[str, str]],
    noun: str,
    marks: Marks,
    is_wide: bool,
) -> Grid:
    columns = [
        ("verdict", ""),
        ("n", f"{noun}s"),
        ("A", "B"),
        (f"B {marks.minus} A", "smallest"),
        ("bootstrap", "jackknife"),
        ("p", "adjusted"),
    ]
    grid = Grid([("", "left"), *((title, "right") for title in _titles(columns, is_wide))])
    previous = ""
    for axis, value, difference in rows:
        if value and axis != previous:
            grid.add(dim(axis))
        previous = axis
        name = f"  {value}" if value else axis
        if (axis, value) in worst:
            name += f" {marks.worst}"
        grid.add(name, *_cells(difference, marks, is_wide))
    return grid


def _titles(columns: Sequence[tuple[str, str]], is_wide: bool) -> list[str]:
    if is_wide:
        return [title for pair in columns for title in pair if title]
    return ["\n".join(title for title in pair if title) for pair in columns]


def _cells(difference: Document, marks: Marks, is_wide: bool) -> list[str | Text]:
    if not difference["n"]:
        return [dim("no pairs")]
    metric, verdict = difference["metric"], difference["verdict"]
    style = VERDICT_STYLES.get(verdict, "")
    change = Text(format_difference(metric, difference["difference"], marks), style=style)
    smallest = dim(_smallest(metric, difference, marks))
    intervals = [
        dim(format_difference_interval(metric, difference_ends(metric, difference, name), marks))
        for name in ("bootstrap", "jackknife")
    ]
    flip, adjusted = difference["sign_flip"], difference["adjusted"]
    pairs: list[tuple[str | Text, str | Text]] = [
        (sized(difference), dim(str(difference["units"]))),
        (format_value(metric, difference["a"], marks), format_value(metric, difference["b"], marks)),
        (change, smallest),
        (intervals[0], intervals[1]),
        (
            format_p(None if flip is None else flip["p"], marks),
            dim(format_p(None if adjusted is None else adjusted["p"], marks)),
        ),
    ]
    word = Text(verdict_word(verdict), style=style)
    if is_wide:
        return [word, *(cell for pair in pairs for cell in pair)]
    below = Text("\n").join
    return [word, *(below([_text(first), _text(second)]) for first, second in pairs)]


def _smallest(metric: str, difference: Document, marks: Marks) -> str:
    """Return the smallest detectable effect without a sign: it may be of either."""
    return format_difference(metric, difference["smallest_detectable"], marks).lstrip("+")


def _text(cell: str | Text) -> Text:
    return Text(cell) if isinstance(cell, str) else cell
