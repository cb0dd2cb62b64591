"""A whole JSON document: records, texts by id, or one recording as a recognizer or provider writes it."""

from typing import Any

from misheard.transcripts.jsonl import parse_json, records
from misheard.transcripts.recordings import recording_text
from misheard.transcripts.source import Source, Utterances


def read_json(source: Source) -> Utterances:
    """Read `[{"id", "text"}, …]`, `{"items": […]}`, `{"id": "text", …}`, or the JSON of one recording."""
    data = parse_json(source)
    text = recording_text(source, data)
    if text is not None:
        return Utterances([text])
    if isinstance(data, dict) and isinstance(data.get("items"), list):
        data = data["items"]
    if isinstance(data, list):
        return records(source, ((None, record) for record in data))
    if isinstance(data, dict) and data and all(isinstance(value, str) for value in data.values()):
        return _by_id(source, data)
    raise source.error(
        "is JSON of no known form: a list of records, texts by id, or what Whisper, Deepgram, AssemblyAI, "
        "Google, AWS Transcribe or Azure write"
    )


def read_recording(source: Source) -> Utterances:
    """Read the JSON of one recording."""
    text = recording_text(source, parse_json(source))
    if text is None:
        raise source.error("is not what Whisper, Deepgram, AssemblyAI, Google, AWS Transcribe or Azure write")
    return Utterances([text])


def _by_id(source: Source, data: dict[str, Any]) -> Utterances:
    source.check_unique(list(data))
    return Utterances(list(data.values()), list(data))
