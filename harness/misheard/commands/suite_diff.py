"""`misheard suite diff`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misheard.errors import InputError, Problem

if TYPE_CHECKING:
    from misheard.suite.changes import Changes


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="Lock file or suite; alone, its lock and itself.")],
    b: Annotated[
        Path | None, typer.Argument(metavar="B", help="Lock file or suite to compare it with.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="REF", help="Compare suite A with its lock at this commit of git.")
    ] = None,
    fail_on_edit: Annotated[
        bool, typer.Option("--fail-on-edit", help="End with 1 where something was edited; see --system.")
    ] = False,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="With --against: fail only where files that match changed too; from the repository's top.",
        ),
    ] = None,
    without_audio: Annotated[
        bool, typer.Option("--without-audio", help="Leave recordings out, where they are not at hand.")
    ] = False,
) -> None:
    """Say what changed between two states of a suite: additions, and every edit by its name, without text.

    Exit code 0: compared; 1: edited, under --fail-on-edit.
    """
    from misheard.suite.comparing import compare_states, compare_with_commit

    if against is not None and b is not None:
        raise InputError("--against: compares one suite with its past; leave B out")
    if against is not None and a.suffix == ".lock":
        raise InputError("--against: name the suite, not its lock, which need not be up to date")
    if system and (against is None or not fail_on_edit):
        raise InputError("--system: needs --against and --fail-on-edit")
    if against is None:
        found = compare_states(a, b, audio=not without_audio)
    else:
        found = compare_with_commit(a, against, system or [], audio=not without_audio)
    typer.echo(f"from {found.a} to {found.b}")
    print_changes(found.changes)
    _list("changed with it", found.system_files)
    for note in found.notes:
        typer.echo(f"note: {note}")
    if fail_on_edit and found.changes.edits and (found.system_files or not system):
        typer.echo(
            "\na suite may not be edited in the change that it measures; additions may come with it", err=True
        )
        raise typer.Exit(1)


def print_changes(changes: "Changes") -> None:
    """Print additions and edits, or that there are none."""
    if not changes.allowed and not changes.edits:
        typer.echo("nothing changed")
    _list("added", _lines(changes.allowed))
    _list("edited", _lines(changes.edits))


def _lines(changes: Iterable[Problem]) -> list[str]:
    return [str(change) for change in changes]


def _list(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        # names of files and axes may hold anything, terminal controls too
        shown = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines)
        typer.echo("\n".join([f"{title} ({len(lines)}):", *(f"  {line}" for line in shown)]))
