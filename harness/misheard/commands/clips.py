"""`misheard clips`."""

from pathlib import Path
from typing import Annotated

import typer


def clips(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")],
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            help="Count words under this profile; may be given again.",
            show_default="exact, plain",
        ),
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the report to this file.")
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put references and transcripts into the JSON file.")
    ] = False,
) -> None:
    """Print a run recording by recording: word errors under several profiles, and times.

    Loading, inference and process times are those that a recognizer program tells. Exit code 4: a run that
    is not complete.
    """
    from misheard.errors import InputError
    from misheard.report.clips import PROFILES
    from misheard.run.clips import clips_report

    if with_text and json_path is None:
        raise InputError("--with-text: say where with --json")
    document = clips_report(run, list(dict.fromkeys(profiles or PROFILES)), with_text=with_text)
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, document)
    from misheard.console import stdout
    from misheard.report.terminal_clips import render_clips

    stdout.print(render_clips(document))
