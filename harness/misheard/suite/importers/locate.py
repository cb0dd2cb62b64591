"""Finding the recordings that a source names, and nothing outside the folders that it may name."""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

_ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar", ".zst")
_MAX_PATH = 4_096
_MISSING = "is not there"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Folders:
    """Resolves paths against the source's folders and `--audio-root`, and checks that they stay inside."""

    def __init__(self, folders: Sequence[Path], audio_root: Path | None) -> None:
        self._has_root = audio_root is not None
        self._bases = [*([audio_root] if audio_root is not None else []), *folders]
        self._resolved = [os.path.realpath(base) for base in self._bases]
        self._parents: dict[str, str] = {}

    def find(self, path: str) -> tuple[Path | None, str | None]:
        """Return (the file with links resolved, what is wrong); exactly one is None."""
        wrong = _wrong_form(path)
        if wrong is not None:
            return None, wrong
        candidates = [path] if path.startswith("/") else [os.path.join(base, path) for base in self._bases]  # noqa: PTH118  (a hot loop)
        wrong = _MISSING
        for candidate in candidates:
            try:
                found, wrong = self._check(candidate)
            except (OSError, ValueError):
                found, wrong = None, "cannot be followed: a loop of links, or a name that is too long"
            if found is not None:
                return found, None
            if wrong != _MISSING:
                return None, wrong
        return None, wrong if path.startswith("/") else self._missing()

    def _missing(self) -> str:
        """Say where a file was looked for, and how another folder is named."""
        names = (ascii(str(base)) if base.parts else "the working folder" for base in self._bases)
        looked = ", nor in ".join(names)
        advice = "check the path and" if self._has_root else "name the folder of the recordings with"
        return f"is not in {looked}; {advice} --audio-root"

    def _check(self, candidate: str) -> tuple[Path | None, str]:
        parent, name = os.path.split(candidate)
        if parent not in self._parents:
            self._parents[parent] = os.path.realpath(parent)
        target = os.path.join(self._parents[parent], name)  # noqa: PTH118
        if os.path.islink(target) or name in ("", ".", ".."):  # noqa: PTH114
            target = os.path.realpath(target)
        if not any(os.path.commonpath([base, target]) == base for base in self._resolved):
            return (
                None,
                "lies outside the source's folder; name the folder of the recordings with --audio-root",
            )
        try:
            mode = os.lstat(target).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None, _MISSING
        if stat.S_ISLNK(mode):
            return None, "cannot be followed: a loop of links"
        if not stat.S_ISREG(mode):
            return None, "is not a regular file"
        return Path(target), ""


def _wrong_form(path: str) -> str | None:
    if not path.strip() or "\0" in path:
        return "is no path"
    if len(path) > _MAX_PATH:
        return f"is longer than {_MAX_PATH} characters"
    if _URL.match(path):
        return "is a URL, and none is fetched; download the recording"
    if path.lower().endswith(_ARCHIVES):
        return "is an archive; unpack it and name the recording"
    return None
