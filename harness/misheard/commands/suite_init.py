"""`misheard suite init`."""

from pathlib import Path
from typing import Annotated

import typer

from misheard.command_lines import path_argument


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the suite; it must be new.")],
    name: Annotated[str | None, typer.Option(help="Name of the suite.", show_default="the folder's")] = None,
    language: Annotated[str, typer.Option(help="Language tag of the recordings.")] = "en",
) -> None:
    """Start a suite: files to fill in, an example of each kind of item, and how to record."""
    from misheard.suite.template import GUIDE_NAME, init_suite

    init_suite(folder, name, language)
    typer.echo(
        f"{folder}: fill in suite.yaml and items.jsonl, and record into audio ({GUIDE_NAME} says how)\n"
        f"What is still missing: misheard suite validate {path_argument(folder)}"
    )
