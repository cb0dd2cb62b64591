"""One process at a time in a folder that is written to."""

import fcntl
import os
from pathlib import Path

from misheard.errors import InputError

LOCK = ".lock"
"""The file in the folder that is locked."""


class FolderLock:
    """The lock of a folder, from here until `close` or the end of the process.

    Raises InputError, which names --out, where another process has it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"--out {folder}: another process is running in it") from error

    def close(self) -> None:
        """Give it back."""
        os.close(self._file)
