"""`misheard baseline …`: say which run the next ones are compared with."""

from pathlib import Path
from typing import Annotated

import typer

baseline_app = typer.Typer(no_args_is_help=True, help="Say which run the next ones are compared with.")

Folder = Annotated[Path, typer.Option("--baselines", help="Folder of the log of promotions.")]


@baseline_app.command()
def promote(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a finished run.")],
    reason: Annotated[str, typer.Option(help="Why; it stands in the log.")] = "",
    baselines: Folder = Path("baselines"),
) -> None:
    """Make a run the baseline of its suite, and log it.

    Exit code 0: promoted; 4: the run is not complete, was limited, or has failed items.
    """
    from misheard.gate.baseline import LOG
    from misheard.gate.baseline import promote as promote_run
    from misheard.report.labels import plain

    promotion = promote_run(baselines, run, reason)
    typer.echo(f"{plain(run.resolve().name)} is the baseline of {plain(promotion.suite)}: {baselines / LOG}")


@baseline_app.command(short_help="Print the log of promotions, oldest first.")
def show(
    suite: Annotated[str | None, typer.Option(help="Only of this suite.")] = None,
    baselines: Folder = Path("baselines"),
) -> None:
    """Print the log of promotions, oldest first; the last of a suite is its baseline."""
    from misheard.gate.baseline import describe_promotions

    for line in describe_promotions(baselines, suite):
        typer.echo(line)
