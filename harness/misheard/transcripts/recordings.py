"""JSON that a recognizer or a provider writes for one recording.

Known are openai-whisper, faster-whisper, WhisperX, whisper.cpp and transformers; the OpenAI API, Deepgram,
AssemblyAI, Google, AWS Transcribe and Azure.
"""

from collections.abc import Callable, Sequence
from typing import Any

from misheard.transcripts.source import Source

_UNSPACED = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my", "chinese", "japanese", "thai"})


def recording_text(source: Source, data: Any) -> str | None:
    """Return the text of one recording, or None where `data` is of no known form.

    Raises InputError for one that failed, or with several channels, whose words have no common order.
    """
    if isinstance(data, list):
        return _segments(data, None) if data and _are_segments(data) else None
    if not isinstance(data, dict):
        return None
    for read in (_aws, _deepgram, _google, _azure, _assembly, _whisper):
        text = read(source, data)
        if text is not None:
            return text
    return None


_Reader = Callable[[Source, dict[str, Any]], str | None]


def _aws(source: Source, data: dict[str, Any]) -> str | None:
    results = data.get("results")
    if not isinstance(results, dict) or not isinstance(results.get("transcripts"), list):
        return None
    return _together(source, _strings(results["transcripts"], "transcript"))


def _deepgram(source: Source, data: dict[str, Any]) -> str | None:
    results = data.get("results")
    if not isinstance(results, dict) or not isinstance(results.get("channels"), list):
        return None
    texts = [_best(channel, "transcript") for channel in results["channels"]]
    spoken = [text for text in texts if text is not None]
    if len(spoken) != len(texts):
        raise source.error("a channel of this Deepgram reply has no transcript")
    _check_channels(source, len(texts))
    return spoken[0] if spoken else ""


def _google(source: Source, data: dict[str, Any]) -> str | None:
    if isinstance(data.get("response"), dict):
        data = data["response"]
    results = data.get("results")
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        return None
    if any("alternatives" not in result for result in results) and results:
        timed = [result for result in results if "alternatives" in result]
        if not timed:
            return None
        results = timed
    _check_channels(source, len({result.get("channelTag", 1) for result in results}))
    texts = [_best(result, "transcript") for result in results]
    return (
        None if results and not any(text is not None for text in texts) else _spaced([t or "" for t in texts])
    )


def _azure(source: Source, data: dict[str, Any]) -> str | None:
    for key, name in (("combinedRecognizedPhrases", "display"), ("combinedPhrases", "text")):
        if isinstance(data.get(key), list):
            return _together(source, _strings(data[key], name))
    if "RecognitionStatus" not in data:
        return None
    if data["RecognitionStatus"] not in ("Success", "EndOfDictation", "NoMatch", "InitialSilenceTimeout"):
        raise source.error("this Azure reply says that recognition failed; leave the recording out")
    text = data.get("DisplayText", _best({"alternatives": data.get("NBest", [])}, "Display"))
    return text if isinstance(text, str) else ""


def _assembly(source: Source, data: dict[str, Any]) -> str | None:
    if "audio_url" not in data or "status" not in data:
        return None
    if data["status"] != "completed":
        raise source.error("this AssemblyAI transcript is not completed; leave the recording out")
    return data["text"] if isinstance(data.get("text"), str) else ""


def _whisper(_: Source, data: dict[str, Any]) -> str | None:
    if isinstance(data.get("text"), str):
        return str(data["text"])
    language = data.get("language") if isinstance(data.get("language"), str) else None
    for key in ("segments", "chunks", "transcription"):
        segments = data.get(key)
        if isinstance(segments, list) and all(_is_text(segment) for segment in segments):
            return _segments(segments, language)
    return None


def _is_text(segment: Any) -> bool:
    return isinstance(segment, dict) and isinstance(segment.get("text"), str)


def _are_segments(data: Sequence[Any]) -> bool:
    times = ({"start", "end"}, {"timestamp"}, {"timestamps"}, {"offsets"})
    return all(_is_text(segment) and any(keys <= segment.keys() for keys in times) for segment in data)


def _segments(segments: Sequence[dict[str, Any]], language: str | None) -> str:
    texts = [str(segment["text"]) for segment in segments]
    if language is not None and language.lower() in _UNSPACED:
        return "".join(texts)
    return _spaced(texts)


def _spaced(texts: Sequence[str]) -> str:
    """Join pieces that bring their own spaces as they are, others with a space."""
    if any(text[:1].isspace() for text in texts[1:]):
        return "".join(texts)
    return " ".join(text for text in texts if text)


def _best(holder: Any, key: str) -> str | None:
    """Return the text of the first alternative."""
    if not isinstance(holder, dict) or not isinstance(holder.get("alternatives"), list):
        return None
    if not holder["alternatives"]:
        return ""
    first = holder["alternatives"][0]
    text = first.get(key, "") if isinstance(first, dict) else None
    return text if isinstance(text, str) else None


def _strings(parts: Sequence[Any], key: str) -> list[str] | None:
    found = [part.get(key) for part in parts if isinstance(part, dict)]
    texts = [text for text in found if isinstance(text, str)]
    return texts if len(texts) == len(parts) else None


def _together(source: Source, texts: Sequence[str] | None) -> str | None:
    if texts is None:
        return None
    _check_channels(source, len(texts))
    return texts[0] if texts else ""


def _check_channels(source: Source, channels: int) -> None:
    if channels > 1:
        what = f"holds {channels} channels, whose words have no common order; write a file per channel"
        raise source.error(what)
