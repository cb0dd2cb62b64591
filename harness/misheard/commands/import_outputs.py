"""`misheard import`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misheard.commands.report import print_report
from misheard.errors import counted


def import_outputs(
    outputs: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUTS", help="JSON Lines: id, transcript, answers, times; see docs/bring-your-own.md."
        ),
    ],
    suite: Annotated[Path, typer.Option(help="Suite that the outputs were made from.")],
    out: Annotated[Path, typer.Option(help="Directory of the run to make.")],
    name: Annotated[
        str | None, typer.Option(help="What reports call the system.", show_default="the file's name")
    ] = None,
    missing: Annotated[
        Literal["error", "fail"],
        typer.Option(help="An item or an answer that is not there is an error, or failed."),
    ] = "error",
    holdout: Annotated[
        bool,
        typer.Option("--holdout", help="The outputs are of the sealed holdout; needs misheard suite open."),
    ] = False,
    profile: Annotated[
        str, typer.Option(help="What texts become before they are compared: exact, nfc, plain or spoken.")
    ] = "nfc",
    on_failure: Annotated[
        Literal["exclude", "worst"],
        typer.Option(help="Failed items: leave them out, or score them as all wrong."),
    ] = "exclude",
) -> None:
    """Make a run of transcripts and answers that were made elsewhere, and report on it.

    Exit code 0: imported; 1: some items failed; 2: bad input, such as ids that are not the suite's.
    """
    from misheard.console import TerminalProgress
    from misheard.run import importing

    options = importing.ImportOptions(
        outputs, suite, out, name, missing, profile, on_failure, "holdout" if holdout else "open"
    )
    with TerminalProgress() as progress:
        progress.begin("reading recordings", None)
        imported = importing.import_outputs(options, progress.advance)
    print_report(imported.scored.report)
    if imported.without_audio:
        have = counted(imported.without_audio, "item has", "items have")
        note = "no recording that can be decoded here; the run compares only with others without them"
        typer.echo(f"\n{have} {note}")
    if imported.left_out:
        typer.echo(f"\n{imported.left_out}")
    typer.echo(f"\nFiles of this run: {out}")
    if imported.scored.report["failures"]["samples_failed"]:
        raise typer.Exit(1)
