"""How repeatable a run is, as far as an audit counted it, in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType

from misheard.report.labels import Marks, count_of
from misheard.report.terminal_cells import Grid, dim, fitting, heading, joined

_STAGES = {"correct": "corrections", "respond": "answers", "plan": "scene plans"}
_NOT_TOLD = frozenset({"attention_backend", "attention_backend_reason"})


def determinism_block(report: Mapping[str, Any], width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield what changed when everything was asked again, and where batches did not fit into memory."""
    found = report.get("determinism") or {}
    lines = [dim(joined([line], width, marks)) for line in notes(found)]
    if found.get("mode") != "audit":
        yield from lines
        return
    grid = Grid([("", "left"), ("changed", "right"), ("share", "right"), ("95% interval", "right")])
    for title, cells in audit_rows(found, marks):
        grid.add(title, *cells)
    told = f"everything asked again {count_of(found['repeats'], 'time')}"
    yield Group(heading("Audit", told, width), fitting(width, grid), *lines)


def audit_rows(found: Mapping[str, Any], marks: Marks) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield what an audit asked again, with how often it changed, the share, and its interval."""
    if (heard := found["recognizer"]) is not None:
        for part, title in (("repeated", "windows, again"), ("alone", "windows, alone")):
            yield title, _cells(heard[part], heard["windows"], marks)
    for stage, asked in found["stages"].items():
        yield f"{_STAGES[stage]}, again", _cells(asked, asked["requests"], marks)


def _cells(rate: Mapping[str, Any], of: int, marks: Marks) -> tuple[str, str, str]:
    if rate["rate"] is None:
        return f"0 of {of}", marks.missing, marks.missing
    ends = f"{100 * rate['low']:.1f}{marks.to}{100 * rate['high']:.1f}"
    return f"{rate['changed']} of {of}", f"{100 * rate['rate']:.1f}%", ends


def notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield where batches did not fit into memory, and which facts of an engine are missing."""
    if (cap := found.get("memory_cap")) is not None:
        yield f"out of memory: batches were recognized {count_of(cap, 'window')} at a time"
    for part, told in found.get("engines", {}).items():
        for name, value in told.items():
            if value is None and name not in _NOT_TOLD:
                yield f"{part}: no {name.replace('_', ' ')} ({told.get(name + '_reason', 'unknown')})"
