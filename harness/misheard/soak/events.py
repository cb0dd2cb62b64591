"""The events of a trace, `misheard-trace/1`: times, ids and counts, and no field that could hold text.

A trace is JSONL. Its first line is `{"format": "misheard-trace/1"}`, every other line one event. Ids are
numbers, short prefixes with numbers, UUIDs or hexadecimal digests, so that no word fits into one; types of
operations and kinds of faults are of fixed lists. What else stands in an event is refused, and messages
repeat none of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum, StrEnum

FORMAT = "misheard-trace/1"

MAX_SECONDS = 604_800.0
"""The longest session: a week."""
MAX_COUNT = 1_000_000_000
MAX_BYTES = 2**50


class EventName(StrEnum):
    """What happened."""

    # as a key of a dict it is looked up a million times
    __hash__ = str.__hash__

    TURN_OPENED = "turn_opened"
    TURN_CLOSED = "turn_closed"
    TRANSCRIPT_PARTIAL = "transcript_partial"
    TRANSCRIPT_FINAL = "transcript_final"
    TRANSCRIPT_EMPTY = "transcript_empty"
    TRANSCRIPT_FAILED = "transcript_failed"
    CORRECTED = "corrected"
    CORRECTION_FAILED = "correction_failed"
    PLAN_ACCEPTED = "plan_accepted"
    PLAN_REJECTED = "plan_rejected"
    OPERATION_ACCEPTED = "operation_accepted"
    OPERATION_APPLIED = "operation_applied"
    ANSWER_FINISHED = "answer_finished"
    ANSWER_FAILED = "answer_failed"
    BOARD_READY = "board_ready"
    RENDER_FAILED = "render_failed"
    AUDIO_RECEIVED = "audio_received"
    MICROPHONE_STOPPED = "microphone_stopped"
    DRAINED = "drained"
    SAMPLE = "sample"
    FAULT_INJECTED = "fault_injected"
    SERVER_RESTARTED = "server_restarted"


class OperationType(StrEnum):
    """What an operation does to the board."""

    __hash__ = str.__hash__

    ADD_SHAPE = "add_shape"
    RELABEL = "relabel"
    CHANGE_KIND = "change_kind"
    REMOVE = "remove"
    CONNECT = "connect"
    DISCONNECT = "disconnect"
    TOPIC = "topic"
    """Another topic begins; the board may be put away."""
    OTHER = "other"


class FaultKind(StrEnum):
    """What somebody broke on purpose, to see what the session makes of it."""

    __hash__ = str.__hash__

    RECOGNIZER_ERROR = "recognizer_error"
    RECOGNIZER_TIMEOUT = "recognizer_timeout"
    MALFORMED_PLAN = "malformed_plan"
    SLOW_SERVER = "slow_server"
    SERVER_CRASH = "server_crash"
    STALLED_AUDIO = "stalled_audio"
    CLOCK_JUMP = "clock_jump"
    DISK_FULL = "disk_full"


class Kind(Enum):
    """What a field holds."""

    ID = "id"
    TYPE = "type"
    FAULT = "fault"
    SECONDS = "seconds"
    COUNT = "count"
    BYTES = "bytes"


QUEUES = ("endpoint", "recognize", "correct", "respond", "plan", "render")
"""The stages that a queue may stand before; its depth is the field `queue_STAGE` of a sample."""

FIELDS: Mapping[str, Kind] = {
    "t": Kind.SECONDS,
    "turn": Kind.ID,
    "segment": Kind.ID,
    "operation": Kind.ID,
    "connection": Kind.ID,
    "type": Kind.TYPE,
    "fault": Kind.FAULT,
    "order": Kind.COUNT,
    "words": Kind.COUNT,
    "words_rewritten": Kind.COUNT,
    "words_changed": Kind.COUNT,
    "operations": Kind.COUNT,
    "count": Kind.COUNT,
    "shapes": Kind.COUNT,
    "seconds": Kind.SECONDS,
    "speech_end": Kind.SECONDS,
    "audio_from": Kind.SECONDS,
    "audio_to": Kind.SECONDS,
    "memory_bytes": Kind.BYTES,
    **{f"queue_{stage}": Kind.COUNT for stage in QUEUES},
}
"""Every field besides `event`, with what it holds."""

ID_FIELDS = tuple(name for name, kind in FIELDS.items() if kind is Kind.ID)
NUMBER_FIELDS = tuple(
    name for name, kind in FIELDS.items() if kind not in (Kind.ID, Kind.TYPE, Kind.FAULT) and name != "t"
)

LIMITS: Mapping[Kind, float] = {Kind.SECONDS: MAX_SECONDS, Kind.COUNT: MAX_COUNT, Kind.BYTES: MAX_BYTES}

_PREFIX = "(?:[A-Za-z]{1,3}|turn|segment|utterance|final|plan|operation|connection|node|shape|edge)?"
_PART = f"{_PREFIX}[-_]?[0-9]{{1,13}}"
ID_PATTERN = (
    f"^(?:{_PART}(?:[-_.:]{_PART}){{0,3}}"
    "|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    "|(?=[a-f]*[0-9])[0-9a-f]{16,64})$"
)
MAX_ID_NUMBER = 10**13 - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields that an event must and may have besides `event` and `t`."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    needs_any: bool = False


SHAPES: Mapping[EventName, Shape] = {
    EventName.TURN_OPENED: Shape(("turn",), ("audio_from",)),
    EventName.TURN_CLOSED: Shape(("turn",), ("audio_from", "audio_to", "speech_end")),
    EventName.TRANSCRIPT_PARTIAL: Shape(("turn", "words"), ("segment", "words_rewritten", "seconds")),
    EventName.TRANSCRIPT_FINAL: Shape(
        ("turn", "words"), ("segment", "words_rewritten", "seconds", "audio_from", "audio_to")
    ),
    EventName.TRANSCRIPT_EMPTY: Shape(("turn",), ("seconds",)),
    EventName.TRANSCRIPT_FAILED: Shape(("turn",), ("seconds",)),
    EventName.CORRECTED: Shape(("turn",), ("words", "words_changed", "seconds")),
    EventName.CORRECTION_FAILED: Shape(("turn",), ("seconds",)),
    EventName.PLAN_ACCEPTED: Shape(("turn",), ("operations", "seconds")),
    EventName.PLAN_REJECTED: Shape(("turn",), ("seconds",)),
    EventName.OPERATION_ACCEPTED: Shape(("operation", "type"), ("turn", "connection", "order")),
    EventName.OPERATION_APPLIED: Shape(
        ("operation", "type"), ("turn", "connection", "order", "count", "shapes", "seconds")
    ),
    EventName.ANSWER_FINISHED: Shape(("turn",), ("words", "seconds")),
    EventName.ANSWER_FAILED: Shape(("turn",), ("seconds",)),
    EventName.BOARD_READY: Shape((), ("turn", "shapes")),
    EventName.RENDER_FAILED: Shape(("turn",), ("seconds",)),
    EventName.AUDIO_RECEIVED: Shape(("audio_from", "audio_to")),
    EventName.MICROPHONE_STOPPED: Shape((), ("audio_to",)),
    EventName.DRAINED: Shape(),
    EventName.SAMPLE: Shape(
        (), ("memory_bytes", "shapes", *(f"queue_{stage}" for stage in QUEUES)), needs_any=True
    ),
    EventName.FAULT_INJECTED: Shape(("fault",)),
    EventName.SERVER_RESTARTED: Shape((), ("seconds",)),
}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a trace.

    Attributes:
        line: where it stands in the file, from 1.
        name: what happened.
        t: seconds since the session began.
        ids: values of ID_FIELDS that it has.
        type: of an operation.
        fault: that was injected.
        numbers: values of NUMBER_FIELDS that it has; seconds, counts and bytes.
    """

    line: int
    name: EventName
    t: float
    ids: Mapping[str, str] = field(default_factory=dict)
    type: OperationType | None = None
    fault: FaultKind | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)


