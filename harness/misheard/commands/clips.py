"""`misheard clips`."""

from pathlib import Path
from typing import Annotated

import typer


def clips(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Directories of runs.")],
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="Count words under this profile: exact, nfc, plain, spoken; may be given again.",
            show_default="that of the run's report, exact, plain",
        ),
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the report to this file.")
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put references and transcripts into the file of --json.")
    ] = False,
) -> None:
    """Print a run recording by recording, or the sums of several runs side by side.

    Word errors under several profiles, and the times that a recognizer program tells: loading, inference,
    process. Exit code 4: a run that is not complete, or runs over different recordings.
    """
    from misheard.console import stdout
    from misheard.errors import InputError
    from misheard.report.clips import PROFILES
    from misheard.report.terminal_clips import render_clips, render_clips_comparison
    from misheard.run.clips import clips_comparison, clips_report, report_profile
    from misheard.run.directory import refuse_own_files

    refuse_own_files(json_path)
    if with_text and (json_path is None or len(runs) > 1):
        raise InputError("--with-text: takes one run, and --json says where the text goes")
    chosen = list(dict.fromkeys(profiles or [*map(report_profile, runs), *PROFILES]))
    document = (
        clips_report(runs[0], chosen, with_text=with_text)
        if len(runs) == 1
        else clips_comparison(runs, chosen)
    )
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, document)
    stdout.print(render_clips(document) if len(runs) == 1 else render_clips_comparison(document))
