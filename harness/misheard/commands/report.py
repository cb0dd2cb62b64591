"""`misheard report`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from misheard.commands.optional_values import USUAL, OptionalValues
from misheard.errors import InputError

RunPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Directory of a run, or folder of a soak; several are listed as one page by --html=FILE.",
    ),
]


class ReportCommand(OptionalValues):
    """`--html` and `--markdown` take a file where one is named."""

    endings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "--html": (".html", ".htm"),
        "--markdown": (".md", ".markdown"),
    }


def report(
    runs: RunPaths,
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
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this metric (docs/metrics.md); may be given again."),
    ] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the chosen matrix to this file.")
    ] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write the chosen matrix as CSV.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="[FILE.html]",
            help="Write one HTML file: RUN/report.html of one run or soak, or FILE.html, which several need.",
        ),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="[FILE.md]", help="Write a summary for a pull request: to stdout, or into this file."
        ),
    ] = None,
    verdict: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Show this verdict in --html and --markdown: what gate --json wrote."
        ),
    ] = None,
    with_text: Annotated[
        bool,
        typer.Option("--with-text", help="Put every item into --html: what was said, heard and answered."),
    ] = False,
    open_it: Annotated[
        bool, typer.Option("--open", help="Write the HTML file and show it in a browser.")
    ] = False,
) -> None:
    """Print the report of a run, or the matrix of the conditions, items and metrics that are asked for.

    Of a soak it prints the session over its time and the verdict; of several runs and soaks it writes a list
    with trends. Nothing that is read is changed. Exit code 2: an axis, value or metric that is not there, or
    no item left.
    """
    from misheard.commands.report_folders import report_index, report_soak_folder
    from misheard.soak.finished import is_soak_folder

    is_matrix = any(option is not None for option in (by, where, metric, json_path, csv_path))
    of_one = {
        "--by": by,
        "--where": where,
        "--metric": metric,
        "--json": json_path,
        "--csv": csv_path,
        "--markdown": markdown is not None,
        "--verdict": verdict,
        "--with-text": with_text,
    }
    if len(runs) > 1:
        report_index(runs, html, open_it, of_one)
        return
    (run,) = runs
    if is_soak_folder(run):
        report_soak_folder(run, html, open_it, of_one)
        return
    if with_text and html is None and not open_it:
        raise InputError("--with-text: texts are shown in the HTML file alone; add --html")
    if html is not None or markdown is not None or open_it:
        html = USUAL if html is None and open_it else html
        _write_pages(run, html, markdown, verdict, is_matrix, open_it, with_text)
        return
    if verdict is not None:
        raise InputError("--verdict: is shown by --html and --markdown; add one of them")
    if is_matrix:
        _print_matrix(run, by or [], where or [], metric or [], json_path, csv_path)
        return
    from misheard.report.files import damaged_report, read_report

    document = read_report(run)
    with damaged_report(run):
        print_report(document)


def _write_pages(
    run: Path,
    html: str | None,
    markdown: str | None,
    verdict: Path | None,
    is_matrix: bool,
    open_it: bool,
    with_text: bool,
) -> None:
    """Write the report of a run as the files that are asked for."""
    from misheard.canonical import write_atomic
    from misheard.commands.report_folders import show_page
    from misheard.report.files import damaged_report
    from misheard.report.html.items_section import read_items, with_items
    from misheard.report.html.loading import read_run_documents
    from misheard.report.html.run_page import run_page
    from misheard.report.html.writing import page_path, refuse_data, write_page
    from misheard.report.markdown import report_markdown

    if is_matrix:
        raise InputError(
            "--html, --markdown and --open show every condition; leave --by, --where, --metric, "
            "--json and --csv out"
        )
    path = None if html is None else page_path(run, None if html == USUAL else Path(html))
    summary = Path(markdown) if markdown else None
    refuse_data(path, summary)
    with damaged_report(run):
        documents = read_run_documents(run, verdict)
        page = None if path is None else run_page(documents)
        if path is not None and page is not None and with_text:
            page = with_items(page, read_items(run, documents, path))
    if path is not None and page is not None:
        with damaged_report(run):
            write_page(path, page)
        typer.echo(f"page: {path}", err=markdown == USUAL)
        if with_text:
            typer.echo(f"warning: {path} now holds transcripts; keep it as you keep the recordings", err=True)
    if markdown is not None:
        with damaged_report(run):
            text = report_markdown(documents.report, documents.verdict)
        if summary is None:
            typer.echo(text, nl=False)
        else:
            write_atomic(summary, text)
    if open_it and path is not None:
        show_page(path)


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
