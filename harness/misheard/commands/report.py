"""`misheard report`."""

from pathlib import Path
from typing import Annotated

import typer

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]


def report(run: RunPath) -> None:
    """Print the report of a run."""
    from misheard.report.files import damaged_report, read_report

    document = read_report(run)
    with damaged_report(run):
        print_report(document)


def print_report(report: dict[str, object]) -> None:
    """Print the report of a run as it reads on a terminal."""
    from misheard.console import stdout
    from misheard.report.terminal import render_report

    stdout.print(render_report(report))
