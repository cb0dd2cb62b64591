"""The sealed holdout: opened for a reason, once for one run.

`open_holdout` appends to the log of openings; the newest opening lets one run load the holdout and is then
used up. That run may be resumed; another needs another opening.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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

    Raises InputError where the reason says nothing, the suite has no holdout or an opening is not used yet,
    SuiteError where the suite cannot be used, NotComparableError where it is not as its lock says.
    """
    reason = checked_reason(reason)
    sealed = _sealed(load_suite(path, subset="unsealed"), path)
    check_lock(path)

    def unused(before: Sequence[Opening]) -> None:
        if before and before[-1].run is None:
            raise InputError(
                f"{path}: opening {before[-1].number} is not used yet; run with misheard run … --holdout"
            )

    opening = append_opening(sidecars(path).openings, reason, make_lock(path).content_sha256(), unused)
    return opening, sealed


def load_holdout(path: Path, run: str | None, require_audio: bool = True) -> Suite:
    """Load the sealed items for the run of that id, or for a new one.

    Raises InputError where no opening allows it, NotComparableError where the suite is not as it was opened.
    """
    _sealed(load_suite(path, require_audio, subset="unsealed"), path)
    openings = openings_of(read_openings(sidecars(path).openings))
    _allows(path, run)(openings)
    if openings[-1].suite != make_lock(path, require_audio).content_sha256():
        raise NotComparableError(
            f"{path}: the suite changed since opening {openings[-1].number}; put it back as it was"
        )
    return load_sealed(path, require_audio)


def use_opening(path: Path, run: str) -> None:
    """Record that a run uses the newest opening up; nothing where it already did. Raises InputError."""
    log = sidecars(path).openings
    openings = openings_of(read_openings(log))
    if not openings or openings[-1].run != run:
        append_run(log, run, _allows(path, None))


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


def _allows(path: Path, run: str | None) -> Callable[[Sequence[Opening]], None]:
    """Return what raises InputError unless the newest opening is unused, or used by that very run."""

    def check(openings: Sequence[Opening]) -> None:
        advice = f"open it first: misheard suite open {path} --reason WHY"
        if not openings:
            raise InputError(f"{path}: the holdout is sealed; {advice}")
        if openings[-1].run is not None and openings[-1].run != run:
            raise InputError(
                f"{path}: the holdout is sealed: opening {openings[-1].number} was used by a run, and one "
                f"opening is for one run; {advice}"
            )

    return check
