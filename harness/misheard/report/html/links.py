"""Links from a page to a file on the same disk: relative, so that a folder can be moved or copied whole."""

import os
from pathlib import Path
from urllib.parse import quote

from misheard.report.html.writing import REPORT


def link_to(page: Path, target: Path) -> str:
    """Return the address of a file as seen from a page, with every sign that means something escaped.

    A colon is escaped too: no name of a folder can become a scheme such as `javascript:`. Names that are no
    UTF-8 keep their bytes.
    """
    return quote(os.fsencode(os.path.relpath(target.resolve(), page.resolve().parent)))


def link_to_report(page: Path, folder: Path) -> str:
    """Return the address of the page of a run or soak; empty where it has none, or where it is this page."""
    target = folder / REPORT
    if not target.is_file() or target.resolve() == page.resolve():
        return ""
    return link_to(page, target)
