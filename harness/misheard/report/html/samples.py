"""telemetry.parquet as few enough points to draw: what the machine did over time, and when stages ran."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misheard.metrics.base import FloatArray

if TYPE_CHECKING:
    import pyarrow as pa

MAX_POINTS = 300
MAX_FILE_BYTES = 512 * 1024**2
MAX_ROWS = 50_000_000
_FORMAT = ("misheard-telemetry", 1)
_METADATA_KEY = b"misheard"
_GIB = 1024.0**3


@dataclass(frozen=True, slots=True)
class Line:
    """A figure over time: float64[n] seconds and values, NaN where it was not measured."""

    title: str
    unit: str
    seconds: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Span:
    """A stage, from its start to its end in seconds."""

    stage: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Samples:
    """One process of a run: its figures over time and its stages. `number` counts processes from 1."""

    number: int
    of: int
    lines: tuple[Line, ...]
    spans: tuple[Span, ...]


def read_samples(path: Path) -> Samples | None:
    """Return the last process in the file that was sampled; None without a file, or where it is none of ours.

    A damaged file costs the page one chart: its figures per stage stand in report.json.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return None
        file = pq.ParquetFile(path)
        metadata = json.loads((file.metadata.metadata or {})[_METADATA_KEY])
        if (metadata["format"], metadata["format_version"]) != _FORMAT or file.metadata.num_rows > MAX_ROWS:
            return None
        return _last(file.read(), metadata["invocations"])
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError, RecursionError):
        return None


def _last(rows: "pa.Table", invocations: list[dict[str, Any]]) -> Samples | None:
    import pyarrow.compute as pc

    if not len(rows):
        return None
    number = int(pc.max(rows.column("invocation")).as_py())
    rows = rows.filter(pc.equal(rows.column("invocation"), number))
    host = rows.filter(pc.is_null(rows.column("device")))
    lines = [*_host_lines(host), *_device_lines(rows, len(invocations[number]["devices"]))]
    spans = tuple(
        Span(str(mark["stage"]), float(mark["start_seconds"]), float(mark["end_seconds"]))
        for mark in invocations[number]["stages"]
    )
    shown = tuple(line for line in lines if np.isfinite(line.values).any())
    return Samples(number + 1, len(invocations), shown, spans) if shown else None


def _host_lines(host: "pa.Table") -> list[Line]:
    seconds = _column(host, "time_seconds")
    cpu = _column(host, "cpu_seconds")
    steps = np.diff(seconds)
    busy = np.divide(np.diff(cpu), steps, out=np.full(steps.size, np.nan), where=steps > 0)
    return [
        _thinned("memory", "GiB", seconds, _column(host, "resident_bytes") / _GIB),
        _thinned("processor", "cores", seconds[1:], busy),
    ]


def _device_lines(rows: "pa.Table", devices: int) -> list[Line]:
    import pyarrow.compute as pc

    lines = []
    for place in range(devices):
        own = rows.filter(pc.equal(rows.column("device"), place))
        seconds = _column(own, "time_seconds")
        name = f"device {place} " if devices > 1 else "device "
        for title, unit, column, scale in (
            ("busy", "%", "utilization_percent", 1.0),
            ("memory", "GiB", "memory_used_bytes", _GIB),
            ("power", "W", "power_watts", 1.0),
        ):
            lines.append(_thinned(name + title, unit, seconds, _column(own, column) / scale))
    return lines


def _column(rows: "pa.Table", name: str) -> FloatArray:
    import pyarrow as pa

    column = rows.column(name).cast(pa.float64()).fill_null(np.nan)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _thinned(title: str, unit: str, seconds: FloatArray, values: FloatArray) -> Line:
    """Return a line of at most MAX_POINTS: the largest value of neighbours, so that no peak is lost."""
    size = max(1, -(-seconds.size // MAX_POINTS))
    starts = np.arange(0, seconds.size, size)
    if not starts.size:
        return Line(title, unit, seconds, values)
    return Line(title, unit, seconds[starts], np.fmax.reduceat(values, starts))
