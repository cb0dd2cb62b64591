"""What a recognizer program printed, read strictly: one JSON row, or plain text."""

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from misheard.failures import FailureKind, ItemFailedError

MAX_OUTPUT_BYTES = 2**20
"""Most bytes that are read of a program's standard output."""

_LONGEST_MILLISECONDS = 1e12
_MOST_SEGMENTS = 1_000_000
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class ClipOutput:
    """A clip's text, and what the program says of it; None where it does not.

    The times are in milliseconds; `segments` is how many pieces it cut the speech into.
    """

    text: str
    audio_ms: float | None = None
    load_ms: float | None = None
    transcribe_ms: float | None = None
    segments: int | None = None


def parse_text(stdout: bytes, max_words: int) -> ClipOutput:
    """Read standard output as the text itself. Raises ItemFailedError with `invalid_output`."""
    return ClipOutput(checked_text(_decoded(stdout).strip(), max_words))


def parse_row(stdout: bytes, max_words: int) -> ClipOutput:
    """Read standard output as one JSON object with `text`, `audio_ms`, `load_ms` and `transcribe_ms`.

    It may tell its `segments`. Other fields are passed over. Raises ItemFailedError with `invalid_output`;
    its detail holds no text.
    """
    if not stdout.strip(_SPACE):
        raise _invalid("the program printed nothing")
    text = _decoded(stdout).strip(_SPACE.decode())
    try:
        row, end = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant).raw_decode(text)
    except (ValueError, RecursionError):
        raise _invalid("the output is no JSON; for plain text set recognizer.output: text") from None
    if text[end:].strip():
        raise _invalid("the program printed more than one JSON row")
    if not isinstance(row, dict):
        raise _invalid("the program's JSON row is no object")
    if not isinstance(row.get("text"), str):
        raise _invalid("the program's JSON row has no text")
    times = {name: _milliseconds(row, name) for name in ("audio_ms", "load_ms", "transcribe_ms")}
    return ClipOutput(checked_text(row["text"], max_words), **times, segments=_segments(row))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise _invalid("the program's JSON row has a field twice")
    return row


def _no_constant(name: str) -> NoReturn:
    raise _invalid("the program's JSON row has a number that is not finite")


def _milliseconds(row: dict[str, Any], name: str) -> float:
    value = row.get(name)
    if value is None:
        raise _invalid(f"the program's JSON row has no {name}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _invalid(f"{name} of the program's JSON row is no number")
    # An integer may be too large for a float, so it is compared before it becomes one.
    if not 0 <= value <= _LONGEST_MILLISECONDS or not math.isfinite(value):
        raise _invalid(f"{name} of the program's JSON row is negative, too large or not finite")
    return float(value)


def _segments(row: dict[str, Any]) -> int | None:
    """Return how many segments a row tells, as a number or as their list; anything else is passed over."""
    value = row.get("segments")
    count = len(value) if isinstance(value, list) else value
    return count if type(count) is int and 0 <= count <= _MOST_SEGMENTS else None


def _decoded(stdout: bytes) -> str:
    try:
        return stdout.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid(f"the program's output is not UTF-8 at byte {error.start}") from None


def checked_text(text: str, max_words: int) -> str:
    """Return a transcript without white space at its ends. Raises ItemFailedError with `invalid_output`."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise _invalid("the text holds a NUL character or a lone surrogate")
    if len(text.split()) > max_words:
        raise _invalid(f"the text has more than {max_words} words")
    return text.strip()


def _invalid(detail: str) -> ItemFailedError:
    return ItemFailedError(FailureKind.INVALID_OUTPUT, detail)
