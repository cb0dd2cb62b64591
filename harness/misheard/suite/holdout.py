"""The sealed holdout: opened for a reason, once for one run.

`open_holdout` appends to the log of openings; the newest opening lets one run load the holdout and is then
used up. That run may be resumed; another needs another opening.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.command_lines import path_argument
from misheard.errors import InputError, NotComparableError
from misheard.suite.items import Suite
from misheard.suite.lock import make_lock
from misheard.suite.locked import check_lock
from misheard.suite.manifest import load_sealed, load_suite
from misheard.suite.openings import (
    Opening,
    append_opening,
    append_run,
    checked_reason,
    openings_of,
    read_openings,
)
from misheard.suite.selection import Selection
from misheard.suite.sidecars import sidecars

_MOST_REPORTED = 20


def open_holdout(path: Path, reason: str) -> tuple[Opening, int]:
    """Open the holdout of a suite for one run. Returns the opening, and how many items are sealed.

    Raises InputError where the reason says nothing, the suite has no holdout or an opening of it is not used
    yet, SuiteError where the suite cannot be used, NotComparableError where it is not as its lock says.
    """
    reason = checked_reason(reason)
    sealed = _sealed(load_suite(path, subset="unsealed"), path)
    check_lock(path)
    suite = make_lock(path).content_sha256()

    def unused(before: Sequence[Opening]) -> None:
        # One of a suite that has changed since lets nothing run, and must not be in the way for good.
        if before and before[-1].run is None and before[-1].suite == suite:
            raise InputError(
                f"{path}: opening {before[-1].number} is not used yet; run with misheard run … --holdout"
            )

    opening = append_opening(sidecars(path).openings, reason, suite, unused)
    return opening, sealed


def load_holdout(path: Path, run: str | None, require_audio: bool = True) -> Suite:
    """Load the sealed items for the run of that id, or for a new one.

    Raises InputError where no opening allows it, NotComparableError where the suite is not as it was opened.
    """
    _sealed(load_suite(path, require_audio, subset="unsealed"), path)
    opening = _usable(path, openings_of(read_openings(sidecars(path).openings)), run)
    if opening.suite != make_lock(path, require_audio).content_sha256():
        raise NotComparableError(
            f"{path}: the suite changed since opening {opening.number}; put it back as it was, "
            f"or open it again: misheard suite open {path_argument(path)} --reason WHY"
        )
    return load_sealed(path, require_audio)


def use_opening(path: Path, run: str) -> None:
    """Record that a run uses the newest opening up; nothing where it has one already. Raises InputError."""
    log = sidecars(path).openings
    if all(opening.run != run for opening in openings_of(read_openings(log))):
        append_run(log, run, lambda openings: _usable(path, openings, run))


def holdout_facts(path: Path, selection: Selection) -> dict[str, Any]:
    """Return what a run records of the holdout: how many items it has, and who opened it when and why."""
    openings = openings_of(read_openings(sidecars(path).openings))
    return {
        "sealed": selection.sealed,
        "opened": selection.subset == "holdout",
        "openings": len(openings),
        "log": [opening.document() for opening in openings[-_MOST_REPORTED:]],
    }


def _sealed(suite: Suite, path: Path) -> int:
    sealed = 0 if suite.selection is None else suite.selection.sealed
    if not sealed:
        raise InputError(f"{path}: has no sealed holdout; misheard suite split makes one")
    return sealed


def _usable(path: Path, openings: Sequence[Opening], run: str | None) -> Opening:
    """Return the opening that a run has used, or else the newest if no run has. Raises InputError."""
    for opening in openings:
        if opening.run is not None and opening.run == run:
            return opening
    if openings and openings[-1].run is None:
        return openings[-1]
    used = ""
    if openings:
        used = f": opening {openings[-1].number} was used by a run, and is for one run (--resume finishes it)"
    raise InputError(
        f"{path}: the holdout is sealed{used}; open it first: "
        f"misheard suite open {path_argument(path)} --reason WHY"
    )
