"""lhotse: cuts, or recordings beside supervisions, as JSON lines that may be compressed by gzip.

The fields are those of lhotse's documentation (https://lhotse.readthedocs.io/en/latest/cuts.html). A cut with
one supervision is an item; of a cut with several, and of a recording, every supervision is one. Commands,
URLs and transforms are refused: what is heard must be a stretch of a file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.errors import InputError, count_of
from misheard.suite.importers.rows import Clip, Found, Request, Row
from misheard.suite.importers.tables import scalar
from misheard.transcripts.jsonl import parse_line

LINES_SUFFIXES = (".jsonl", ".jsonl.gz")
_CUTS = ("MonoCut", "MultiCut")


class _UnusableError(Exception):
    """A cut or a supervision that no item can be made of; the text says why."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of a file: path, start and end in seconds, channel from 0 (None: all)."""

    path: str
    start: float
    end: float
    channel: int | None


def read(path: Path, request: Request) -> Found:
    """Read a file of cuts, or a folder with one, or a folder with recordings and supervisions."""
    if request.columns:
        raise InputError(f"{path}: lhotse has no columns for --map")
    cuts, recordings, supervisions = _manifests(path)
    if cuts is not None:
        rows = [row for where, cut in _objects(cuts, request) for row in _cut_rows(where, cut, request)]
        folder = cuts.parent
    else:
        folder = recordings.parent
        rows = list(_supervision_rows(recordings, supervisions, request))
    return Found(rows=rows, folders=[folder])


