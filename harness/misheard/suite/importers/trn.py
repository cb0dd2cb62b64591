"""sclite's trn beside a folder of recordings whose names are the ids."""

import os
from collections.abc import Iterator
from pathlib import Path

from misheard.errors import InputError, counted
from misheard.suite.importers.rows import Found, Request, Row
from misheard.suite.importers.tables import file_stem
from misheard.suite.problems import shown
from misheard.transcripts.plain import read_trn

AUDIO_SUFFIXES = (
    ".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".mp4", ".mov", ".webm", ".mkv", ".mka", ".aac",
    ".amr", ".wma", ".wv", ".tta", ".aif", ".aiff", ".aifc", ".au", ".snd", ".sph", ".rf64",
)  # fmt: skip
_MAX_FILES = 1_000_000


def read(path: Path, request: Request) -> Found:
    """Read a trn file, or the one that a folder holds. Recordings may lie in folders below."""
    if request.columns or request.conditions:
        raise InputError(f"{path}: trn has no columns for --map and --condition")
    file = _only_trn(path) if path.is_dir() else path
    folder = request.audio_root or file.parent
    found = read_trn(request.files.text(file))
    recordings = _by_stem(folder)
    rows = []
    for name, text in zip(found.ids or (), found.texts, strict=True):
        files = recordings.pop(name, [])
        rows.append(
            Row(
                where=f"utterance {shown(name)}",
                name=name,
                audio=files[0] if files else None,
                text=text.strip(),
                wrong=f"several recordings are called {name!a}" if len(files) > 1 else None,
            )
        )
    notes = ["trn names no speakers, so there are no sessions: statistics resample items"]
    if recordings:
        lie = counted(len(recordings), "recording lies", "recordings lie")
        notes.append(f"{lie} below {folder} and in no line of {file.name}")
    braces = sum("{" in text for text in found.texts)
    if braces:
        hold = counted(braces, "reference holds", "references hold")
        notes.append(f"{hold} braces, which are words like others and no alternatives")
    return Found(rows=rows, folders=[folder], notes=notes)


def _only_trn(folder: Path) -> Path:
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() == ".trn")
    if len(files) != 1:
        names = ", ".join(file.name for file in files[:10]) or "none"
        raise InputError(f"{folder}: holds not one trn file but {len(files)} ({names}); name the file")
    return files[0]


def _by_stem(folder: Path) -> dict[str, list[str]]:
    """Return the recordings below a folder, relative to it, by their name without suffix."""
    found: dict[str, list[str]] = {}
    for relative in recordings_below(folder):
        found.setdefault(file_stem(relative), []).append(relative)
    return found


def recordings_below(folder: Path) -> Iterator[str]:
    """Yield the relative paths of recordings below a folder, sorted; links to folders are not followed."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; name one with --audio-root")
    seen = 0
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.lower().endswith(AUDIO_SUFFIXES):
                seen += 1
                if seen > _MAX_FILES:
                    raise InputError(f"{folder}: has more than {_MAX_FILES} recordings below it")
                yield (Path(parent) / name).relative_to(folder).as_posix()
