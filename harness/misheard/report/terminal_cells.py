"""What the terminal's blocks are made of; above all a table of metrics by condition, cut to fit the width."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from misheard.report.values import Document

LABEL_WIDTH = 22
CELL_WIDTH = 14


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
class Row:
    """A section's heading with its n per column, or a metric with its value per column; None without one."""

    label: str
    cells: tuple[Text | None, ...]
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
        style = "bold" if row.is_section else ""
        table.add_row(Text(row.label, style=style), *(cell or Text(missing, style="dim") for cell in cells))
    return table


def heading(title: str, note: str = "") -> Text:
    """Return a block's title with a remark behind it."""
    text = Text(title, style="bold cyan")
    return text.append(f"  {note}", style="not bold dim") if note else text


def grid() -> Table:
    """Return an empty table without lines."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, header_style="dim")


def sized(document: Document) -> str:
    """Return n, with an asterisk where it is too small for a verdict."""
    weak = any(flag.startswith("under_") for flag in document["flags"])
    return f"{document['n']}{'*' if weak else ''}"


def dim(text: str) -> Text:
    """Return a text that stays in the background."""
    return Text(text, style="dim")