def lines_files(folder: Path) -> list[Path]:
    """Return the files of JSON lines in a folder, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.name.lower().endswith(LINES_SUFFIXES))


def has_manifests(folder: Path) -> bool:
    """Whether the names of files in a folder are those of cuts, or of recordings and supervisions."""
    names = [file.name for file in lines_files(folder)]
    return any("cuts" in name for name in names) or all(
        any(kind in name for name in names) for kind in ("recordings", "supervisions")
    )


def _manifests(path: Path) -> tuple[Path | None, Path, Path]:
    if not path.is_dir():
        return path, path, path
    files = lines_files(path)
    by_kind = {
        kind: [file for file in files if kind in file.name] for kind in ("cuts", "recordings", "supervisions")
    }
    if len(by_kind["cuts"]) == 1:
        return by_kind["cuts"][0], path, path
    if not by_kind["cuts"] and len(by_kind["recordings"]) == len(by_kind["supervisions"]) == 1:
        return None, by_kind["recordings"][0], by_kind["supervisions"][0]
    names = ", ".join(file.name for file in files[:20]) or "no .jsonl or .jsonl.gz"
    raise InputError(
        f"{path}: needs one file of cuts, or one of recordings and one of supervisions ({names}); name the "
        "cuts"
    )


def _objects(path: Path, request: Request) -> Iterator[tuple[str, Any]]:
    source = request.files.text(path)
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield f"{path.name}:{number}", parse_line(source, line, number)


def _cut_rows(where: str, cut: Any, request: Request) -> Iterator[Row]:
    name = cut.get("id") if isinstance(cut, dict) else None
    if not isinstance(cut, dict) or not isinstance(name, str):
        yield Row(where, where, named=False, wrong="is no cut with an id")
        return
    try:
        recording, start, duration = _cut(cut)
        supervisions = _list(cut, "supervisions")
    except _UnusableError as error:
        yield Row(where, name, wrong=str(error))
        return
    if len(supervisions) <= 1:
        clip = (start, duration, cut.get("channel"))
        yield _row(where, name, supervisions[0] if supervisions else {}, recording, clip, request)
        return
    for supervision in supervisions:
        yield _supervision_row(where, supervision, recording, request, start)


def _cut(cut: Mapping[str, Any]) -> tuple[Mapping[str, Any], float, float]:
    kind = cut.get("type", "MonoCut")
    if kind not in _CUTS:
        raise _UnusableError(
            f"is of the type {kind!a}; only MonoCut and MultiCut are stretches of one recording"
        )
    recording = cut.get("recording")
    if not isinstance(recording, dict):
        raise _UnusableError("has no recording, only features perhaps; audio is needed")
    return recording, _seconds(cut, "start"), _seconds(cut, "duration")


def _supervision_rows(recordings: Path, supervisions: Path, request: Request) -> Iterator[Row]:
    by_id = {
        value["id"]: value
        for _, value in _objects(recordings, request)
        if isinstance(value, dict) and isinstance(value.get("id"), str)
    }
    for where, supervision in _objects(supervisions, request):
        name = supervision.get("recording_id") if isinstance(supervision, dict) else None
        recording = by_id.get(name) if isinstance(name, str) else None
        if recording is None:
            identifier = supervision.get("id") if isinstance(supervision, dict) else None
            wrong = f"its recording is not in {recordings.name}"
            yield Row(where, str(identifier or where), named=identifier is not None, wrong=wrong)
        else:
            yield _supervision_row(where, supervision, recording, request, 0.0)


def _supervision_row(
    where: str, supervision: Any, recording: Mapping[str, Any], request: Request, begin: float
) -> Row:
    """Return the row of a supervision whose times count from `begin` of the recording."""
    name = supervision.get("id") if isinstance(supervision, dict) else None
    if not isinstance(supervision, dict) or not isinstance(name, str):
        return Row(where, where, named=False, wrong="holds a supervision without an id")
    try:
        start = begin + _seconds(supervision, "start", negative=True)
        clip = (start, _seconds(supervision, "duration"), supervision.get("channel"))
    except _UnusableError as error:
        return Row(where, name, wrong=str(error))
    return _row(where, name, supervision, recording, clip, request)


def _row(
    where: str,
    name: str,
    supervision: Mapping[str, Any],
    recording: Mapping[str, Any],
    clip: tuple[float, float, Any],
    request: Request,
) -> Row:
    try:
        stretch = _stretch(recording, *clip)
    except _UnusableError as error:
        return Row(where, name, wrong=str(error))
    custom = supervision.get("custom")
    values = {**(custom if isinstance(custom, dict) else {}), **supervision}
    text = supervision.get("text")
    return Row(
        where=where,
        name=name,
        audio=stretch.path,
        text=text if isinstance(text, str) else None,
        clip=Clip(stretch.start, stretch.end, stretch.channel),
        session=scalar(supervision.get("speaker")) or None,
        language=scalar(supervision.get("language")) or None,
        conditions={
            axis: value for axis, key in request.conditions.items() if (value := scalar(values.get(key)))
        },
    )


def _stretch(recording: Mapping[str, Any], start: float, duration: float, channel: Any) -> _Stretch:
    if recording.get("transforms"):
        raise _UnusableError("its recording has transforms, which are not applied; save the audio first")
    sources = _list(recording, "sources")
    if len(sources) != 1 or not isinstance(sources[0], dict):
        raise _UnusableError(f"its recording has {count_of(len(sources), 'source')}; one file is needed")
    source = sources[0]
    if source.get("type") != "file" or not isinstance(source.get("source"), str):
        kind = ascii(source.get("type"))[:60]
        raise _UnusableError(f"its recording is of the type {kind}; commands and URLs are not followed")
    if start < 0 or duration <= 0:
        raise _UnusableError("begins before its recording, or has no duration")
    return _Stretch(source["source"], start, start + duration, _channel(channel, _list(source, "channels")))


def _channel(wanted: Any, channels: list[Any]) -> int | None:
    """Return which channel of the file to take: its place in the source's list; None for all of them."""
    chosen = wanted if isinstance(wanted, list) else [0 if wanted is None else wanted]
    if len(channels) <= 1 or sorted(map(str, chosen)) == sorted(map(str, channels)):
        return None
    if len(chosen) != 1 or chosen[0] not in channels:
        raise _UnusableError("takes channels that its recording does not have, or several but not all")
    return channels.index(chosen[0])


def _list(holder: Mapping[str, Any], name: str) -> list[Any]:
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _UnusableError(f"its {name} are no list")
    return value


def _seconds(holder: Mapping[str, Any], name: str, negative: bool = False) -> float:
    value = holder.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e7:
        raise _UnusableError(f"its {name} is no number of seconds")
    if value < 0 and not negative:
        raise _UnusableError(f"its {name} is negative")
    return float(value)
