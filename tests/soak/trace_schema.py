"""The JSON schema of a trace, made from the code: the shipped file must say the same.

python tests/soak/trace_schema.py > harness/misheard/soak/trace.schema.json
"""

import json
from typing import Any

from misheard.soak.events import (
    FIELDS,
    FORMAT,
    ID_PATTERN,
    LIMITS,
    MAX_ID_NUMBER,
    SHAPES,
    EventName,
    FaultKind,
    Kind,
    OperationType,
)

DESCRIPTIONS = {
    "t": "When it happened: seconds since the session began. Lines are in the order of t.",
    "turn": "The turn that it belongs to.",
    "segment": "The part of a turn, where a turn has several finals.",
    "operation": "The operation.",
    "connection": "The connection that the operation draws or takes off; without it, the operation's id.",
    "type": "What the operation does to the board.",
    "fault": "What was broken on purpose.",
    "order": "The number of the operation, where operations are numbered.",
    "words": "Words of the transcript or the answer.",
    "words_rewritten": "Words that the last partial of the turn showed and this one took back.",
    "words_changed": "Words that the corrector changed.",
    "operations": "Operations of the plan.",
    "count": "Shapes that a remove takes off; 1 where it is not there.",
    "shapes": "Shapes on the board after the event.",
    "seconds": "How long the stage, or the restart, took.",
    "speech_end": "When the speech of the turn ended, on the clock of t.",
    "audio_from": "Where the audio begins, in seconds of the recording.",
    "audio_to": "Where the audio ends, in seconds of the recording.",
    "memory_bytes": "Memory that the product holds.",
}  # fmt: skip


def trace_schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:misheard:trace:1",
        "title": "A line of a trace of misheard soak check",
        "description": "The first line is the header, every other line an event. There is no field for text.",
        "oneOf": [
            {"$ref": "#/$defs/header"},
            *({"$ref": f"#/$defs/{name}"} for name in EventName),
        ],
        "$defs": {
            "header": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"format": {"const": FORMAT}},
                "required": ["format"],
            },
            **{f"field_{name}": _field(name, kind) for name, kind in FIELDS.items()},
            **{str(name): _event(name) for name in EventName},
        },
    }


def _field(name: str, kind: Kind) -> dict[str, Any]:
    queue = f"Depth of the queue before the stage {name.removeprefix('queue_')}."
    described = {"description": DESCRIPTIONS.get(name, queue)}
    if kind is Kind.ID:
        forms = [
            {"type": "integer", "minimum": 0, "maximum": MAX_ID_NUMBER},
            {"type": "string", "pattern": ID_PATTERN},
        ]
        return {**described, "oneOf": forms}
    if kind is Kind.TYPE:
        return {**described, "enum": [str(each) for each in OperationType]}
    if kind is Kind.FAULT:
        return {**described, "enum": [str(each) for each in FaultKind]}
    number = "number" if kind is Kind.SECONDS else "integer"
    return {**described, "type": number, "minimum": 0, "maximum": LIMITS[kind]}


def _event(name: EventName) -> dict[str, Any]:
    shape = SHAPES[name]
    fields = ("t", *shape.required, *shape.optional)
    event = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "event": {"const": str(name)},
            **{field: {"$ref": f"#/$defs/field_{field}"} for field in fields},
        },
        "required": ["event", "t", *shape.required],
    }
    return {**event, "minProperties": 3} if shape.needs_any else event


if __name__ == "__main__":
    print(json.dumps(trace_schema(), indent=1))  # noqa: T201
