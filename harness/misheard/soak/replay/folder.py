"""The files of a soak: what was played, its trace, its verdict, and no text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from misheard.canonical import canonical_json, write_atomic, write_json
from misheard.errors import InputError
from misheard.run.folder_lock import LOCK, FolderLock
from misheard.soak.replay.values import Script

SCHEMA = "misheard/soak/1"


class SoakFolder:
    """The files of one soak."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs = root / "logs"
        self.soak_json = root / "soak.json"
        self.session = root / "session.jsonl"
        self.trace = root / "trace.jsonl"
        self.verdict = root / "verdict.json"
        self.lock = root / LOCK
        self._lock: FolderLock | None = None

    @classmethod
    def create(cls, root: Path) -> Self:
        """Make a new folder. Raises InputError where it is not empty: a live session cannot be resumed."""
        folder = cls(root)
        try:
            root.mkdir(parents=True, exist_ok=True)
            if any(root.iterdir()):
                raise InputError(
                    f"--out {root}: is not empty; a session cannot be resumed, choose another folder"
                )
            folder.logs.mkdir()
        except OSError as error:
            raise InputError(f"--out {root}: {error.strerror}") from error
        folder._lock = FolderLock(root)
        return folder

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write(self, state: Mapping[str, Any]) -> None:
        """Replace `soak.json`."""
        write_json(self.soak_json, {"schema": SCHEMA, **state})

    def write_session(self, script: Script) -> None:
        """Write what is played when, a segment a line."""
        rows = (
            {
                "kind": str(segment.kind),
                "item": segment.item,
                "start": round(segment.start, 4),
                "end": round(segment.end, 4),
                "offset": round(segment.offset, 4),
            }
            for segment in script.segments
        )
        write_atomic(self.session, "".join(f"{canonical_json(row)}\n" for row in rows))
