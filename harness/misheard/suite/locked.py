"""Whether a suite is as its own lock says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.command_lines import path_argument
from misheard.errors import NotComparableError
from misheard.suite.changes import changes_between
from misheard.suite.lock import make_lock, read_lock
from misheard.suite.sidecars import is_there, sidecars


@dataclass(frozen=True, slots=True)
class LockState:
    """A lock that the suite fits. `added` items are not in it yet; nothing that is in it was edited."""

    sha256: str
    added: int

    def document(self) -> dict[str, Any]:
        """Return what a run records of it."""
        return {"sha256": self.sha256, "matches": not self.added, "added_items": self.added}


def check_lock(path: Path) -> LockState | None:
    """Compare a suite with the lock beside it; None where there is none.

    Items may have been added. Raises NotComparableError that names every edit, SuiteError where lock or suite
    cannot be read.
    """
    lock_path = sidecars(path).lock
    if not is_there(lock_path):
        return None
    lock = read_lock(lock_path)
    changes = changes_between(lock, make_lock(path, require_audio=False))
    if changes.edits:
        raise NotComparableError(
            f"{path}: the suite is not as {lock_path.name} says:\n{changes.named_edits()}\n"
            f"  put it back, or accept the edits: misheard suite lock {path_argument(path)}"
        )
    return LockState(lock.sha256(), len(changes.added_items))
