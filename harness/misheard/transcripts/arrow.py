"""A Hugging Face dataset on disk: the Arrow files of `save_to_disk`, or one Arrow or Parquet file.

Only the columns of text, id and session are read. Nothing of the folder is run or unpickled.
"""

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from misheard.errors import InputError
from misheard.transcripts.fields import id_field, session_field, text_field
from misheard.transcripts.source import Role, Source, Utterances

_MAX_STATE_BYTES = 16 * 1024**2


def is_dataset(path: Path) -> bool:
    """Whether a folder is a dataset, or a dictionary of splits, that `save_to_disk` wrote."""
    return (path / "state.json").is_file() or (path / "dataset_dict.json").is_file()


def read_dataset(path: Path, role: Role, fields: Mapping[str, str]) -> Utterances:
    """Read a dataset folder or a single `.arrow` or `.parquet` file.

    Raises InputError for a folder of several splits, naming them, and for what is damaged.
    """
    source = Source(str(path), "", role, fields)
    with _as_dataset(source):
        table, order = _read(path)
        return _utterances(source, table if order is None else table.take(order))


def read_table(path: Path) -> tuple[Any, Any]:
    """Return (pyarrow.Table, order) of a dataset folder or file: the rows in the order of these indices.

    `order` is a pyarrow array, or None where the rows come as they lie. The table maps the files where it
    can, so that recordings in it take no memory until they are looked at. Raises InputError as `read_dataset`
    does.
    """
    with _as_dataset(Source(str(path), "")):
        return _read(path)


@contextmanager
def _as_dataset(source: Source) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, SystemError) as error:
        raise source.error(f"cannot be read as a dataset ({type(error).__name__})") from error


def _read(path: Path) -> tuple[Any, Any]:
    return _table(_split(path)) if path.is_dir() else (_file(path), None)


def _split(path: Path) -> Path:
    if not (path / "dataset_dict.json").is_file():
        return path
    splits = _state(path / "dataset_dict.json")["splits"]
    if len(splits) != 1:
        raise InputError(
            f"{path}: has the splits {', '.join(map(str, splits))}; name the folder of one of them"
        )
    return path / _plain_name(path, splits[0])


def _table(path: Path) -> tuple[Any, Any]:
    import pyarrow as pa

    state = _state(path / "state.json")
    names = [_plain_name(path, entry["filename"]) for entry in state["_data_files"]]
    table = pa.concat_tables([_file(path / name) for name in names])
    indices = state.get("_indices_files") or []
    if not indices:
        return table, None
    chosen = [_file(path / _plain_name(path, entry["filename"])).column(0) for entry in indices]
    return table, pa.chunked_array([chunk for column in chosen for chunk in column.chunks])


def _file(path: Path) -> Any:
    import pyarrow as pa

    if not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return _checked(pq.read_table(path))
    with pa.memory_map(str(path)) as mapped:
        try:
            return _checked(pa.ipc.open_stream(mapped).read_all())
        except pa.ArrowInvalid:
            mapped.seek(0)
            return _checked(pa.ipc.open_file(mapped).read_all())


def _checked(table: Any) -> Any:
    """Return a table whose offsets stay inside its buffers. Raises ArrowInvalid: reading it would crash."""
    table.validate(full=True)
    return table


def _state(path: Path) -> Any:
    if path.stat().st_size > _MAX_STATE_BYTES:
        raise ValueError("too large")
    return json.loads(path.read_text("utf-8"))


def _plain_name(path: Path, name: str) -> str:
    if Path(name).name != name or name in ("", ".", ".."):
        raise InputError(f"{path}: names a file outside of itself")
    return name


def _utterances(source: Source, table: Any) -> Utterances:
    names = table.column_names
    text, identifier, session = text_field(source, names), id_field(source, names), session_field(names)
    texts = _strings(source, table, text)
    ids = (
        _strings(source, table, identifier)
        if identifier is not None and _has_text(table, identifier)
        else None
    )
    if ids is not None:
        source.check_unique(ids)
    sessions = _strings(source, table, session) if session is not None else None
    return Utterances(texts, ids, sessions)


def _has_text(table: Any, name: str) -> bool:
    import pyarrow as pa

    kind = table.schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))


def _strings(source: Source, table: Any, name: str) -> list[str]:
    if not _has_text(table, name):
        raise source.error(f"column {name!r} holds no text")
    values = table.column(name).to_pylist()
    if None in values:
        raise source.error(f"column {name!r} has no value in row {values.index(None) + 1}")
    return [str(value) for value in values]
