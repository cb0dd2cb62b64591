"""What the terminal's blocks are made of: tables that fit the width, headings, lines of parts."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import Marks
from misheard.report.values import Document

LABEL_WIDTH = 22
CELL_WIDTH = 14

_GAP = 2
_LEAST_LABEL = 14
"""A column of labels is not made narrower than this, or than their longest word where that is shorter."""


@dataclass(frozen=True, slots=True)
class Column:
    """A condition cell: the axes that it belongs to, with its value on each, and how much it holds."""

    axes: tuple[str, ...]
    values: tuple[str, ...]
    sizes: tuple[str, ...]

    def heading(self) -> Text:
        """Return the heading; cells of several axes are named one below the other."""
        text = Text(justify="right", overflow="fold")
        for axis, value in zip(self.axes, self.values, strict=True):
            text.append(f"{axis}\n", style="dim")
            text.append(f"{value}\n", style="bold")
        text.append("\n".join(self.sizes), style="dim")
        return text


@dataclass(frozen=True, slots=True)
class Cell:
    """A value, and the line that may stand below it: its interval, or the sign for none."""

    value: Text
    interval: str = ""
    has_interval: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A section's heading with its n per column, or a metric with its value per column; None without one."""

    label: str
    cells: tuple[Cell | None, ...]
    is_section: bool = False


