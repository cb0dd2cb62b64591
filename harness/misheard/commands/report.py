"""`misheard report`."""

from pathlib import Path
from typing import Annotated

import typer

from misheard.errors import InputError

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run, or the folder of a soak.")]


def report(
    run: RunPath,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS,AXIS",
            help="A cell per combination of these conditions, such as language,noise; may be given again.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Only these items: noise=5dB, language=hi|ta, noise!=clean, joined by commas.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this metric; may be given again.")
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the chosen matrix to this file.")
    ] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write it as a table.")
    ] = None,
) -> None:
    """Print the report of a run, or the matrix of the conditions, items and metrics that are asked for.

    Of a soak it prints the session over its time and the verdict. Nothing that is read is changed. Exit code
    2: an axis, value or metric that is not there, or no item left.
    """
    from misheard.soak.finished import is_soak_folder

    is_matrix = any(option is not None for option in (by, where, metric, json_path, csv_path))
    if is_soak_folder(run):
        if is_matrix:
            raise InputError(
                f"{run}: is a soak, which has no conditions and no metrics; name the folder alone"
            )
        from misheard.soak.command import report_soak

        report_soak(run)
        return
    if is_matrix:
        _print_matrix(run, by or [], where or [], metric or [], json_path, csv_path)
        return
    from misheard.report.files import damaged_report, read_report

    document = read_report(run)
    with damaged_report(run):
        print_report(document)


def _print_matrix(
    run: Path,
    by: list[str],
    where: list[str],
    metrics: list[str],
    json_path: Path | None,
    csv_path: Path | None,
) -> None:
    from misheard.report.files import damaged_report
    from misheard.report.selection import MatrixChoice, build_matrix
    from misheard.run.directory import refuse_own_files
    from misheard.run.finished import read_finished_run
    from misheard.stats.selection import parse_by, parse_where

    refuse_own_files(json_path, csv_path)
    choice = MatrixChoice(
        by=tuple(dict.fromkeys(map(parse_by, by))),
        where=tuple(condition for text in where for condition in parse_where(text)),
        metrics=tuple(metrics),
    )
    with damaged_report(run):
        finished = read_finished_run(run)
        matrix = build_matrix(finished.table, finished.families, finished.report, choice)
    if json_path is not None:
        from misheard.canonical import write_json

        write_json(json_path, matrix)
    if csv_path is not None:
        from misheard.canonical import write_atomic
        from misheard.report.tables import selection_csv

        write_atomic(csv_path, selection_csv(matrix))
    from misheard.console import stdout
    from misheard.report.terminal import render_selection

    stdout.print(render_selection(matrix))


def print_report(report: dict[str, object]) -> None:
    """Print the report of a run as it reads on a terminal."""
    from misheard.console import stdout
    from misheard.report.terminal import render_report

    stdout.print(render_report(report))
