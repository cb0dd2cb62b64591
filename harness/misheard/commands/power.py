"""`misheard power`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misheard.errors import InputError


def power(
    pilot: Annotated[
        Path, typer.Argument(metavar="PILOT", help="Directory of a run over some of the suite.")
    ],
    effect: Annotated[
        float | None,
        typer.Option(help="Wanted effect, in the metric's unit: 0.05 are 5 points of a rate."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Plan for this metric; may be given again.",
            show_default="the primary metrics and those of answers",
        ),
    ] = None,
    arm: Annotated[
        Literal["audio", "uncorrected", "transcript", "plan", "control"],
        typer.Option(help="The arm that is compared."),
    ] = "audio",
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS,AXIS", help="A plan per combination of these conditions; may be given again."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Another system over the same items: their paired standard error."),
    ] = None,
    wanted: Annotated[
        float, typer.Option("--power", help="Probability of showing an effect, from 0.5 to 0.99.")
    ] = 0.8,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the plan to this file.")
    ] = None,
) -> None:
    """Say from a pilot which effect a suite can show, and how large it must be for a wanted one.

    Exit code 0: planned; 3: nothing can be planned, as with under 6 sessions; 4: the runs do not belong
    together.
    """
    if not 0.5 <= wanted <= 0.99:
        raise InputError(f"--power {wanted}: must be from 0.5 to 0.99")
    if effect is not None and not 0 < effect <= 1:
        raise InputError(f"--effect {effect}: must be over 0 and at most 1; 0.05 are 5 points")
    from misheard.metrics.base import Arm
    from misheard.report.files import damaged_report
    from misheard.report.power import Question, build_power, can_plan
    from misheard.run.directory import refuse_own_files
    from misheard.run.finished import read_finished_run, read_other_run
    from misheard.stats.selection import parse_by

    refuse_own_files(json_path)
    cells = tuple(dict.fromkeys(map(parse_by, by or ())))
    question = Question(wanted, effect, tuple(metric or ()), Arm(arm), cells)
    with damaged_report(*([pilot] if against is None else [pilot, against])):
        finished = read_finished_run(pilot)
        other = None if against is None else read_other_run(against, finished).table
        plan = build_power(finished.table, finished.families, finished.report, question, other)
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, plan)
    from misheard.console import stdout
    from misheard.report.labels import plain
    from misheard.report.terminal import render_power
    from misheard.report.terminal_power import nothing_planned

    stdout.print(render_power(plan))
    if not can_plan(plan):
        typer.echo(f"misheard: {plain(str(pilot))}: {nothing_planned(plan)}", err=True)
        raise typer.Exit(3)
