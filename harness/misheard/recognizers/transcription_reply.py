"""What a transcription server replied, read strictly."""

import json
import re
from typing import Any

from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.command_output import checked_text
from misheard.recognizers.protocol import AudioWindow, WindowTranscript
from misheard.recognizers.repetition import compression_ratio

_LOWEST_LOGPROB = -1e6


def read_reply(content: bytes, window: AudioWindow, max_words: int, seconds: float) -> WindowTranscript:
    """Return the transcript of a reply in the format `json` or `verbose_json`; `seconds` is how long it took.

    A window is at most as long as Whisper decodes at once, so the probabilities of the first segment are the
    window's. Raises ItemFailedError with `invalid_output`, whose detail holds nothing of the reply.
    """
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        raise _invalid("the server's reply is no JSON") from None
    if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):
        raise _invalid("the server's reply has no text")
    text = checked_text(reply["text"], max_words)
    segment = _first_segment(reply)
    return WindowTranscript(
        text=text,
        language=window.language or _language(reply),
        no_speech_prob=_number(segment, "no_speech_prob", 0.0, 1.0),
        avg_logprob=_number(segment, "avg_logprob", _LOWEST_LOGPROB, 0.0),
        compression_ratio=compression_ratio(text),
        wall_seconds=seconds,
        segments=_count(reply),
    )


def _count(reply: dict[str, Any]) -> int | None:
    segments = reply.get("segments")
    return len(segments) if isinstance(segments, list) else None


def _first_segment(reply: dict[str, Any]) -> dict[str, Any]:
    segments = reply.get("segments")
    first = segments[0] if isinstance(segments, list) and segments else None
    return first if isinstance(first, dict) else {}


def _language(reply: dict[str, Any]) -> str | None:
    """Return the detected language where it is a code: some servers give English names instead."""
    language = reply.get("language")
    if isinstance(language, str) and re.fullmatch(r"[A-Za-z]{2,3}", language):
        return language.lower()
    return None


def _number(segment: dict[str, Any], name: str, low: float, high: float) -> float | None:
    value = segment.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return None
    return float(value)


def _invalid(detail: str) -> ItemFailedError:
    return ItemFailedError(FailureKind.INVALID_OUTPUT, detail)
