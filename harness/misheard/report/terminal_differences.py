"""Paired differences in a table: value, interval and verdict, on one line or on two."""

from collections.abc import Sequence
from typing import Literal

from rich.text import Text

from misheard.report.labels import (
    Marks,
    difference_interval,
    format_difference,
    format_difference_interval,
    format_size,
)
from misheard.report.values import Document

VERDICT_STYLES = {"better": "bold green", "worse": "bold red", "changed": "bold", "too_few_items": "dim"}

ColumnOf = tuple[str, Literal["left", "right"]]


def difference_columns(title: str, is_wide: bool) -> tuple[ColumnOf, ...]:
    """Return the columns that `difference_cells` fills behind the values."""
    wide: tuple[ColumnOf, ...] = ((title, "right"), ("95% interval", "right"), ("verdict", "left"))
    return wide if is_wide else wide[:1]


def difference_cells(
    title: str, values: Sequence[str], metric: str, difference: Document, marks: Marks, is_wide: bool
) -> list[str | Text]:
    """Return a row: the name, the values of both sides, the difference with its interval and verdict.

    Where it is not wide, the verdict stands below the name and the interval below the difference.
    """
    verdict = difference["verdict"]
    style = VERDICT_STYLES.get(verdict, "")
    change = Text(format_difference(metric, difference["difference"], marks), style=style)
    ends = format_difference_interval(metric, difference_interval(metric, difference), marks)
    interval, word = Text(ends, style="dim"), Text(verdict_word(verdict), style=style)
    if is_wide:
        return [title, *values, change, interval, word]
    indent = " " * (len(title) - len(title.lstrip()) + 2)
    below = Text("\n").join
    return [below([Text(title), Text(indent) + word]), *values, below([change, interval])]


def verdict_word(verdict: str) -> str:
    """Return what a verdict is called in a table."""
    return "too few" if verdict == "too_few_items" else verdict


def format_amount(metric: str, value: float | None, marks: Marks) -> str:
    """Return the size of a difference without unit and plus sign; rates differ by percentage points."""
    return marks.missing if value is None else format_size(metric, value, marks)
