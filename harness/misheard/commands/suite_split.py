"""`misheard suite split`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misheard.command_lines import path_argument
from misheard.errors import InputError

SuitePath = Annotated[Path, typer.Argument(metavar="SUITE", help="Suite folder, suite.yaml or items JSON.")]


def split(
    suite: SuitePath,
    holdout: Annotated[
        float | None,
        typer.Option(help="Share of the items to seal, from 0.05 to 0.1 of 1.", show_default="0.07"),
    ] = None,
    regression: Annotated[
        float | None, typer.Option(help="Share of the fixed regression set.", show_default="0.2")
    ] = None,
    reserve: Annotated[
        float | None, typer.Option(help="Share to keep back for later rotations.", show_default="0")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of the choice.", show_default="1")
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Put new items into a set; nothing else moves.")
    ] = False,
    to: Annotated[
        Literal["rolling", "reserve", "regression", "holdout"] | None,
        typer.Option(help="With --extend: the set of the new items.", show_default="rolling"),
    ] = None,
) -> None:
    """Divide a suite by session into a sealed holdout, a regression set and the rolling rest.

    Every condition gets its share of each set, as far as whole sessions allow. The sets are written beside
    the manifest. From then on the items of the holdout are run and scored only after misheard suite open.
    """
    from misheard.commands.suite_division import print_division
    from misheard.suite.dividing import extend_suite, split_suite
    from misheard.suite.division import mixing_note
    from misheard.suite.selection import SetName
    from misheard.suite.splitting import Shares

    shares = {
        name: share
        for name, share in (("holdout", holdout), ("regression", regression), ("reserve", reserve))
        if share is not None
    }
    if extend and (shares or seed is not None):
        raise InputError("--extend: keeps the shares and the seed of the split; say --to which set items go")
    if to is not None and not extend:
        raise InputError("--to: needs --extend")
    if extend:
        target = SetName(to or "rolling")
        extended = extend_suite(suite, target)
        for what, ids in ((f"put into {target}", extended.added), ("taken off the split", extended.gone)):
            if ids:
                typer.echo(f"{what}: {', '.join(ids)}")
        division = extended.division
    else:
        division = split_suite(suite, Shares(**shares), 1 if seed is None else seed)
    print_division(division.split, division.suite.items, division.suite.axes)
    if not extend:
        typer.echo(f"note: {mixing_note(division.suite.items)}")
    typer.echo(f"\nwritten: {division.path}")
    if division.locked:
        typer.echo(
            f"the lock does not know this yet; write it again: misheard suite lock {path_argument(suite)}"
        )
