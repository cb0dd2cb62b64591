"""A sign of texts that repeat themselves."""

import zlib


def compression_ratio(text: str) -> float:
    """Return UTF-8 bytes / zlib bytes, Whisper's sign of a repetition loop; 0 for empty text."""
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0
