"""Where a page goes: a file of its own, written whole, and a browser to look at it."""

from pathlib import Path

from misheard.canonical import write_atomic
from misheard.errors import InputError
from misheard.report.html.page import Page
from misheard.report.html.render import render
from misheard.run.directory import refuse_own_files
from misheard.soak.finished import refuse_soak_files

REPORT = "report.html"
"""The page of a run, in its directory."""


def page_path(run: Path, chosen: Path | None) -> Path:
    """Return where the page of a run goes. Raises as `refuse_data`."""
    path = run / REPORT if chosen is None else chosen
    refuse_data(path)
    return path


def refuse_data(*outputs: Path | None) -> None:
    """Raise InputError where an output would take the place of a file of a run or soak, or of another."""
    refuse_own_files(*outputs)
    refuse_soak_files(*outputs)
    places = [output.resolve() for output in outputs if output is not None and not output.is_char_device()]
    if len(set(places)) < len(places):
        raise InputError(f"{', '.join(map(str, filter(None, outputs)))}: are one file; name another")


def write_page(path: Path, page: Page) -> None:
    """Write a page, whole or not at all. Raises OSError that names the file."""
    write_atomic(path, render(page) + "\n")


def open_page(path: Path) -> None:
    """Show a file in a browser. Raises InputError where there is none."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        raise InputError(f"--open: no browser was found; the page is {path}")
