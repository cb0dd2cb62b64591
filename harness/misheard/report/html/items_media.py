"""Where an item's recording and drawings lie, as addresses relative to the page."""

import os
from pathlib import Path
from urllib.parse import quote

from misheard.suite.items import Item, Suite


def recording_address(suite: Suite, item: Item, page: Path) -> str | None:
    """Return the address of a recording; None where it is missing or not in the suite's folder.

    A link that leads out of the folder counts as outside.
    """
    try:
        root = suite.root.resolve(strict=True)
        place = suite.audio_path(item).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    if not place.is_relative_to(root) or not place.is_file():
        return None
    return address(place, page)


def drawing_address(drawings: Path, arm: str, item: str, page: Path) -> str | None:
    """Return the address of the drawing of an item's board in an arm; None where there is none."""
    place = drawings / arm / f"{item}.svg"
    if not place.is_file() or place.is_symlink():
        return None
    return address(place.resolve(), page)


def address(place: Path, page: Path) -> str:
    """Return the address of a resolved path, relative to a page's folder.

    A colon is escaped too: no name of a folder can become a scheme. Names that are no UTF-8 keep their bytes.
    """
    return quote(os.fsencode(os.path.relpath(place, page.resolve().parent)))
