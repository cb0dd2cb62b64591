"""items.parquet: one row per item and arm with ids, conditions, counts, timings and flags; no text.

Columns: `item`, `kind`, `session`, `resampling_unit`, `item_sha256`, `condition.<axis>`, `arm`,
`failure_stage`, `failure_kind`, `failure_detail`, `<family>.<column>` (null where the row does not count),
`timings.<name>` (null where there is none) and `flags.<name>`. Arms follow each other, each in suite order.
The file's metadata name the format, the scorer, and what each arm holds.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from misheard.canonical import canonical_json, write_atomic
from misheard.errors import InputError
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, Counts, Family, FloatArray
from misheard.metrics.table import ArmTable, CountTable, ItemInfo
from misheard.suite.items import ItemKind

FORMAT = "misheard-items"
FORMAT_VERSION = 1
METADATA_KEY = b"misheard"

MAX_FILE_BYTES = 2 * 1024**3
MAX_UNPACKED_BYTES = 8 * 1024**3
MAX_CELLS = 500_000_000


def write_items_parquet(
    path: Path, table: CountTable, families: Sequence[Family], scorer_sha256: str
) -> None:
    """Write a table of counts, atomically. `scorer_sha256` is the fingerprint of what made the counts."""
    arms = list(table.arms.values())
    names = _union(arm.counts for arm in arms)
    columns: dict[str, pa.Array] = {}
    columns |= _item_columns(table.items, len(arms))
    columns["arm"] = _strings([str(arm.arm) for arm in arms for _ in table.items])
    columns |= _failure_columns([failure for arm in arms for failure in arm.failures])
    for family in families:
        if family.name in names:
            columns |= _count_columns(family, arms, len(table.items))
    for name in _union(arm.timings for arm in arms):
        columns[f"timings.{name}"] = _timings_column(name, arms, len(table.items))
    for name in _union(arm.flags for arm in arms):
        columns[f"flags.{name}"] = _flags_column(name, arms, len(table.items))
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "scorer_sha256": scorer_sha256,
        "axes": _union(item.conditions for item in table.items),
        "arms": [_arm_metadata(arm) for arm in arms],
    }
    rows = pa.table(columns).replace_schema_metadata({METADATA_KEY: canonical_json(metadata).encode("ascii")})
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd", write_page_checksum=True)
    write_atomic(path, buffer.getvalue())


def _union(mappings: Any) -> list[str]:
    """Return the keys of some mappings, each once, in order of appearance."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _arm_metadata(arm: ArmTable) -> dict[str, Any]:
    return {
        "arm": str(arm.arm),
        "families": list(arm.counts),
        "timings": list(arm.timings),
        "flags": list(arm.flags),
    }


def _strings(values: Sequence[str | None]) -> pa.Array:
    return pa.array(values, type=pa.string())


def _item_columns(items: Sequence[ItemInfo], repeats: int) -> dict[str, pa.Array]:
    fields: dict[str, Callable[[ItemInfo], str | None]] = {
        "item": lambda item: item.id,
        "kind": lambda item: str(item.kind),
        "session": lambda item: item.session,
        "resampling_unit": lambda item: item.resampling_unit,
        "item_sha256": lambda item: item.sha256,
    }
    columns = {name: _strings([get(item) for item in items] * repeats) for name, get in fields.items()}
    for axis in _union(item.conditions for item in items):
        values = [item.conditions.get(axis) for item in items]
        columns[f"condition.{axis}"] = _strings(values * repeats)
    return columns


def _failure_columns(failures: Sequence[Failure | None]) -> dict[str, pa.Array]:
    return {
        "failure_stage": _strings([None if failure is None else failure.stage for failure in failures]),
        "failure_kind": _strings([None if failure is None else str(failure.kind) for failure in failures]),
        "failure_detail": _strings([None if failure is None else failure.detail for failure in failures]),
    }


def _count_columns(family: Family, arms: Sequence[ArmTable], items: int) -> dict[str, pa.Array]:
    empty = Counts(np.zeros((items, len(family.columns))), np.zeros(items, dtype=np.bool_))
    counts = [arm.counts.get(family.name, empty) for arm in arms]
    absent = ~np.concatenate([count.present for count in counts])
    values = np.concatenate([count.values for count in counts])
    return {
        f"{family.name}.{column}": pa.array(values[:, place], mask=absent)
        for place, column in enumerate(family.columns)
    }


def _timings_column(name: str, arms: Sequence[ArmTable], items: int) -> pa.Array:
    missing = np.full(items, np.nan)
    values = np.concatenate([arm.timings.get(name, missing) for arm in arms])
    return pa.array(values, mask=np.isnan(values))


def _flags_column(name: str, arms: Sequence[ArmTable], items: int) -> pa.Array:
    missing = np.zeros(items, dtype=np.bool_)
    return pa.array(np.concatenate([arm.flags.get(name, missing) for arm in arms]))


