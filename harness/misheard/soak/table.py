"""A trace in memory: one column per field, so that a million events take tens of megabytes."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from misheard.metrics.base import FloatArray
from misheard.soak.events import ID_FIELDS, NUMBER_FIELDS, Event, EventName, FaultKind, OperationType

IndexArray = NDArray[np.int64]

_NAMES = tuple(EventName)
_NAME_CODES = {name: code for code, name in enumerate(_NAMES)}
_TYPES = tuple(OperationType)
_TYPE_CODES = {kind: code for code, kind in enumerate(_TYPES)}
_NO_ID = -1


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where an event stands, for whoever looks for it.

    Attributes:
        line: of the file, from 1.
        t: seconds of the session.
        event: what it is.
        id: its operation, else its turn; None where it has neither.
    """

    line: int
    t: float
    event: str
    id: str | None


class TraceBuilder:
    """Collects events in the order of their times."""

    def __init__(self) -> None:
        self._names = array("b")
        self._times = array("d")
        self._lines = array("q")
        self._types = array("b")
        self._faults: list[tuple[int, FaultKind]] = []
        self._ids = {field: (array("q"), array("q")) for field in ID_FIELDS}
        self._known: dict[str, dict[str, int]] = {field: {} for field in ID_FIELDS}
        self._numbers = {field: (array("q"), array("d")) for field in NUMBER_FIELDS}

    def __len__(self) -> int:
        return len(self._times)

    def add(self, event: Event) -> None:
        """Add the next event."""
        place = len(self._times)
        self._names.append(_NAME_CODES[event.name])
        self._times.append(event.t)
        self._lines.append(event.line)
        self._types.append(_NO_ID if event.type is None else _TYPE_CODES[event.type])
        if event.fault is not None:
            self._faults.append((place, event.fault))
        for field, value in event.ids.items():
            known = self._known[field]
            owners, ids = self._ids[field]
            owners.append(place)
            ids.append(known.setdefault(value, len(known)))
        for field, number in event.numbers.items():
            places, values = self._numbers[field]
            places.append(place)
            values.append(number)

    def trace(self) -> "Trace":
        """Return what was collected."""
        return Trace(
            names=np.array(self._names, dtype=np.int8),
            times=np.array(self._times, dtype=np.float64),
            lines=np.array(self._lines, dtype=np.int64),
            types=np.array(self._types, dtype=np.int8),
            faults=tuple(self._faults),
            ids={field: self._id_column(field) for field in ID_FIELDS},
            id_names={field: tuple(known) for field, known in self._known.items()},
            sparse={
                field: (np.array(places, dtype=np.int64), np.array(values, dtype=np.float64))
                for field, (places, values) in self._numbers.items()
            },
        )

    def _id_column(self, field: str) -> IndexArray:
        places, ids = self._ids[field]
        column = np.full(len(self._times), _NO_ID, dtype=np.int64)
        column[np.array(places, dtype=np.int64)] = np.array(ids, dtype=np.int64)
        return column


@dataclass(frozen=True, slots=True)
class Trace:
    """n events in the order of their times; an event is named by its place, from 0.

    Attributes:
        names: int8[n], codes of what happened; see `places`.
        times: float64[n], seconds, never falling.
        lines: int64[n], where the events stand in the file.
        types: int8[n], codes of operation types, -1 for none; see `has_type`.
        faults: the places of the injected faults, and what they are.
        ids: per id field int64[n], numbers of ids, -1 for none.
        id_names: per id field what each number is called.
        sparse: per number field the places that have it, and the values.
    """

    names: NDArray[np.int8]
    times: FloatArray
    lines: IndexArray
    types: NDArray[np.int8]
    faults: tuple[tuple[int, FaultKind], ...]
    ids: dict[str, IndexArray]
    id_names: dict[str, tuple[str, ...]]
    sparse: dict[str, tuple[IndexArray, FloatArray]]

    def places(self, *names: EventName) -> IndexArray:
        """Return the places of all events of these names, in order."""
        codes = [_NAME_CODES[name] for name in names]
        return np.flatnonzero(np.isin(self.names, codes))

    def number(self, field: str) -> FloatArray:
        """Return a number field of every event, float64[n], NaN where there is none."""
        column = np.full(self.times.size, np.nan)
        places, values = self.sparse[field]
        column[places] = values
        return column

    def has_type(self, *kinds: OperationType) -> NDArray[np.bool_]:
        """Return whether each event is an operation of one of these types, bool[n]."""
        return np.isin(self.types, [_TYPE_CODES[kind] for kind in kinds])

    def first_places(self, field: str, *names: EventName) -> IndexArray:
        """Return, per id of a field, the place of its first event of these names; -1 where there is none."""
        first = np.full(len(self.id_names[field]), -1, dtype=np.int64)
        places = self.places(*names)
        places = places[self.ids[field][places] >= 0][::-1]
        first[self.ids[field][places]] = places
        return first

    def point(self, place: int) -> Pointer:
        """Return where an event stands and what it is about."""
        name = str(_NAMES[int(self.names[place])])
        found = next(self._ids_of(place), None)
        return Pointer(int(self.lines[place]), float(self.times[place]), name, found)

    def _ids_of(self, place: int) -> Iterator[str]:
        for field in ("operation", "turn"):
            number = int(self.ids[field][place])
            if number >= 0:
                yield self.id_names[field][number]
