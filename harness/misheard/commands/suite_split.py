"""`misheard suite split`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

SuitePath = Annotated[Path, typer.Argument(metavar="SUITE", help="Suite folder, suite.yaml or items JSON.")]


def split(
    suite: SuitePath,
    holdout: Annotated[float, typer.Option(help="Share of the items to seal, 0.05 to 0.1.")] = 0.07,
    regression: Annotated[float, typer.Option(help="Share of the fixed regression set.")] = 0.2,
    reserve: Annotated[float, typer.Option(help="Share to keep back for later rotations.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the choice.")] = 1,
    extend: Annotated[
        bool, typer.Option("--extend", help="Put new items into a set; nothing else moves.")
    ] = False,
    to: Annotated[
        Literal["rolling", "reserve", "regression", "holdout"],
        typer.Option(help="With --extend: the set of the new items."),
    ] = "rolling",
) -> None:
    """Divide a suite by session into a sealed holdout, a regression set and the rolling rest.

    Every condition gets its share of each set, as far as whole sessions allow. The sets are written beside
    the manifest. From then on the items of the holdout are run and scored only after misheard suite open.
    """
    from misheard.commands.suite_division import print_division
    from misheard.suite.dividing import extend_suite, split_suite
    from misheard.suite.selection import SetName
    from misheard.suite.splitting import Shares

    if extend:
        extended = extend_suite(suite, SetName(to))
        for what, ids in ((f"put into {to}", extended.added), ("taken off the split", extended.gone)):
            if ids:
                typer.echo(f"{what}: {', '.join(ids)}")
        division = extended.division
    else:
        division = split_suite(suite, Shares(holdout, regression, reserve), seed)
    print_division(division.split, division.suite.items, division.suite.axes)
    typer.echo(f"\nwritten: {division.path}")
    if division.locked:
        typer.echo(f"the lock does not know this yet; write it again: misheard suite lock {suite}")