def read_items_parquet(path: Path, families: Sequence[Family]) -> CountTable:
    """Return the table that `write_items_parquet` wrote, exactly.

    Raises InputError for a file that is missing, too large, damaged, of another program or version, or
    counted with other families than `families`.
    """
    metadata, rows = _load(path)
    try:
        return _restore(metadata, rows, {family.name: family for family in families})
    except (KeyError, ValueError, TypeError, AttributeError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: its columns are not those of these metrics; score the run again"
        ) from error


def read_scorer_sha256(path: Path) -> str:
    """Return the fingerprint of the scorer that made a file. Raises InputError as `read_items_parquet`."""
    metadata, _ = _open(path)
    return str(metadata.get("scorer_sha256"))


def _open(path: Path) -> tuple[dict[str, Any], "pq.ParquetFile"]:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no file; score the run again")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: over {MAX_FILE_BYTES} bytes; this is no items.parquet of a run")
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or 'damaged'}); score the run again"
        ) from error
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: the name is not UTF-8, and cannot be read; rename the folder") from error
    except pa.ArrowException as error:
        raise InputError(f"{path}: is no Parquet file, or a damaged one; score the run again") from error
    shape = file.metadata
    unpacked = sum(shape.row_group(group).total_byte_size for group in range(shape.num_row_groups))
    if shape.num_rows * shape.num_columns > MAX_CELLS or unpacked > MAX_UNPACKED_BYTES:
        raise InputError(f"{path}: is too large for the items of a run once unpacked")
    try:
        metadata = json.loads((shape.metadata or {})[METADATA_KEY])
        version = metadata["format"], metadata["format_version"]
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: was not written by misheard; name a run's items.parquet") from error
    if version != (FORMAT, FORMAT_VERSION):
        raise InputError(f"{path}: has another format version than this misheard reads; score the run again")
    return metadata, file


def _load(path: Path) -> tuple[dict[str, Any], pa.Table]:
    metadata, file = _open(path)
    try:
        return metadata, file.read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: is damaged; score the run again") from error


def _restore(metadata: Mapping[str, Any], rows: pa.Table, families: Mapping[str, Family]) -> CountTable:
    count = len(rows) // max(1, len(metadata["arms"]))
    if count * len(metadata["arms"]) != len(rows):
        raise ValueError("its arms differ in length")
    items = _restore_items(rows.slice(0, count), metadata["axes"])
    arms = {}
    for place, description in enumerate(metadata["arms"]):
        part = rows.slice(place * count, count)
        arm = Arm(description["arm"])
        if part.column("item").to_pylist() != [item.id for item in items]:
            raise ValueError("its arms differ in their items")
        arms[arm] = ArmTable(
            arm=arm,
            failures=_restore_failures(part),
            counts={name: _restore_counts(part, families[name]) for name in description["families"]},
            timings={name: _numbers(part, f"timings.{name}", np.nan) for name in description["timings"]},
            flags={
                name: np.array(part.column(f"flags.{name}").to_pylist(), dtype=np.bool_)
                for name in description["flags"]
            },
        )
    return CountTable(items, arms)


def _restore_items(rows: pa.Table, axes: Sequence[str]) -> tuple[ItemInfo, ...]:
    names = ["item", "kind", "session", "resampling_unit", "item_sha256"]
    fields = zip(*(rows.column(name).to_pylist() for name in names), strict=True)
    values = {axis: rows.column(f"condition.{axis}").to_pylist() for axis in axes}
    return tuple(
        ItemInfo(
            id=identifier,
            kind=ItemKind(kind),
            session=session,
            resampling_unit=unit,
            conditions={axis: values[axis][row] for axis in axes if values[axis][row] is not None},
            sha256=sha256,
        )
        for row, (identifier, kind, session, unit, sha256) in enumerate(fields)
    )


def _restore_failures(rows: pa.Table) -> tuple[Failure | None, ...]:
    names = ["failure_stage", "failure_kind", "failure_detail"]
    fields = zip(*(rows.column(name).to_pylist() for name in names), strict=True)
    return tuple(
        None if kind is None else Failure(stage, FailureKind(kind), detail) for stage, kind, detail in fields
    )


def _restore_counts(rows: pa.Table, family: Family) -> Counts:
    names = [f"{family.name}.{column}" for column in family.columns]
    values = np.stack([_numbers(rows, name, 0.0) for name in names], axis=1)
    return Counts(values, np.array(rows.column(names[0]).is_valid().to_pylist(), dtype=np.bool_))


def _numbers(rows: pa.Table, name: str, missing: float) -> FloatArray:
    column = rows.column(name).cast(pa.float64()).fill_null(missing)
    return np.asarray(column.to_numpy(), dtype=np.float64)