class EventError(Exception):
    """An event that is none; `problems` says all that is wrong, without any of its values."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class _Reader:
    """What reading an event of one name takes, laid out for a million of them."""

    name: EventName
    required: frozenset[str]
    limits: Mapping[str, float]
    ids: frozenset[str]
    is_sample: bool


def _reader(name: EventName, shape: Shape) -> _Reader:
    fields = ("t", *shape.required, *shape.optional)
    return _Reader(
        name,
        frozenset(("t", *shape.required)),
        {key: LIMITS[FIELDS[key]] for key in fields if FIELDS[key] in LIMITS},
        frozenset(fields) & frozenset(ID_FIELDS),
        shape.needs_any,
    )


_READERS = {str(name): _reader(name, shape) for name, shape in SHAPES.items()}
_FRACTIONAL = frozenset(name for name, kind in FIELDS.items() if kind is Kind.SECONDS)
_TYPES = {str(kind): kind for kind in OperationType}
_FAULTS = {str(kind): kind for kind in FaultKind}
_IS_ID = re.compile(ID_PATTERN, re.ASCII).fullmatch
_MAX_NAME = 60


def read_event(fields: Mapping[str, object], line: int) -> Event:
    """Return the event that the fields of one line are.

    Raises EventError with everything that is wrong.
    """
    named = fields.get("event")
    reader = _READERS.get(named) if isinstance(named, str) else None
    if reader is None:
        raise EventError([_no_name(fields)])
    ids: dict[str, str] = {}
    numbers: dict[str, float] = {}
    operation: OperationType | None = None
    fault: FaultKind | None = None
    problems: list[str] = []
    for key, value in fields.items():
        limit = reader.limits.get(key)
        if limit is not None:
            if (
                type(value) is int or (type(value) is float and (key in _FRACTIONAL or value.is_integer()))
            ) and 0 <= value <= limit:
                numbers[key] = value
            else:
                what = "seconds" if key in _FRACTIONAL else "a whole number"
                problems.append(f"{key} must be {what} between 0 and {limit:.16g}")
        elif key in reader.ids:
            ids[key] = _id(value)
            if not ids[key]:
                problems.append(f"{key} is no id (a number, t12, turn-12, a UUID or hexadecimal digits)")
        elif key == "type" and key in reader.required:
            operation = _TYPES.get(value) if isinstance(value, str) else None
            if operation is None:
                problems.append(f"type must be one of {', '.join(_TYPES)}")
        elif key == "fault" and key in reader.required:
            fault = _FAULTS.get(value) if isinstance(value, str) else None
            if fault is None:
                problems.append(f"fault must be one of {', '.join(_FAULTS)}")
        elif key != "event":
            problems.append(_unknown(key, reader.name))
    if not reader.required <= fields.keys():
        problems.extend(f"{key} is missing" for key in SHAPES[reader.name].required if key not in fields)
        if "t" not in fields:
            problems.append("t is missing")
    if "audio_to" in numbers and numbers["audio_to"] < numbers.get("audio_from", 0.0):
        problems.append("audio_to is before audio_from")
    if reader.is_sample and len(fields) < 3:
        problems.append(f"has none of {', '.join(SHAPES[reader.name].optional)}")
    if problems:
        raise EventError(problems)
    return Event(line, reader.name, numbers.pop("t"), ids, operation, fault, numbers)


def _id(value: object) -> str:
    """Return an id as text; empty where it is none."""
    if isinstance(value, str):
        return value if _IS_ID(value) else ""
    # 3.0 is a whole number to JSON, and to the schema
    number = int(value) if type(value) is float and value.is_integer() else value
    return str(number) if type(number) is int and 0 <= number <= MAX_ID_NUMBER else ""


def _no_name(fields: Mapping[str, object]) -> str:
    if "event" not in fields:
        return "event is missing"
    named = fields["event"]
    close = get_close_matches(named[:_MAX_NAME], _READERS, n=1) if isinstance(named, str) else []
    return "event is none that a trace has" + (f" (did you mean {close[0]}?)" if close else "")


def _unknown(key: str, name: EventName) -> str:
    """Return what to say of a field that an event does not have; its name is not said."""
    shape = SHAPES[name]
    known = ["t", *shape.required, *shape.optional]
    if key in FIELDS:
        return f"{name} has no field {key}"
    close = get_close_matches(key[:_MAX_NAME], known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
    return f"has a field that {name} does not have ({hint})"
