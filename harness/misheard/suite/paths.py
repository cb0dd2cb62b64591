"""Where the recordings of a suite may lie: inside its folder, also after following links."""

import os
import stat
from pathlib import Path, PurePosixPath

_MAX_PATH = 1_024


class SuiteFolder:
    """Checks paths against one folder. Folders are resolved once: suites keep many files in few."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._resolved = os.path.realpath(root)
        self._parents: dict[str, str] = {}

    def check(self, path: str, require_file: bool) -> tuple[str | None, str | None]:
        """Return (path in normal form, what is wrong with it); exactly one is None."""
        wrong = _wrong_form(path)
        if wrong is not None:
            return None, wrong
        normal = str(PurePosixPath(path))
        try:
            wrong = self._wrong_place(normal, require_file)
        except (OSError, ValueError, RuntimeError):
            wrong = "cannot be followed: a loop of links, or a name that is too long"
        return (None, wrong) if wrong is not None else (normal, None)

    def _wrong_place(self, normal: str, require_file: bool) -> str | None:
        parent, name = os.path.split(normal)
        if parent not in self._parents:
            self._parents[parent] = os.path.realpath(self._root / parent)
        target = os.path.join(self._parents[parent], name)  # noqa: PTH118  (a hot loop over strings)
        try:
            status = os.lstat(target)
            if stat.S_ISLNK(status.st_mode):
                target = os.path.realpath(target)
                status = os.lstat(target)
        except (FileNotFoundError, NotADirectoryError):
            status = None
        if os.path.commonpath([self._resolved, target]) != self._resolved:
            return "leads out of the suite's folder through a link; copy the file into the folder"
        if status is None:
            return "names no file; check the name, or restore the recording" if require_file else None
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file" if require_file else None
        return None


def _wrong_form(path: str) -> str | None:
    if not path or path == ".":
        return "is empty"
    if len(path) > _MAX_PATH:
        return f"is longer than {_MAX_PATH} characters"
    if "\0" in path:
        return "holds a NUL character"
    if "\\" in path:
        return "holds a backslash; separate folders with /"
    if path.startswith("/") or (path[1:3] == ":/" and path[0].isalpha()):
        return "is absolute; give it relative to the suite's folder"
    if ".." in path.split("/"):
        return "leaves the suite's folder with `..`; keep recordings inside it"
    return None
