"""`misheard soak check`."""

from pathlib import Path
from typing import Annotated

import typer


def check(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE", help="Events of a session, JSONL (docs/soak.md), or a soak's folder."
        ),
    ],
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Names and units of another product's events, YAML."),
    ] = None,
    limits: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the session may do, YAML.",
            show_default="docs/soak.md, or those of the folder",
        ),
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the verdict as JSON.")
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Also show the session over its time.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdict and the timeline as one HTML file.")
    ] = None,
) -> None:
    """Check a trace of any product: lost turns, doubled finals, boards that shrink, drift, memory and more.

    Exit code 0: every check passed; 1: one failed; 2: bad trace, mapping, limits or usage; 3: inconclusive;
    4: a check has no evidence, or the folder's session was not played whole.
    """
    from misheard.soak.command import SoakCheckOptions, check_trace

    raise typer.Exit(check_trace(SoakCheckOptions(trace, mapping, limits, json_path, timeline, html)))
