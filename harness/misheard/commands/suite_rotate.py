"""`misheard suite rotate`."""

from typing import Annotated

import typer

from misheard.command_lines import path_argument
from misheard.commands.suite_split import SuitePath


def rotate(
    suite: SuitePath,
    share: Annotated[float, typer.Option(help="Share of the rolling set to replace, of 1.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the choice.")] = 1,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Bring retired items back where the reserve is not enough.")
    ] = False,
) -> None:
    """Retire a share of the rolling set, and let as much enter from the reserve.

    Regression set and holdout stay as they are. Nothing is deleted: what retires stays in the suite and is
    not run any more.
    """
    from misheard.commands.suite_division import print_division
    from misheard.suite.dividing import rotate_suite

    rotated, division = rotate_suite(suite, share=share, seed=seed, reuse=reuse)
    members = rotated.split.units
    back = set(rotated.returned)
    for what, units in (
        ("retired", rotated.retired),
        ("entered", [unit for unit in rotated.entered if unit not in back]),
        ("came back", rotated.returned),
    ):
        ids = [identifier for unit in units for identifier in members[unit].items]
        if ids:
            typer.echo(f"{what}: {', '.join(ids)}")
    print_division(division.split, division.suite.items, division.suite.axes)
    typer.echo(f"\nrotation {rotated.split.rotation}, written: {division.path}")
    if division.locked:
        typer.echo(
            f"the lock does not know this yet; write it again: misheard suite lock {path_argument(suite)}"
        )
