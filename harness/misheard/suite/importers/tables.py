"""Sources that are tables of records: CSV, TSV, JSON lines such as NeMo manifests, and one JSON document."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from misheard.errors import InputError, count_of
from misheard.suite.importers.columns import TARGETS, Columns, choose_columns
from misheard.suite.importers.rows import Clip, Found, Request, Row
from misheard.transcripts.delimited import csv_rows, is_blank, tsv_rows
from misheard.transcripts.jsonl import parse_json, parse_line
from misheard.transcripts.source import Source

CLIPS_FOLDER = "clips"

Record = tuple[str, Mapping[str, Any] | str]
"""A place and a record, or a place and what is wrong with it."""


class _UnusableError(Exception):
    """A value that a row cannot have; the text says why."""


def read_csv(path: Path, request: Request) -> Found:
    """Read CSV with a header line, separated as `csv_rows` says."""
    source = request.files.text(path)
    given = [name for name in request.columns.values() if name is not None]
    return _delimited(path, source, csv_rows(source, [*given, *_known_names()]), request)


def read_tsv(path: Path, request: Request) -> Found:
    """Read TSV with a header line, such as Common Voice's, whose recordings lie in `clips` beside it."""
    source = request.files.text(path)
    return _delimited(path, source, tsv_rows(source), request)


def read_json_lines(path: Path, request: Request) -> Found:
    """Read an object a line. In a NeMo manifest (`audio_filepath`) the duration is that of the utterance."""
    source = request.files.text(path)
    records = list(_json_lines(source))
    return found_in(source.name, records, keys_of(records), request, path.parent)


def read_document(path: Path, request: Request) -> Found:
    """Read `{"items": [{"id", "wav", "reference"}]}`, or the list alone. An empty reference is non-speech."""
    source = request.files.text(path)
    data = parse_json(source)
    items = data.get("items") if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise InputError(f'{path}: is neither {{"items": [...]}} nor a list')
    records = [
        (f"items[{index}]", item if isinstance(item, dict) else "is no object")
        for index, item in enumerate(items)
    ]
    return found_in(
        source.name,
        records,
        keys_of(records),
        request,
        path.parent,
        empty_is_non_speech=isinstance(data, dict),
    )


def found_in(
    name: str,
    records: Iterable[Record],
    names: list[str],
    request: Request,
    folder: Path,
    empty_is_non_speech: bool = False,
) -> Found:
    """Turn records into rows, with the columns chosen among `names`."""
    columns = choose_columns(name, names, request)
    # a NeMo manifest's duration is that of the utterance; elsewhere only one beside an offset is sure to be
    clipped = columns.targets["audio"] == "audio_filepath" or bool(
        {"offset", "duration"} & {*request.columns}
    )
    if not clipped and "offset" not in columns.targets:
        columns = columns.without(("duration",))
    return Found(
        rows=[_row(where, record, columns) for where, record in records],
        folders=_folders(folder, columns),
        columns=dict(columns.targets),
        unused=columns.unused,
        empty_is_non_speech=empty_is_non_speech,
    )


def keys_of(records: Iterable[Record]) -> list[str]:
    """Return the keys of all records, in order of appearance."""
    return list(dict.fromkeys(key for _, record in records if not isinstance(record, str) for key in record))


def file_stem(path: str) -> str:
    """Return the name of a file without its folders and its last suffix."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return name[: name.rindex(".")] if "." in name[1:] else name


def scalar(value: Any) -> str | None:
    """Return a value as text; None for null, bytes, a list and an object."""
    if value is None or isinstance(value, dict | list | bytes):
        return None
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def _delimited(path: Path, source: Source, lines: Iterator[tuple[int, list[str]]], request: Request) -> Found:
    number, header = next(lines, (1, []))
    if not any(header):
        raise source.error("has no header line", number)
    names = [name for name in header if name.strip()]
    if len(set(names)) != len(names):
        raise source.error("a column name stands twice in the header", number)
    records: list[Record] = []
    for line, row in lines:
        where = f"{path.name}:{line}"
        if is_blank(row):
            continue
        if len(row) == len(header):
            records.append((where, dict(zip(header, row, strict=True))))
        else:
            records.append((where, f"has {count_of(len(row), 'field')}, but the header has {len(header)}"))
    return found_in(source.name, records, names, request, path.parent)


def _json_lines(source: Source) -> Iterator[Record]:
    name = Path(source.name).name
    for number, line in enumerate(source.lines(), 1):
        if not line.strip():
            continue
        try:
            value = parse_line(source, line, number)
        except InputError as error:
            yield f"{name}:{number}", str(error).removeprefix(f"{source.name}:{number}: ")
            continue
        yield f"{name}:{number}", value if isinstance(value, dict) else "is no object"


def _row(where: str, record: Mapping[str, Any] | str, columns: Columns) -> Row:
    if isinstance(record, str):
        return Row(where, where, named=False, wrong=record)
    targets = columns.targets
    values = {target: scalar(record.get(column)) for target, column in targets.items()}
    audio, name = values["audio"] or None, values.get("id") or None
    try:
        clip = _clip(record, targets)
        _check_scalars(record, targets)
    except _UnusableError as error:
        return Row(where, name or where, named=name is not None, wrong=str(error))
    return Row(
        where=where,
        name=name or _name_of(audio or where, clip),
        named=name is not None,
        audio=audio,
        text=values["reference"],
        clip=clip,
        session=values.get("session") or None,
        language=values.get("language") or None,
        answer=values.get("answer") or None,
        conditions={
            axis: value
            for axis, column in columns.conditions.items()
            if (value := scalar(record.get(column)))
        },
    )


def _name_of(audio: str, clip: Clip | None) -> str:
    stem = file_stem(audio)
    return f"{stem}-{clip.start:.3f}" if clip is not None and clip.start else stem


def _check_scalars(record: Mapping[str, Any], targets: Mapping[str, str]) -> None:
    for target, column in targets.items():
        value = record.get(column)
        if isinstance(value, dict | list):
            raise _UnusableError(f"the {target} is {'a list' if isinstance(value, list) else 'an object'}")
        if target in ("audio", "reference") and not (value is None or isinstance(value, str)):
            raise _UnusableError(f"the {target} is no text")


def _clip(record: Mapping[str, Any], targets: Mapping[str, str]) -> Clip | None:
    start = _seconds(record, targets.get("offset"))
    duration = _seconds(record, targets.get("duration"))
    if duration is not None and duration <= 0:
        raise _UnusableError("the duration is not above 0")
    if not start and duration is None:
        return None
    return Clip(start or 0.0, None if duration is None else (start or 0.0) + duration)


def _seconds(record: Mapping[str, Any], column: str | None) -> float | None:
    value = None if column is None else record.get(column)
    if value is None or value == "":
        return None
    try:
        seconds = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds < 1e7:
        raise _UnusableError(f"the column {column!a} holds no number of seconds")
    return seconds


def _folders(folder: Path, columns: Columns) -> list[Path]:
    """Return where relative paths start: Common Voice names the files in `clips` without the folder."""
    if columns.targets["audio"] == "path" and (folder / CLIPS_FOLDER).is_dir():
        return [folder, folder / CLIPS_FOLDER]
    return [folder]


def _known_names() -> list[str]:
    return [name for target in ("audio", "reference") for name in TARGETS[target]]
