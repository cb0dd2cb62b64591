"""Bringing the recordings of usable rows into the new suite's folder, each decoded once to its end."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from misheard.audio.decode import check
from misheard.audio.files import open_regular
from misheard.errors import InputError
from misheard.failures import ItemFailedError
from misheard.suite.importers.checks import Broken, Usable
from misheard.suite.importers.clips import Cut, cut, is_whole
from misheard.suite.importers.rows import Clip
from misheard.suite.importers.trn import AUDIO_SUFFIXES

AUDIO_FOLDER = "audio"

AudioMode = Literal["copy", "link"]

_MAGIC = (
    (b"RIFF", ".wav"), (b"RF64", ".wav"), (b"fLaC", ".flac"), (b"OggS", ".ogg"), (b"ID3", ".mp3"),
    (b"FORM", ".aiff"), (b".snd", ".au"), (b"NIST", ".sph"),
)  # fmt: skip
_MAX_CONTENT_BYTES = 2 << 30


@dataclass(slots=True)
class Gathered:
    """What became of the recordings.

    Attributes:
        audio: path below the suite's folder, by place among the usable rows.
        broken: rows whose recording cannot be used.
        files, clips: how many files were taken whole, and how many were cut out of others.
    """

    audio: dict[int, str] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    files: int = 0
    clips: int = 0


def gather(
    rows: Sequence[Usable],
    ids: Sequence[str],
    root: Path,
    mode: AudioMode,
    advance: Callable[[], None],
) -> Gathered:
    """Copy, link or cut the recording of every row into `root`; `advance` is called per row.

    Raises InputError where a hard link cannot be made.
    """
    (root / AUDIO_FOLDER).mkdir()
    gathered = Gathered()
    by_path: dict[Path | int, list[int]] = {}
    for place, row in enumerate(rows):
        by_path.setdefault(place if row.path is None else row.path, []).append(place)
    for source, places in by_path.items():
        try:
            if isinstance(source, Path):
                _take(source, places, rows, ids, root, mode, gathered)
            else:
                _unpack(source, rows[source], ids[source], root, gathered)
        except ItemFailedError as error:
            for place in places:
                _mark(gathered, rows[place], f"its recording cannot be used: {error.detail} ({error.kind})")
        for _ in places:
            advance()
    return gathered


def _take(
    source: Path,
    places: Sequence[int],
    rows: Sequence[Usable],
    ids: Sequence[str],
    root: Path,
    mode: AudioMode,
    gathered: Gathered,
) -> None:
    info = check(source).info
    whole = [place for place in places if is_whole(rows[place].row.clip, info.seconds, info.channels)]
    if whole:
        name = f"{AUDIO_FOLDER}/{ids[whole[0]]}{_suffix(source)}"
        _bring(source, root / name, mode)
        gathered.files += 1
        gathered.audio |= dict.fromkeys(whole, name)
    parts = [place for place in places if place not in gathered.audio]
    if not parts:
        return
    cuts = [Cut(rows[place].row.clip or Clip(), root / AUDIO_FOLDER / ids[place]) for place in parts]
    for place, made in zip(parts, cut(source, info, cuts), strict=True):
        if isinstance(made, str):
            _mark(gathered, rows[place], f"its clip {made}")
        else:
            gathered.clips += 1
            gathered.audio[place] = made.relative_to(root).as_posix()


def _unpack(place: int, row: Usable, identifier: str, root: Path, gathered: Gathered) -> None:
    """Write a recording that lies in the source itself."""
    content = row.row.content
    raw = b"" if content is None else content()
    if len(raw) > _MAX_CONTENT_BYTES:
        _mark(gathered, row, f"its recording has more than {_MAX_CONTENT_BYTES >> 30} GiB")
        return
    suffix = Path(row.row.audio or "").suffix.lower()
    suffix = suffix if suffix in AUDIO_SUFFIXES else _magic_suffix(raw)
    target = root / AUDIO_FOLDER / f"{identifier}{suffix}"
    with target.open("xb") as file:
        file.write(raw)
    try:
        check(target)
    except ItemFailedError:
        target.unlink()
        raise
    gathered.files += 1
    gathered.audio[place] = target.relative_to(root).as_posix()


def _bring(source: Path, target: Path, mode: AudioMode) -> None:
    if mode == "link":
        try:
            os.link(source, target)
        except OSError as error:
            raise InputError(
                f"{source}: no hard link to it can be made ({error.strerror}); use --audio copy"
            ) from error
        return
    with open_regular(source) as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 1 << 20)


def _suffix(source: Path) -> str:
    suffix = source.suffix.lower()
    if suffix in AUDIO_SUFFIXES:
        return suffix
    with open_regular(source) as file:
        return _magic_suffix(file.read(16))


def _magic_suffix(start: bytes) -> str:
    if start[4:8] == b"ftyp":
        return ".m4a"
    return next((suffix for magic, suffix in _MAGIC if start.startswith(magic)), ".mp3")


def _mark(gathered: Gathered, row: Usable, why: str) -> None:
    gathered.broken.append(Broken(row.row.where, row.row.name, why))
