"""`misheard suite show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misheard.errors import count_of

if TYPE_CHECKING:
    from misheard.suite.overview import Cell, Overview

_BAR_WIDTH = 30
_MAX_ROWS = 60
_MAX_NAMES = 6


def show(
    suite: Annotated[Path, typer.Argument(metavar="SUITE", help="Suite folder, suite.yaml or items JSON.")],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS,…",
            help="A row per combination of these conditions.",
            show_default="each condition, and each pair",
        ),
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write everything to this file.")
    ] = None,
) -> None:
    """Print what a suite holds: items, hours and words per condition, durations, and probable mistakes.

    Every recording is decoded once, but those of sealed items. No reference is printed.
    """
    from misheard.canonical import write_json
    from misheard.console import TerminalProgress
    from misheard.suite.overview import look_over

    axes = [axis.strip() for axis in by.split(",")] if by is not None else []
    with TerminalProgress() as progress:
        overview = look_over(suite, axes, progress)
    _print(overview)
    if json_path is not None:
        write_json(json_path, overview.as_json())


def _print(overview: "Overview") -> None:
    from rich.text import Text

    from misheard.console import stdout

    suite, whole = overview.suite, overview.whole
    left_out = "" if suite.selection is None else suite.selection.note()
    note = f" ({left_out})" if left_out else ""
    stdout.print(Text(f"{suite.name} {suite.version}: {count_of(whole.items, 'item')}{note}"))
    stdout.print(
        f"{whole.speech} speech, {whole.items - whole.speech} non-speech, "
        f"{count_of(whole.sessions, 'session')}, {_time(whole.seconds)}, "
        f"{count_of(whole.words, 'word')}, {count_of(whole.characters, 'character')}"
    )
    if overview.rows_left_out:
        rows = count_of(overview.rows_left_out, "row")
        stdout.print(f"{rows} of the source left out when it was imported; import.json says why")
    if overview.plans:
        stdout.print(f"{overview.plans} with a golden plan")
    for table in overview.tables:
        stdout.print()
        _print_table(table.axes, table.cells)
    stdout.print()
    _print_durations(overview.durations)
    if overview.warnings:
        stdout.print()
    for warning in overview.warnings:
        more = ", …" if warning.count > _MAX_NAMES else ""
        names = f": {', '.join(warning.names[:_MAX_NAMES])}{more}" if warning.names else ""
        text = f"warning: {warning.what} ({warning.count}){names}"
        stdout.print(Text(text, overflow="fold"), soft_wrap=True)


def _print_table(axes: tuple[str, ...], cells: "tuple[Cell, ...]") -> None:
    from rich.table import Table
    from rich.text import Text

    from misheard.console import stdout

    table = Table(box=None, pad_edge=False)
    for axis in axes:
        table.add_column(axis)
    for name in ("items", "speech", "sessions", "time", "words", "characters"):
        table.add_column(name, justify="right")
    for cell in cells[:_MAX_ROWS]:
        table.add_row(
            *(Text("(none)" if value is None else value) for value in cell.values),
            f"{cell.items}{'*' if cell.is_small else ' '}",
            str(cell.speech),
            str(cell.sessions),
            _time(cell.seconds),
            str(cell.words),
            str(cell.characters),
        )
    stdout.print(table)
    if len(cells) > _MAX_ROWS:
        stdout.print(f"and {count_of(len(cells) - _MAX_ROWS, 'more row')}; --json has them all")


def _print_durations(durations: tuple[int, ...]) -> None:
    from misheard.console import stdout
    from misheard.suite.overview import DURATION_BINS

    most = max(durations)
    stdout.print("seconds     items")
    for low, high, count in zip(DURATION_BINS, [*DURATION_BINS[1:], None], durations, strict=True):
        name = f"{low}+" if high is None else f"{low} to {high}"
        bar = "█" * max(round(count / most * _BAR_WIDTH), 1) if count else ""
        stdout.print(f"{name:<10} {count:>6} {bar}")


def _time(seconds: float) -> str:
    """Return hours and minutes, or minutes and seconds of less than an hour."""
    if seconds >= 3600:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes:02} min"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"
