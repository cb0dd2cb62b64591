"""`misheard suite import`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misheard.command_lines import path_argument
from misheard.errors import InputError, count_of

if TYPE_CHECKING:
    from misheard.suite.importers.checks import Broken
    from misheard.suite.importers.importing import Imported

_MAX_LISTED = 20


def import_source(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="File or folder of another tool; see docs/importing.md.")
    ],
    destination: Annotated[
        Path, typer.Argument(metavar="DST", help="Folder of the suite to make; it must be new.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="json, csv, tsv, nemo, jsonl, kaldi, trn, audiofolder, dataset or lhotse.",
            show_default="guessed",
        ),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET=COLUMN",
            help="Column of a target: id, audio, reference, session, language, offset, duration, answer; "
            "TARGET= reads none. Repeatable.",
        ),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS=COLUMN", help="Column whose values are a condition. Repeatable."),
    ] = None,
    audio: Annotated[
        Literal["copy", "link"], typer.Option(help="Copy recordings, or make hard links to them.")
    ] = "copy",
    audio_root: Annotated[
        Path | None, typer.Option(help="Folder of the recordings, where they lie outside the source's.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the suite.", show_default="the new folder's")
    ] = None,
    version: Annotated[str, typer.Option(help="Version of the suite.")] = "1",
    language: Annotated[str | None, typer.Option(help="Language tag of rows that give none.")] = None,
    annotations: Annotated[
        Literal["keep", "remove"],
        typer.Option(help="Annotations in references, such as <s>, [noise] and (laughs)."),
    ] = "keep",
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out rows that make no item; import.json lists them.")
    ] = False,
    empty_is_non_speech: Annotated[
        bool, typer.Option("--empty-is-non-speech", help="An empty reference is a recording without speech.")
    ] = False,
) -> None:
    """Make a suite of the recordings and references of another tool.

    Every recording is decoded to its end. Rows without a recording or a reference are errors, all listed at
    once; nothing is written then.
    """
    from misheard.console import TerminalProgress
    from misheard.suite.importers.columns import TARGETS
    from misheard.suite.importers.importing import ImportOptions, import_suite

    columns = _pairs("--map", map or [])
    for target in columns:
        if target not in TARGETS:
            raise InputError(f"--map {target!a}: is none of {', '.join(TARGETS)}")
    conditions = _pairs("--condition", condition or [])
    if "" in conditions.values():
        raise InputError("--condition needs a column: AXIS=COLUMN")
    options = ImportOptions(
        source=source,
        destination=destination,
        format=format,
        columns={target: column or None for target, column in columns.items()},
        conditions=conditions,
        audio=audio,
        audio_root=audio_root,
        name=name,
        version=version,
        language=language,
        annotations=annotations,
        skip_broken=skip_broken,
        empty_is_non_speech=empty_is_non_speech,
    )
    with TerminalProgress() as progress:
        imported = import_suite(options, progress)
    _print(imported, destination, conditions)


def _pairs(option: str, values: list[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for value in values:
        name, equals, column = value.partition("=")
        if not equals:
            raise InputError(f"{option} {value!a}: write it as NAME=COLUMN")
        if name in out:
            raise InputError(f"{option} {name!a} is given twice")
        out[name] = column
    return out


def _print(imported: "Imported", destination: Path, conditions: dict[str, str]) -> None:
    found, items = imported.found, imported.suite.items
    typer.echo(f"read as {imported.guess.format}: {imported.guess.why}")
    if found.columns:
        read = [f"{target}={column}" for target, column in found.columns.items()]
        read += [f"{axis}={column} (condition)" for axis, column in conditions.items()]
        typer.echo(_shown(f"columns: {', '.join(read)}"))
    if found.unused:
        more = f" and {len(found.unused) - _MAX_LISTED} more" if len(found.unused) > _MAX_LISTED else ""
        typer.echo(_shown("not read: " + ", ".join(found.unused[:_MAX_LISTED]) + more))
    speech = sum(item.is_speech for item in items)
    sessions = len({item.session for item in items if item.session is not None})
    typer.echo(
        f"imported {len(items)} of {count_of(len(found.rows), 'row')}: {speech} speech, "
        f"{len(items) - speech} non-speech, {count_of(sessions, 'session')}; "
        f"{count_of(imported.files, 'recording')}, {count_of(imported.clips, 'clip')} cut out of recordings"
    )
    if imported.broken:
        _print_broken(imported.broken)
    for note in imported.notes:
        typer.echo(_shown(f"note: {note}"))
    typer.echo(f"\nSuite: {destination}\nLook at it: misheard suite show {path_argument(destination)}")


def _print_broken(broken: "Sequence[Broken]") -> None:
    typer.echo(f"left out {count_of(len(broken), 'row')}:")
    for row in broken[:_MAX_LISTED]:
        typer.echo(_shown(f"  {row.where}: {row.why}"))
    if len(broken) > _MAX_LISTED:
        typer.echo(f"  and {len(broken) - _MAX_LISTED} more, which import.json lists")


def _shown(text: str) -> str:
    """Return a line in which column names control no terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
