"""`misheard suite open`."""

import sys
from typing import Annotated

import typer

from misheard.command_lines import path_argument
from misheard.commands.suite_split import SuitePath
from misheard.errors import InputError, count_of


def open_holdout(
    suite: SuitePath,
    reason: Annotated[
        str | None, typer.Option(help="Why; it is logged, and shown by reports.", show_default="asked for")
    ] = None,
) -> None:
    """Open the sealed holdout for one run, and log who did it, when and why.

    misheard run CONFIG --holdout uses the opening up.
    """
    from misheard.suite.holdout import open_holdout as open_it

    if reason is None:
        if not sys.stdin.isatty():
            raise InputError("--reason: say why the holdout is opened")
        reason = typer.prompt("Why is the holdout opened?", default="", show_default=False)
    opening, sealed = open_it(suite, reason)
    typer.echo(
        f"opening {opening.number} by {opening.who} at {opening.at}: "
        f"{count_of(sealed, 'sealed item')}, for one run\n"
        f"run it with: misheard run CONFIG --suite {path_argument(suite)} --holdout"
    )
