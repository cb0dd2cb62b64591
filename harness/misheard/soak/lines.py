"""JSON objects as a trace has them: without keys that come twice, and without NaN."""

import json
from typing import Any, NoReturn

from misheard.soak.events import EventError


class Pairs(list[tuple[str, Any]]):
    """A JSON object as it stands: its keys may come twice."""


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


_DECODE = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_refuse_constant).raw_decode


def read_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object that a line is; objects within it are Pairs.

    Raises EventError for anything else. No message repeats any of it.
    """
    try:
        line = raw.decode("utf-8").strip(" \t\r\n")
        value, end = _DECODE(line)
        if end < len(line):
            raise EventError(["is more than one JSON value"])
    except UnicodeDecodeError as error:
        raise EventError(["is not UTF-8"]) from error
    except (ValueError, RecursionError) as error:
        raise EventError(["is no JSON (cut off, or with NaN)"]) from error
    if type(value) is not Pairs:
        raise EventError(["is no JSON object"])
    fields = dict(value)
    if len(fields) < len(value):
        raise EventError(["has a field twice"])
    return fields
