"""What `misheard report` does with several folders, and with the folder of a soak."""

import os
from pathlib import Path
from typing import Any

import typer

from misheard.commands.optional_values import USUAL
from misheard.errors import InputError, count_of


def show_page(path: Path) -> None:
    """Show a page that was written in a browser; where none is found, say so: the page is there."""
    from misheard.report.html.writing import open_page

    try:
        open_page(path)
    except InputError as error:
        typer.echo(f"warning: {error}", err=True)


def report_soak_folder(folder: Path, html: str | None, open_it: bool, unused: dict[str, Any]) -> None:
    """Print the session over its time with its verdict, or write its page.

    Args:
        folder: of the soak.
        html: the value of --html; None where it was not given.
        open_it: whether a browser shows the page.
        unused: options that a soak has no use for, with their values.

    Raises InputError for such an option, and as `misheard.soak.finished.read_soak`.
    """
    if given := [name for name, value in unused.items() if value]:
        raise InputError(
            f"{', '.join(given)}: {folder} is a soak, which has no conditions, no metrics and no items; "
            "leave it out"
        )
    if html is None and not open_it:
        from misheard.soak.command import report_soak

        report_soak(folder)
        return
    from misheard.report.html.soak_documents import read_soak_documents
    from misheard.report.html.soak_page import soak_page
    from misheard.report.html.writing import page_path, write_page

    path = page_path(folder, Path(html) if html else None)
    write_page(path, soak_page(read_soak_documents(folder)))
    typer.echo(f"page: {path}")
    if open_it:
        show_page(path)


def report_index(folders: list[Path], html: str | None, open_it: bool, unused: dict[str, Any]) -> None:
    """Write the list of several runs and soaks as one page, and name on stderr what could not be read.

    Files among the folders, as `runs/*` names the pages that lie there, are passed over.

    Args:
        folders: of runs and soaks.
        html: the value of --html, which must name a file; None where it was not given.
        open_it: whether a browser shows the page.
        unused: options that are for one run, with their values.

    Raises InputError without a file, for an option that is for one run, and where no folder can be read.
    """
    if given := [name for name, value in unused.items() if value]:
        raise InputError(f"{', '.join(given)}: is for one run; name one, or leave it out")
    if html is None or html == USUAL:
        raise InputError("several runs are listed in a file; name it with --html=FILE.html, or name one run")
    from misheard.report.html.index_loading import read_index
    from misheard.report.html.index_page import index_page
    from misheard.report.html.writing import refuse_data, write_page

    path = Path(html)
    refuse_data(path)
    index = read_index(_without_files(folders, path), path)
    for problem in index.problems:
        typer.echo(f"misheard: {problem.why}", err=True)
    if not index.entries:
        raise InputError("none of these folders is a run or a soak that can be read; nothing was written")
    write_page(path, index_page(index))
    typer.echo(f"page: {path}")
    if open_it:
        show_page(path)


def _without_files(paths: list[Path], page: Path) -> list[Path]:
    """Return paths without those of files, and say on stderr how many these are; `page` itself is none."""
    # os.path: a name that the system refuses is no file, and not an error here
    files = [path for path in paths if os.path.isfile(path) and path.absolute() != page.absolute()]  # noqa: PTH113
    if files:
        typer.echo(f"note: {count_of(len(files), 'file')} passed over; runs and soaks are folders", err=True)
    return [path for path in paths if path not in files]
