"""Splitting, extending and rotating a suite on disk: load, decide, replace `split.json`."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import InputError
from misheard.suite.alone import alone
from misheard.suite.items import Suite
from misheard.suite.locked import check_lock
from misheard.suite.manifest import load_undivided, load_whole
from misheard.suite.rotation import Rotation, rotate
from misheard.suite.selection import SetName
from misheard.suite.sidecars import is_there, sidecars
from misheard.suite.split import Split, write_split
from misheard.suite.splitting import Shares, extend_split, split_items


@dataclass(frozen=True, slots=True)
class DividedSuite:
    """A suite and its split as it was written to `path`; `locked` where there is a lock, now out of date."""

    suite: Suite
    split: Split
    path: Path
    locked: bool


@dataclass(frozen=True, slots=True)
class ExtendedSuite:
    """A suite whose new items have a set now, and the ids that the split lists no more."""

    division: DividedSuite
    added: tuple[str, ...]
    gone: tuple[str, ...]


def split_suite(path: Path, shares: Shares, seed: int) -> DividedSuite:
    """Split a suite for the first time.

    Raises InputError where it is split already or cannot be split so, SuiteError where it cannot be used,
    NotComparableError where it is not as its lock says.
    """
    with _changing(path):
        target = sidecars(path).split
        if is_there(target):
            raise InputError(
                f"{target}: the suite is split already; --extend puts new items into a set, "
                "misheard suite rotate replaces part of the rolling set"
            )
        suite, _ = load_whole(path)
        check_lock(path)
        return _written(path, suite, split_items(suite.items, suite.axes, shares, seed))


def extend_suite(path: Path, to: SetName) -> ExtendedSuite:
    """Put the items that are in no set into one, and take those that are gone off the split.

    Raises InputError where the suite is not split, or an item is in another session than before.
    """
    with _changing(path):
        suite, before = load_undivided(path)
        if before is None:
            raise InputError(f"{path}: is not split yet; leave --extend out")
        split, added, gone = extend_split(before, suite.items, to)
        if not added and not gone:
            raise InputError(f"{path}: every item is in a set already")
        return ExtendedSuite(_written(path, suite, split), added, gone)


def rotate_suite(path: Path, *, share: float, seed: int, reuse: bool) -> tuple[Rotation, DividedSuite]:
    """Replace a share of the rolling set.

    Raises InputError where the suite is not split or the reserve is not enough, NotComparableError where the
    suite is not as its lock says.
    """
    with _changing(path):
        suite, _ = load_whole(path)
        before = load_undivided(path)[1]
        if before is None:
            raise InputError(f"{path}: is not split yet; misheard suite split divides it")
        check_lock(path)
        rotated = rotate(before, suite.items, suite.axes, share=share, seed=seed, reuse=reuse)
        return rotated, _written(path, suite, rotated.split)


def _changing(path: Path) -> AbstractContextManager[None]:
    """Let no other process divide the suite, which it would do from the same split as it was before."""
    folder = sidecars(path).split.parent
    # Without one there is no suite, as whoever loads it will say.
    return alone(folder) if folder.is_dir() else nullcontext()


def _written(path: Path, suite: Suite, split: Split) -> DividedSuite:
    beside = sidecars(path)
    write_split(beside.split, split)
    return DividedSuite(suite, split, beside.split, is_there(beside.lock))