def cell_tables(columns: Sequence[Column], rows: Sequence[Row], width: int, missing: str) -> Iterable[Table]:
    """Yield tables that fit into `width`, with every row that has a value in them.

    An axis stays in one table where it fits. `missing` stands where a row has no value.
    """
    capacity = max(1, (width - LABEL_WIDTH) // CELL_WIDTH)
    for places in _pack(columns, capacity):
        yield _table(columns, rows, places, missing)


def _pack(columns: Sequence[Column], capacity: int) -> list[list[int]]:
    packed: list[list[int]] = [[]]
    for group in _axis_groups(columns):
        if packed[-1] and len(packed[-1]) + len(group) > capacity:
            packed.append([])
        for place in group:
            if len(packed[-1]) == capacity:
                packed.append([])
            packed[-1].append(place)
    return [places for places in packed if places]


def _axis_groups(columns: Sequence[Column]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for place, column in enumerate(columns):
        groups.setdefault(column.axes[0], []).append(place)
    return list(groups.values())


def _table(columns: Sequence[Column], rows: Sequence[Row], places: Sequence[int], missing: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", width=LABEL_WIDTH - 1, overflow="fold")
    for place in places:
        table.add_column(columns[place].heading(), justify="right", min_width=CELL_WIDTH - 1, overflow="fold")
    for row in rows:
        cells = [row.cells[place] for place in places]
        if not any(cells):
            continue
        if row.is_section and table.row_count:
            table.add_row("")
        table.add_row(Text(row.label, style="bold" if row.is_section else ""), *_cell_texts(cells, missing))
    return table


def _cell_texts(cells: Sequence[Cell | None], missing: str) -> Iterator[Text]:
    """Yield what stands in a row; without any interval in it, it has no second line."""
    has_intervals = any(cell is not None and cell.has_interval for cell in cells)
    for cell in cells:
        if cell is None:
            yield dim(missing)
        elif has_intervals:
            yield Text.assemble(cell.value, ("\n" + cell.interval, "dim"))
        else:
            yield cell.value


@dataclass(slots=True)
class Grid:
    """A table without lines whose first column wraps where it must, and whose others are never cut."""

    columns: list[tuple[str, Literal["left", "right"]]]
    rows: list[tuple[Text, ...]] = field(default_factory=list)

    def add(self, *cells: str | Text) -> None:
        """Add a row; cells may have several lines, and those that are left out are empty."""
        texts = [Text(cell) if isinstance(cell, str) else cell for cell in cells]
        self.rows.append((*texts, *(Text() for _ in self.columns[len(texts) :])))

    @property
    def width(self) -> int:
        """How wide it is without any wrapping."""
        return sum(self._widths()) + _GAP * (len(self.columns) - 1)

    def _widths(self) -> list[int]:
        rows = [[title for title, _ in self.columns], *([cell.plain for cell in row] for row in self.rows)]
        return [
            max(cell_len(line) for cell in column for line in cell.split("\n"))
            for column in zip(*rows, strict=True)
        ]

    def table(self) -> Table:
        """Return it for a rich console."""
        table = Table(
            box=None,
            padding=(0, _GAP, 0, 0),
            pad_edge=False,
            show_edge=False,
            header_style="dim",
            show_header=any(title for title, _ in self.columns),
        )
        widths = self._widths()
        for place, (title, justify) in enumerate(self.columns):
            is_fixed = place > 0
            table.add_column(
                title,
                justify=justify,
                no_wrap=is_fixed,
                overflow="fold",
                min_width=widths[place] if is_fixed else None,
            )
        for row in self.rows:
            table.add_row(*row)
        return table

    def parts(self, width: int) -> Iterator["Grid"]:
        """Yield grids with the same labels and some of the columns each, as many as `width` has room for."""
        label_width = max(len(word) for title in self._labels() for word in ["", *title.split()])
        room = width - min(label_width, _LEAST_LABEL)
        places: list[int] = []
        taken = 0
        for place, own in enumerate(self._widths()[1:], start=1):
            if places and taken + _GAP + own > room:
                yield self._with(places)
                places, taken = [], 0
            places.append(place)
            taken += _GAP + own
        yield self._with(places)

    def _labels(self) -> list[str]:
        return [self.columns[0][0], *(row[0].plain for row in self.rows)]

    def _with(self, places: Sequence[int]) -> "Grid":
        chosen = [0, *places]
        rows = [tuple(row[place] for place in chosen) for row in self.rows]
        return Grid([self.columns[place] for place in chosen], [row for row in rows if any(row[1:])])


def fitting(width: int, *grids: Grid) -> RenderableType:
    """Return the first of several layouts that is not wider than `width`.

    Where none is, the last one: its labels wrap, and columns that have no room follow below.
    """
    wide = next((grid for grid in grids if grid.width <= width), None)
    if wide is not None:
        return wide.table()
    tables: list[RenderableType] = []
    for part in grids[-1].parts(width):
        tables += [*([""] if tables else []), part.table()]
    return tables[0] if len(tables) == 1 else Group(*tables)


def heading(title: str, note: str, width: int) -> Text:
    """Return a block's title with a remark behind it, or below where that does not fit."""
    text = Text(title, style="bold cyan")
    if not note:
        return text
    gap = "  " if cell_len(title) + 2 + cell_len(note) <= width else "\n"
    return text.append(gap + (note if gap == "  " else textwrap.fill(note, width)), style="not bold dim")


def suite_line(name: str, parts: Iterable[str], width: int, marks: Marks) -> Text:
    """Return a suite's name with what it holds behind it."""
    rest = joined(parts, width, marks, start=cell_len(name) + 2)
    return Text(name, style="bold").append(f"  {rest}", style="not bold")


def joined(parts: Iterable[str], width: int, marks: Marks, indent: int = 0, start: int = 0) -> str:
    """Return parts with dots between them; where a line is full the next begins in place of a dot.

    Args:
        parts: what is joined; a part that is longer than a line wraps between its words.
        width: of a line.
        marks: with the dot.
        indent: of every line but the first.
        start: how much of the first line is taken.
    """
    lines, used = [""], start
    for part in parts:
        dot = f" {marks.dot} " if lines[-1] else ""
        if used + cell_len(dot + part) <= width:
            lines[-1] += dot + part
            used += cell_len(dot + part)
            continue
        wrapped = textwrap.wrap(part, max(width - indent, 10), break_on_hyphens=False) or [""]
        if lines[-1] or start:
            lines += wrapped
        else:
            lines = wrapped
        used = indent + cell_len(lines[-1])
    return ("\n" + " " * indent).join(lines)


def sized(document: Document) -> str:
    """Return n, with an asterisk where it is too small for a verdict."""
    weak = any(flag.startswith("under_") for flag in document["flags"])
    return f"{document['n']}{'*' if weak else ''}"


def dim(text: str) -> Text:
    """Return a text that stays in the background."""
    return Text(text, style="dim")
