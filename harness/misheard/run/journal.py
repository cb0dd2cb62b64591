"""An append-only JSONL journal whose unit is a batch.

The rows of a batch and then a commit line are written at once, flushed and fsynced. A batch without its
commit line does not exist: readers stop before it, and whoever resumes cuts it off and runs the whole batch
again, so that a rerun has the same batches as an unbroken run.
"""

import json
import os
from collections.abc import Iterable, Iterator
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
    """Yield each committed batch and the offset of the byte after it."""
    rows: list[dict[str, Any]] = []
    offset = 0
    with path.open("rb") as file:
        for line in file:
            offset += len(line)
            try:
                record = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                record = None
            if not isinstance(record, dict):
                return
            if _COMMIT in record:
                yield Batch(record[_COMMIT], record["note"], tuple(rows)), offset
                rows = []
            else:
                rows.append(record)


def read_batches(path: Path) -> Iterator[Batch]:
    """Yield the committed batches of a journal in the order in which they were written.

    Raises IncompleteRunError where the file does not exist.
    """
    if not path.is_file():
        raise IncompleteRunError(f"{path}: missing; was the run started?")
    for batch, _ in _scan(path):
        yield batch


class Journal:
    """A journal open for appending. What a killed writer left behind its last commit is cut off first."""

    def __init__(self, path: Path) -> None:
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
        lines = [*map(canonical_json, batch.rows), canonical_json({_COMMIT: name, "note": note})]
        self._file.write(("\n".join(lines) + "\n").encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.committed[name] = batch

    def close(self) -> None:
        """Close the file; nothing is pending."""
        self._file.close()
