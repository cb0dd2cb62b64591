"""Replies of plug-ins and planning models: one JSON object, read strictly and bounded."""

import json
from typing import Any, NoReturn

from misheard.canonical import canonical_json
from misheard.failures import FailureKind, ItemFailedError

MAX_REPLY_BYTES = 2**20
"""Most bytes that are read of one reply."""

_SPACE = " \t\r\n"


def parse_object(text: str) -> dict[str, Any]:
    """Return the one JSON object that a text is.

    Raises ItemFailedError with `invalid_output`, whose detail holds no text of it: for anything else, for a
    field that is there twice, and for a number that is not finite.
    """
    if not text.strip(_SPACE):
        raise invalid("the reply is empty")
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise invalid("the reply is no JSON") from None
    if not isinstance(value, dict):
        raise invalid("the reply is no JSON object")
    return value


def decode_reply(raw: bytes) -> str:
    """Return the canonical JSON of a reply in UTF-8. Raises ItemFailedError with `invalid_output`."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid(f"the reply is not UTF-8 at byte {error.start}") from None
    return encode_reply(parse_object(text))


def encode_reply(value: object) -> str:
    """Return the canonical JSON of a reply that is an object.

    Raises ItemFailedError with `invalid_output` for anything else, and for one that is too large.
    """
    if not isinstance(value, dict):
        raise invalid(f"the reply is {type(value).__name__[:80]}, not an object")
    try:
        text = canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        raise invalid("the reply holds what is no JSON, such as a number that is not finite") from None
    # Escapes make canonical JSON up to six times as long as UTF-8.
    if len(text) > 6 * MAX_REPLY_BYTES:
        raise invalid(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
    return text


def invalid(detail: str) -> ItemFailedError:
    """Return the failure of a reply that is none."""
    return ItemFailedError(FailureKind.INVALID_OUTPUT, detail)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise invalid("the reply has a field twice")
    return row


def _no_constant(name: str) -> NoReturn:
    raise invalid("the reply holds a number that is not finite")
