"""The log of every opening of a holdout: append-only, each entry carrying the hash of the one before.

Two kinds of lines. An opening says when, who, why, and the fingerprint of the suite that was opened; a `run`
line says which run used it up. The file is replaced whole, under a lock, so that a process that is killed
leaves the old log or the new one.
"""

import getpass
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from misheard.canonical import canonical_json, sha256_json, write_atomic
from misheard.errors import InputError
from misheard.suite.alone import alone
from misheard.suite.problems import Problems
from misheard.suite.sidecars import is_there
from misheard.suite.sources import read_json_lines

MAX_REASON = 500

_OPENING = {"kind": str, "number": int, "at": str, "who": str, "reason": str, "suite": str}
_RUN = {"kind": str, "number": int, "at": str, "run": str}
_FIELDS = {"opening": _OPENING, "run": _RUN}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. `number` counts openings from 1; a run's line carries its opening's."""

    content: dict[str, Any]
    sha256: str

    @property
    def is_opening(self) -> bool:
        """Whether this is an opening, and not its use."""
        return bool(self.content["kind"] == "opening")


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening, and the run that used it up, if one did."""

    number: int
    at: str
    who: str
    reason: str
    suite: str
    run: str | None

    def document(self) -> dict[str, Any]:
        """Return what reports say of it."""
        return {"number": self.number, "at": self.at, "who": self.who, "reason": self.reason}


def openings_of(entries: Sequence[Entry]) -> tuple[Opening, ...]:
    """Return the openings of a log, oldest first."""
    runs = {e.content["number"]: e.content["run"] for e in entries if not e.is_opening}
    return tuple(
        Opening(
            number=entry.content["number"],
            at=entry.content["at"],
            who=entry.content["who"],
            reason=entry.content["reason"],
            suite=entry.content["suite"],
            run=runs.get(entry.content["number"]),
        )
        for entry in entries
        if entry.is_opening
    )


def read_openings(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a log; none where there is no log.

    Raises InputError that names the first line that is not as it was written.
    """
    if not is_there(path):
        return ()
    problems = Problems()
    entries: list[Entry] = []
    for where, record in read_json_lines(path, problems):
        wrong = None if problems else _wrong(record, entries)
        if wrong is not None:
            problems.add(where, f"{wrong}; bring back a copy of the log, it is never edited")
        if problems:
            break
        entries.append(Entry({k: v for k, v in record.items() if k != "sha256"}, record["sha256"]))
    if problems:
        raise problems.error(str(path))
    return tuple(entries)


def _wrong(record: Any, before: Sequence[Entry]) -> str | None:
    """Return what is wrong with the next line after those before it."""
    fields = _FIELDS.get(str(record.get("kind"))) if isinstance(record, dict) else None
    if fields is None:
        return "is no line of a log of openings"
    if set(record) != {*fields, "previous", "sha256"} or any(
        type(record[name]) is not kind for name, kind in fields.items()
    ):
        return "lacks fields of its kind, or has others"
    if record["previous"] != (before[-1].sha256 if before else None):
        return "does not follow on the line before: lines were removed, added or moved"
    if record["sha256"] != sha256_json({k: v for k, v in record.items() if k != "sha256"}):
        return "was edited"
    opened = sum(entry.is_opening for entry in before)
    used = {entry.content["number"] for entry in before if not entry.is_opening}
    expected = record["number"] == opened + 1
    if record["kind"] == "run":
        expected = record["number"] == opened and record["number"] not in used
    return None if expected else "has a number that is not its turn"


def append_opening(
    path: Path, reason: str, suite: str, allowed: Callable[[Sequence[Opening]], object]
) -> Opening:
    """Append an opening of the suite with that fingerprint.

    `allowed` is called with the openings so far, while no other process can append, and raises where there
    may not be another.
    """
    with alone(path.parent):
        entries = read_openings(path)
        before = openings_of(entries)
        allowed(before)
        content = {
            "kind": "opening",
            "number": len(before) + 1,
            "at": _now(),
            "who": _who(),
            "reason": reason,
            "suite": suite,
        }
        return openings_of(_append(path, entries, content))[-1]


def append_run(path: Path, run: str, allowed: Callable[[Sequence[Opening]], object]) -> None:
    """Append that a run uses the newest opening up; `allowed` as for `append_opening`."""
    with alone(path.parent):
        entries = read_openings(path)
        before = openings_of(entries)
        allowed(before)
        _append(path, entries, {"kind": "run", "number": len(before), "at": _now(), "run": run})


def _append(path: Path, entries: Sequence[Entry], content: dict[str, Any]) -> tuple[Entry, ...]:
    content = {**content, "previous": entries[-1].sha256 if entries else None}
    written = (*entries, Entry(content, sha256_json(content)))
    lines = (canonical_json({**entry.content, "sha256": entry.sha256}) + "\n" for entry in written)
    write_atomic(path, "".join(lines))
    return written


def checked_reason(reason: str) -> str:
    """Return a reason without spaces around it. Raises InputError where it says nothing, or too much."""
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON or not reason.isprintable():
        raise InputError(
            f"--reason: say why the holdout is opened, in one line of 1 to {MAX_REASON} characters"
        )
    return reason


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _who() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
    return ascii(name)[1:-1][:80]
