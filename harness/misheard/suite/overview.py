"""What a suite holds: items, sessions, hours and words per condition, how long recordings are, and warnings.

Sealed items are not looked at. Nothing here holds the text of an item.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from misheard.errors import InputError
from misheard.stats.slices import MIN_ITEMS
from misheard.suite.importers.record import rows_left_out
from misheard.suite.items import Item, Suite
from misheard.suite.manifest import Progress, load_suite
from misheard.suite.overview_audio import Heard, hear
from misheard.suite.overview_axes import declared_cells, paired_axes
from misheard.suite.overview_warnings import Warning, warnings
from misheard.suite.problems import shown, suggestion

DURATION_BINS = (0, 1, 2, 5, 10, 20, 30, 60, 300)
"""Lower bounds in seconds; the last bin is open."""

NO_VALUE = None
"""The value of an item that gives none on an axis."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The items that share values of one or more axes.

    Attributes:
        values: one per axis; None for items without a value.
        items, speech, sessions: how many there are; items without a session are in none.
        seconds: of their recordings.
        words, characters: of their references; characters without white space.
    """

    values: tuple[str | None, ...]
    items: int
    speech: int
    sessions: int
    seconds: float
    words: int
    characters: int

    @property
    def is_small(self) -> bool:
        """Whether the cell has too few items for a verdict."""
        return self.items < MIN_ITEMS


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of one or more axes: declared combinations, and those of items without a value."""

    axes: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that `misheard suite show` prints.

    Attributes:
        suite: the suite, without sealed items.
        whole: all its items as one cell.
        tables: per axis, then per pair of axes that both have two values or more; or the one asked for.
        durations: how many items have a recording of each of DURATION_BINS, those that decode.
        plans: how many items have a golden plan.
        warnings: what is probably a mistake.
        rows_left_out: rows of the source that the import left out, as its record says; None without one.
    """

    suite: Suite
    whole: Cell
    tables: tuple[Table, ...]
    durations: tuple[int, ...]
    plans: int
    warnings: tuple[Warning, ...]
    rows_left_out: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the overview as JSON values."""
        selection = self.suite.selection
        return {
            "name": self.suite.name,
            "version": self.suite.version,
            "left_out": "" if selection is None else selection.note(),
            "all": _cell_json(self.whole),
            "source_rows_left_out": self.rows_left_out,
            "golden_plans": self.plans,
            "tables": [
                {"axes": list(table.axes), "cells": [_cell_json(cell) for cell in table.cells]}
                for table in self.tables
            ],
            "durations": [
                {"from_seconds": low, "items": count}
                for low, count in zip(DURATION_BINS, self.durations, strict=True)
            ],
            "warnings": [{**asdict(warning), "names": list(warning.names)} for warning in self.warnings],
        }


def look_over(path: Path, by: Sequence[str], progress: Progress) -> Overview:
    """Load a suite and decode its recordings once.

    With axes in `by` there is one table, of their combinations. Raises SuiteError for a suite that cannot be
    loaded, InputError for an axis that it does not have, BackendError where soundfile is not installed.
    """
    suite = load_suite(path, subset="unsealed")
    for axis in by:
        if axis not in suite.axes:
            raise InputError(f"--by names the unknown axis {shown(axis)}{suggestion(axis, suite.axes)}")
    if len(set(by)) < len(by):
        raise InputError("--by names an axis twice")
    recordings = dict.fromkeys(item.audio for item in suite.items)
    progress.begin("listening to recordings", len(recordings))
    heard = {}
    for audio in recordings:
        heard[audio] = hear(suite.root / audio)
        progress.advance()
    durations = [0] * len(DURATION_BINS)
    for item in suite.items:
        if heard[item.audio].failure is None:
            durations[bisect_right(DURATION_BINS, heard[item.audio].seconds) - 1] += 1
    return Overview(
        suite=suite,
        whole=_cell((), suite.items, heard),
        tables=tuple(_table(suite, axes, heard) for axes in ([tuple(by)] if by else _usual_axes(suite))),
        durations=tuple(durations),
        plans=sum(item.plan is not None for item in suite.items),
        warnings=warnings(suite, heard),
        rows_left_out=rows_left_out(suite.root),
    )


def _usual_axes(suite: Suite) -> list[tuple[str, ...]]:
    return [*((axis,) for axis in suite.axes), *paired_axes(suite)]


def _table(suite: Suite, axes: tuple[str, ...], heard: Mapping[str, Heard]) -> Table:
    members: dict[tuple[str | None, ...], list[Item]] = {values: [] for values in declared_cells(suite, axes)}
    for item in suite.items:
        members.setdefault(tuple(item.conditions.get(axis, NO_VALUE) for axis in axes), []).append(item)
    return Table(axes, tuple(_cell(values, items, heard) for values, items in members.items()))


def _cell(values: tuple[str | None, ...], items: Sequence[Item], heard: Mapping[str, Heard]) -> Cell:
    return Cell(
        values=values,
        items=len(items),
        speech=sum(item.is_speech for item in items),
        sessions=len({item.session for item in items if item.session is not None}),
        seconds=sum(heard[item.audio].seconds for item in items),
        words=sum(len(item.reference.split()) for item in items),
        characters=sum(len("".join(item.reference.split())) for item in items),
    )


def _cell_json(cell: Cell) -> dict[str, Any]:
    values = {**asdict(cell), "values": list(cell.values), "seconds": round(cell.seconds, 3)}
    return {**values, "under_50": cell.is_small}
