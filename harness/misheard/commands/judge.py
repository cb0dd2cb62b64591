"""`misheard judge …`: see how far the judge agrees with people, and whether it is still the same."""

from pathlib import Path
from typing import Annotated

import typer

judge_app = typer.Typer(no_args_is_help=True, help="Calibrate the model that judges meaning.")


@judge_app.command()
def template(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSONL file to write; must not exist.")],
) -> None:
    """Write the shipped calibration set: 50 items in seven languages.

    Its human scores are those of its authors; replace them by your own. See docs/judge.md.
    """
    from misheard.judge.command import write_template
    from misheard.report.labels import plain

    write_template(file)
    typer.echo(f"Wrote {plain(str(file))}")


@judge_app.command(short_help="Run the judge over a calibration set.")
def calibrate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Run config with judge, a YAML file.")],
    over: Annotated[
        Path | None,
        typer.Option("--set", metavar="FILE", help="Calibration set.", show_default="the shipped one"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Calibration file.", show_default="judge.calibration of CONFIG"),
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Keep the judge on the CPU.")] = False,
    accept: Annotated[
        str | None, typer.Option(metavar="REASON", help="Take a judge that drifted; the reason is kept.")
    ] = None,
) -> None:
    """Run the judge over a calibration set: agreement with people, and drift since the last time.

    Exit code 0: calibrated or accepted; 1: drifted by more than 1 point, or no valid score, so that the
    judge's numbers stay withheld; 2: bad input; 4: set and judge changed together.
    """
    from misheard.console import TerminalProgress, stdout
    from misheard.judge.command import CalibrateOptions, calibrate_judge
    from misheard.judge.terminal import render_calibration
    from misheard.report.labels import plain
    from misheard.run.directory import refuse_own_files

    refuse_own_files(out)
    options = CalibrateOptions(config, over, out, accept, cpu=cpu)
    with TerminalProgress() as progress:
        done = calibrate_judge(options, progress)
    stdout.print(render_calibration(done.agreements, done.calibration, done.notes))
    typer.echo(f"Calibration file: {plain(str(done.path))}")
    if not done.calibration.is_good:
        raise typer.Exit(1)
