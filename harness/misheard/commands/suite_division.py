"""How the commands that split and rotate print the sets."""

from collections.abc import Mapping, Sequence

from misheard.suite.division import divide
from misheard.suite.items import Item
from misheard.suite.split import Split


def print_division(split: Split, items: Sequence[Item], axes: Mapping[str, Sequence[str]]) -> None:
    """Print items per set and condition, and what could not be balanced."""
    from rich.table import Table
    from rich.text import Text

    from misheard.console import stdout

    division = divide(split, items, axes)
    used = [name for name in division.items if division.items[name]]
    table = Table(box=None, pad_edge=False)
    table.add_column("items")
    for name in used:
        table.add_column(str(name), justify="right")
    table.add_row("all", *(str(division.items[name]) for name in used))
    for condition, sets in division.conditions.items():
        table.add_row(Text(f"  {condition}"), *(str(sets[name]) for name in used), style="dim")
    table.add_row("sessions, or items without", *(str(division.units[name]) for name in used))
    stdout.print(table)
    for warning in division.warnings:
        stdout.print(f"note: {warning}", markup=False, soft_wrap=True)
