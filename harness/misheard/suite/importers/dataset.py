"""Hugging Face datasets that `save_to_disk` wrote, and Arrow and Parquet files, read with pyarrow alone."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from misheard.errors import InputError
from misheard.suite.importers.columns import Columns, choose_columns
from misheard.suite.importers.rows import Found, Request, Row
from misheard.suite.importers.tables import file_stem, scalar
from misheard.transcripts.arrow import read_table

MAX_PARQUET_BYTES = 4 << 30
"""Parquet is unpacked in memory; Arrow files are mapped."""


def read(path: Path, request: Request) -> Found:
    """Read a dataset's recordings, whether it holds their bytes or their paths."""
    folder = path if path.is_dir() else path.parent
    if path.suffix.lower() == ".parquet":
        _check_parquet(path)
    table, order = read_table(path)
    for file in sorted(path.rglob("*.arrow")) if path.is_dir() else [path]:
        request.files.note(file)
    names: list[str] = table.column_names
    if len(set(names)) < len(names):
        raise InputError(f"{path}: a column name stands twice")
    if {"offset", "duration"} & {*request.columns}:
        raise InputError(
            f"{path}: a dataset's recordings are taken whole; leave out --map offset and duration"
        )
    columns = choose_columns(str(path), names, request).without(("offset", "duration"))
    audio = columns.targets["audio"]
    _check_audio(path, table, audio)
    rows = list(_rows(path.name, table, order, columns))
    return Found(rows=rows, folders=[folder], columns=dict(columns.targets), unused=columns.unused)


def _check_parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        size = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet") from error
    if size > MAX_PARQUET_BYTES:
        raise InputError(
            f"{path}: has more than {MAX_PARQUET_BYTES >> 30} GiB of data; save it with save_to_disk"
        )


def _check_audio(path: Path, table: Any, column: str) -> None:
    import pyarrow as pa

    kind = table.schema.field(column).type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return
    if not pa.types.is_struct(kind) or not {"bytes", "path"} & {field.name for field in kind}:
        raise InputError(
            f"{path}: the column {column!a} holds neither recordings nor paths; cast it to datasets.Audio "
            "and save the dataset again"
        )


def _rows(name: str, table: Any, order: Any, columns: Columns) -> Iterator[Row]:
    audio = columns.targets["audio"]
    texts = {column: column for column in {*columns.targets.values(), *columns.conditions.values()} - {audio}}
    classes = _class_names(table.schema)
    small = table.select(list(texts))
    paths = _paths(table.column(audio))
    for place, index in _indices(table.num_rows, order):
        values = {column: small.column(column)[index].as_py() for column in texts}
        values = {column: _named_class(value, classes.get(column)) for column, value in values.items()}
        yield _row(f"{name} row {place}", place, values, paths(index), columns)


def _indices(rows: int, order: Any) -> Iterator[tuple[int, int]]:
    """Yield (place from 1, index in the table)."""
    if order is None:
        yield from enumerate(range(rows), 1)
        return
    for place, index in enumerate(order, 1):
        number = index.as_py()
        if number is None or not 0 <= number < rows:
            raise InputError(f"the dataset's indices name row {number}, and it has {rows}")
        yield place, number


def _paths(column: Any) -> Callable[[int], tuple[str | None, Callable[[], bytes] | None]]:
    """Return a function from a row's index to its path and, where its bytes are there, how to get them."""

    def content(index: int) -> bytes:
        return bytes(column[index]["bytes"].as_py())

    def look(index: int) -> tuple[str | None, Callable[[], bytes] | None]:
        value = column[index]
        if not value.is_valid:
            return None, None
        if not hasattr(value, "keys"):
            return value.as_py(), None
        keys = set(value.keys())
        path = value["path"].as_py() if "path" in keys else None
        has_bytes = "bytes" in keys and value["bytes"].is_valid
        return path, (lambda: content(index)) if has_bytes else None

    return look


def _row(
    where: str,
    place: int,
    values: Mapping[str, Any],
    audio: tuple[str | None, Callable[[], bytes] | None],
    columns: Columns,
) -> Row:
    path, content = audio
    reference = values[columns.targets["reference"]]
    texts = {t: scalar(values[column]) for t, column in columns.targets.items() if column in values}
    identifier = texts.get("id") or None
    return Row(
        where=where,
        name=identifier or (file_stem(path) if path else f"row-{place}"),
        named=identifier is not None,
        audio=path or (f"row-{place}" if content is not None else None),
        content=content,
        text=texts.get("reference"),
        session=texts.get("session") or None,
        language=texts.get("language") or None,
        answer=texts.get("answer") or None,
        conditions={
            axis: value for axis, column in columns.conditions.items() if (value := scalar(values[column]))
        },
        wrong=None if reference is None or isinstance(reference, str) else "the reference is no text",
    )


def _named_class(value: Any, names: Sequence[str] | None) -> Any:
    return names[value] if names is not None and isinstance(value, int) and 0 <= value < len(names) else value


def _class_names(schema: Any) -> dict[str, list[str]]:
    """Return the names of `ClassLabel` columns, whose values are indices into them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: [str(name) for name in feature["names"]]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}
