"""How the events of another product become those of a trace: a small YAML file, `misheard-mapping/1`.

Only fields that the mapping names are looked at, and only the fields of a trace can be named: there is none
for text.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from misheard.gate.options import Part
from misheard.soak.events import FIELDS, SHAPES, EventError, EventName, FaultKind, Kind, OperationType
from misheard.soak.lines import Pairs
from misheard.soak.options import load_part
from misheard.suite.problems import shown, suggestion

FORMAT = "misheard-mapping/1"

_TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_BYTE_UNITS = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_UNITS: Mapping[Kind, Mapping[str, float]] = {Kind.SECONDS: _TIME_UNITS, Kind.BYTES: _BYTE_UNITS}
_ON_SESSION_CLOCK = frozenset({"t", "speech_end"})
_MAX_ENTRIES = 500
_HUGE = 2**63

FieldPath = Annotated[str, Field(strict=True, pattern=r"^[^.\s]{1,80}(\.[^.\s]{1,80}){0,4}$")]
Named = Annotated[str, Field(strict=True, min_length=1, max_length=200)]


class Source(Part):
    """Where a value comes from.

    Attributes:
        field: name of a field; `a.b` is the field b of the object a.
        unit: of times `s`, `ms`, `us` or `ns`; of memory `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` or `GiB`.
    """

    field: FieldPath
    unit: str | None = None


def _as_source(value: object) -> object:
    return {"field": value} if isinstance(value, str) else value


AnySource = Annotated[Source, BeforeValidator(_as_source)]
Sources = Annotated[Mapping[str, AnySource], Field(max_length=len(FIELDS))]


class Time(Source):
    """Where the time of an event comes from.

    Attributes:
        origin: `session` where it counts from the session's begin; `first` where it is a time of day, and the
            session begins with the first event.
    """

    origin: Literal["session", "first"] = "session"


class MappedEvent(Part):
    """What an event of another product is.

    Attributes:
        event: its name in a trace.
        type: of an operation, where the name of the event says it.
        fault: that was injected, where the name of the event says it.
        fields: sources that are only this event's.
    """

    event: EventName
    type: OperationType | None = None
    fault: FaultKind | None = None
    fields: Sources = Field(default_factory=dict)

    @field_validator("fields")
    @classmethod
    def _check_fields(cls, value: Mapping[str, Source]) -> Mapping[str, Source]:
        return _checked(value)

    @model_validator(mode="after")
    def _check_type(self) -> Self:
        if self.type is not None and "type" not in SHAPES[self.event].required:
            raise ValueError(f"{self.event} is no operation, and has no type")
        if self.fault is not None and self.event is not EventName.FAULT_INJECTED:
            raise ValueError(f"{self.event} has no fault")
        return self

    @property
    def fixed(self) -> dict[str, str]:
        """The fields that the name of the event says."""
        named = {"type": self.type, "fault": self.fault}
        return {name: value for name, value in named.items() if value is not None}


def _as_event(value: object) -> object:
    return {"event": value} if isinstance(value, str) else value


class TraceMapping(Part):
    """A mapping.

    Attributes:
        format: `misheard-mapping/1`.
        event: the field with the name of the event.
        time: the field with its time.
        ids: `as_written`, or `hashed` where ids have another form or could hold words.
        events: their names and what they are here; every other event is left out.
        fields: fields of a trace and where they come from; every other field is left alone.
        operations: their operation types and ours.
    """

    format: Literal["misheard-mapping/1"]
    event: FieldPath
    time: Annotated[Time, BeforeValidator(_as_source)]
    ids: Literal["as_written", "hashed"] = "as_written"
    events: Annotated[
        Mapping[Named, Annotated[MappedEvent, BeforeValidator(_as_event)]],
        Field(min_length=1, max_length=_MAX_ENTRIES),
    ]
    fields: Sources = Field(default_factory=dict)
    operations: Annotated[Mapping[Named, OperationType], Field(max_length=_MAX_ENTRIES)] = Field(
        default_factory=dict
    )

    @field_validator("fields")
    @classmethod
    def _check_fields(cls, value: Mapping[str, Source]) -> Mapping[str, Source]:
        return _checked(value)

    @field_validator("time")
    @classmethod
    def _check_time(cls, value: Time) -> Time:
        _factor("t", value)
        return value

    @model_validator(mode="after")
    def _check_required(self) -> Self:
        problems = []
        for theirs, mapped in self.events.items():
            given = {*self.fields, *mapped.fields, *mapped.fixed}
            lacking = [name for name in SHAPES[mapped.event].required if name not in given]
            if lacking:
                problems.append(f"{shown(theirs)} is {mapped.event}, which needs {', '.join(lacking)}")
        if problems:
            raise ValueError(f"say under fields where this comes from: {'; '.join(problems)}")
        return self


def _checked(fields: Mapping[str, Source]) -> Mapping[str, Source]:
    for name, source in fields.items():
        if name == "t" or name not in FIELDS:
            known = [field for field in FIELDS if field != "t"]
            raise ValueError(f"{shown(name)} is no field of a trace, which has none for text"
                             f"{suggestion(name, known)}")  # fmt: skip
        _factor(name, source)
    return fields


def _factor(field: str, source: Source) -> float:
    """Return what a value is multiplied by. Raises ValueError for a unit that the field does not have."""
    if source.unit is None:
        return 1.0
    units = _UNITS.get(FIELDS[field], {})
    if source.unit not in units:
        raise ValueError(f"{field} has {'the units ' + ', '.join(units) if units else 'no unit'}")
    return units[source.unit]


def load_mapping(path: Path) -> TraceMapping:
    """Read a mapping. Raises SoakError with every problem, InputError for what is no such file."""
    return load_part(path, TraceMapping, FORMAT)


@dataclass(frozen=True, slots=True)
class _Wanted:
    field: str
    kind: Kind
    path: tuple[str, ...]
    factor: float


@dataclass(frozen=True, slots=True)
class _Recipe:
    event: EventName
    fixed: Mapping[str, str]
    wanted: tuple[_Wanted, ...]


class Translator:
    """Turns one line after the other into the fields of an event."""

    def __init__(self, mapping: TraceMapping) -> None:
        self.left_out = 0
        self._event = tuple(mapping.event.split("."))
        self._hashes = mapping.ids == "hashed"
        self._operations = dict(mapping.operations)
        self._begins_with_first = mapping.time.origin == "first"
        self._origin: float | None = None
        self._recipes = {theirs: _recipe(mapping, event) for theirs, event in mapping.events.items()}

    def translate(self, line: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the fields of an event for `read_event`; None for an event that the mapping leaves out.

        Raises EventError for a value that cannot be translated.
        """
        name = _look_up(line, self._event)
        recipe = self._recipes.get(name) if isinstance(name, str) else None
        if recipe is None:
            self.left_out += 1
            return None
        fields: dict[str, Any] = {"event": recipe.event}
        for wanted in recipe.wanted:
            value = _look_up(line, wanted.path)
            if value is not None:
                fields[wanted.field] = self._value(wanted, value)
        fields.update(recipe.fixed)
        return fields

    def _value(self, wanted: _Wanted, value: Any) -> Any:
        if wanted.kind is Kind.ID:
            return _hashed(value) if self._hashes else value
        if wanted.kind is Kind.TYPE:
            kind = self._operations.get(value) if isinstance(value, str) else None
            if kind is None:
                raise EventError(["has an operation type that operations of the mapping does not name"])
            return kind
        if (type(value) is not int and type(value) is not float) or not abs(value) < _HUGE:
            # for `read_event` to refuse
            return value
        if wanted.field in _ON_SESSION_CLOCK and self._begins_with_first:
            if self._origin is None:
                self._origin = value
            value -= self._origin
        return _scaled(wanted, value)


