"""An append-only JSONL journal whose unit is a batch.

The rows of a batch and then a commit line are written at once, flushed and fsynced. A batch without its
commit line does not exist: readers stop before it, and whoever resumes cuts it off and runs the whole batch
again, so that a rerun has the same batches as an unbroken run. The commit line holds the hash of the rows, so
that an edited journal is not taken for what was inferred.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.canonical import canonical_json
from misheard.errors import IncompleteRunError

_COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class Batch:
    """One committed batch: its name, what was noted about it (timings), and its rows."""

    name: str
    note: dict[str, Any]
    rows: tuple[dict[str, Any], ...]


def _scan(path: Path) -> Iterator[tuple[Batch, int]]:
    """Yield each committed batch and the offset of the byte after it.

    What a killed writer left at the end is passed over. Raises IncompleteRunError for damage before that:
    a batch that is not what was committed, with others behind it.
    """
    rows: list[dict[str, Any]] = []
    digest, offset = hashlib.sha256(), 0
    with path.open("rb") as file:
        for line in file:
            record = _parse(line)
            if record is not None and _COMMIT not in record:
                rows.append(record)
                digest.update(line)
            elif record is not None and _is_commit_of(record, rows, digest.hexdigest()):
                yield Batch(record[_COMMIT], record["note"], tuple(rows)), file.tell()
                rows, digest = [], hashlib.sha256()
            elif any(_COMMIT in (_parse(later) or {}) for later in file):
                raise IncompleteRunError(
                    f"{path}: damaged after byte {offset}, and more follows; bring back a copy, or cut the "
                    "file there and go on with --resume"
                )
            else:
                return
            offset += len(line)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the object of a whole line, None for anything else."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _is_commit_of(record: dict[str, Any], rows: Sequence[dict[str, Any]], sha256: str) -> bool:
    note = record.get("note")
    return (
        isinstance(record[_COMMIT], str)
        and isinstance(note, dict)
        and all(isinstance(value, int | float) for value in note.values())
        and (record.get("rows"), record.get("sha256")) == (len(rows), sha256)
    )


def read_batches(path: Path) -> Iterator[Batch]:
    """Yield the committed batches of a journal in the order in which they were written.

    Raises IncompleteRunError where the file does not exist.
    """
    if not path.is_file():
        raise IncompleteRunError(f"{path}: missing; was the run started?")
    for batch, _ in _scan(path):
        yield batch


def has_rows(*journals: Path) -> bool:
    """Whether any of some journals holds a row; one that does not exist holds none."""
    return any(batch.rows for path in journals if path.exists() for batch in read_batches(path))


class Journal:
    """A journal open for appending. What a killed writer left behind its last commit is cut off first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.committed: dict[str, Batch] = {}
        end = 0
        if path.exists():
            for batch, offset in _scan(path):
                self.committed[batch.name] = batch
                end = offset
        self._file = path.open("ab")
        self._file.truncate(end)
        self._file.seek(end)

    def commit(self, name: str, rows: Iterable[dict[str, Any]], note: dict[str, Any]) -> None:
        """Append a batch; when this returns, it survives a power cut."""
        batch = Batch(name, note, tuple(rows))
        lines = "".join(canonical_json(row) + "\n" for row in batch.rows).encode("ascii")
        commit = {
            _COMMIT: name,
            "note": note,
            "rows": len(batch.rows),
            "sha256": hashlib.sha256(lines).hexdigest(),
        }
        try:
            self._file.write(lines + canonical_json(commit).encode("ascii") + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        self.committed[name] = batch

    def close(self) -> None:
        """Close the file; nothing is pending."""
        self._file.close()
