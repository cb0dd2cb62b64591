"""Which two states of a suite a person compares: lock files, suites, or the state that git has."""

from dataclasses import dataclass
from pathlib import Path

from misheard.command_lines import path_argument
from misheard.errors import InputError, Problem
from misheard.suite.changes import Changes, changes_between
from misheard.suite.history import commit_at
from misheard.suite.lock import Lock, make_lock, parse_lock, read_lock
from misheard.suite.manifest import ITEMS_NAME
from misheard.suite.sidecars import is_there, sidecars


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from A to B, and which files of the system changed with it, where that was asked."""

    a: str
    b: str
    changes: Changes
    system_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare_states(a: Path, b: Path | None, *, audio: bool = True) -> Comparison:
    """Compare two lock files or suites; with one, its lock with the suite as it is.

    Raises InputError and SuiteError for what is neither, or has no lock where one is needed.
    """
    if b is not None:
        return Comparison(str(a), str(b), changes_between(_state(a, audio), _state(b, audio), audio=audio))
    lock = sidecars(a).lock
    if not is_there(lock):
        raise InputError(
            f"{a}: has no {lock.name} to compare with; misheard suite lock {path_argument(a)} writes one"
        )
    return Comparison(str(lock), str(a), changes_between(read_lock(lock), _state(a, audio), audio=audio))


def compare_with_commit(suite: Path, reference: str, system: list[str], *, audio: bool = True) -> Comparison:
    """Compare the lock that a commit has with the suite as it is, and look which system files changed since.

    A commit that has the suite without a lock cannot show that nothing was edited, which counts as an edit;
    one that has neither makes everything an addition. Raises InputError and SuiteError.
    """
    beside = sidecars(suite)
    folder = beside.lock.parent
    commit = commit_at(folder, reference)
    then = f"{beside.lock.name} at {reference}"
    files = tuple(commit.changed(system, folder)) if system else ()
    now = _state(suite, audio)
    raw = commit.file(beside.lock)
    if raw is None:
        manifest = suite if suite.suffix.lower() == ".json" and not suite.is_dir() else folder / ITEMS_NAME
        if commit.file(manifest) is not None:
            edit = Problem("suite", f"{reference} has it without a {beside.lock.name}; edits cannot be told")
            return Comparison(then, str(suite), Changes((), (edit,)), files)
        added = tuple(Problem(f"item {name}", "added") for name in sorted(now.items))
        return Comparison(then, str(suite), Changes(added, ()), files)
    changes = changes_between(parse_lock(raw, then), now, audio=audio)
    return Comparison(then, str(suite), changes, files, _notes(beside.lock, now, suite, audio=audio))


def _notes(lock: Path, now: Lock, suite: Path, *, audio: bool) -> tuple[str, ...]:
    if not is_there(lock):
        return (f"{suite} has no {lock.name} any more",)
    changes = changes_between(read_lock(lock), now, audio=audio)
    stale = changes.edits or any(change.where != "openings" for change in changes.allowed)
    return (
        (f"{lock} is not up to date; write it again: misheard suite lock {path_argument(suite)}",)
        if stale
        else ()
    )


def _state(path: Path, audio: bool) -> Lock:
    return read_lock(path) if path.suffix == ".lock" else make_lock(path, require_audio=audio)