def _recipe(mapping: TraceMapping, event: MappedEvent) -> _Recipe:
    shape = SHAPES[event.event]
    sources = {"t": mapping.time, **mapping.fields, **event.fields}
    names = [
        name
        for name in ("t", *shape.required, *shape.optional)
        if name in sources and name not in event.fixed
    ]
    return _Recipe(
        event.event,
        event.fixed,
        tuple(
            _Wanted(name, FIELDS[name], tuple(sources[name].field.split(".")), _factor(name, sources[name]))
            for name in names
        ),
    )


def _scaled(wanted: _Wanted, value: float) -> float:
    """Return a number in our unit; counts and bytes that are whole become whole numbers."""
    scaled = value if wanted.factor == 1.0 else value * wanted.factor
    if wanted.kind is Kind.BYTES and scaled < 2.0**60:
        return round(scaled)
    if wanted.kind is Kind.COUNT and isinstance(scaled, float) and scaled.is_integer():
        return int(scaled)
    return scaled


def _look_up(fields: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the value at a path; None where there is none."""
    value = fields.get(path[0])
    for name in path[1:]:
        if type(value) is not Pairs:
            return None
        value = next((inner for key, inner in value if key == name), None)
    return value


def _hashed(value: Any) -> Any:
    """Return an id that no word can be read from: 16 hexadecimal digits, of which the first is 0."""
    if not isinstance(value, str) and type(value) is not int:
        return value
    digest = hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()
    return f"0{digest[:15]}"
