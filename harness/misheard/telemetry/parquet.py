"""telemetry.parquet: one row per sample and device, and one per sample for the host; numbers alone.

`invocation` counts the processes of a run from 0, `time_seconds` the seconds of each from its first moment.
`device` is a place in the list of UUIDs that the file's metadata hold for each invocation; rows of the host
have none. What was not measured is null. The metadata also hold when stages began and ended.
"""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from misheard.canonical import canonical_json, write_atomic
from misheard.telemetry.columns import Columns
from misheard.telemetry.nvml import FIGURES
from misheard.telemetry.stages import Interval

FORMAT = "misheard-telemetry"
FORMAT_VERSION = 1
METADATA_KEY = b"misheard"

HOST = ("resident_bytes", "cpu_seconds", "package_joules")


def write_samples(
    path: Path,
    columns: Columns,
    stages: Mapping[str, Sequence[Interval]],
    began: float,
    uuids: Sequence[str],
) -> None:
    """Write samples atomically, behind those that earlier processes of the run have written to the file.

    A file that is none of these, or damaged, is replaced. Raises OSError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    before, invocations = _read(path)
    rows = _rows(columns, len(invocations), began, len(uuids))
    if before is not None and before.schema.equals(rows.schema):
        rows = pa.concat_tables([before.replace_schema_metadata(None), rows])
    elif before is not None:
        invocations, rows = [], _rows(columns, 0, began, len(uuids))
    invocations = [*invocations, {"devices": list(uuids), "stages": _marks(stages, began)}]
    metadata = {"format": FORMAT, "format_version": FORMAT_VERSION, "invocations": invocations}
    rows = rows.replace_schema_metadata({METADATA_KEY: canonical_json(metadata).encode("ascii")})
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    write_atomic(path, buffer.getvalue())


def _rows(columns: Columns, invocation: int, began: float, devices: int) -> Any:
    import pyarrow as pa

    times = columns.times() - began
    parts = [_part(columns, times, invocation, None), *(
        _part(columns, times, invocation, place) for place in range(devices)
    )]  # fmt: skip
    return pa.concat_tables(parts)


def _part(columns: Columns, times: Any, invocation: int, device: int | None) -> Any:
    """Return the rows of the host, or of one device."""
    import pyarrow as pa

    count = len(times)
    missing = np.full(count, np.nan)
    values = {name: columns.values(name) if device is None else missing for name in HOST}
    for name in FIGURES:
        values[name] = missing if device is None else columns.values(f"device{device}.{name}")
    return pa.table(
        {
            "invocation": pa.array(np.full(count, invocation, dtype=np.int32)),
            "time_seconds": pa.array(times),
            "device": pa.array([device] * count, type=pa.int16()),
            **{name: pa.array(column, mask=np.isnan(column)) for name, column in values.items()},
        }
    )


def _marks(stages: Mapping[str, Sequence[Interval]], began: float) -> list[dict[str, Any]]:
    return [
        {
            "stage": name,
            "start_seconds": interval.start - began,
            "end_seconds": interval.end - began,
        }
        for name, intervals in stages.items()
        for interval in intervals
    ]


def _read(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Return the rows and invocations that a file holds, none where it is not one of these."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None, []
    try:
        table = pq.read_table(path)
        metadata = json.loads((table.schema.metadata or {})[METADATA_KEY])
        if (metadata["format"], metadata["format_version"]) != (FORMAT, FORMAT_VERSION):
            return None, []
        return table, list(metadata["invocations"])
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, RecursionError):
        return None, []
