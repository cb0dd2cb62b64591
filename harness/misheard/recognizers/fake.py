"""A recognizer without a model: deterministic, instant, and public API for tests and for trying configs."""

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from misheard.canonical import sha256_json
from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    OutOfMemoryError,
    RecognizedBatch,
    WindowTranscript,
)
from misheard.recognizers.settings import FakeRecognizerSettings

_WORDS = ("what", "is", "the", "a", "of", "in", "how", "many", "who", "where", "red", "blue", "one", "two")


def samples_sha256(window: AudioWindow) -> str:
    """Return the sha256 of a window's samples as 16-bit integers: the key of a fake's transcripts."""
    return hashlib.sha256(np.round(window.samples * 32767).astype("<i2").tobytes()).hexdigest()


class FakeRecognizer:
    """Looks a window's text up by the hash of its samples, or makes words up from that hash."""

    whole_clips = False

    def __init__(self, settings: FakeRecognizerSettings) -> None:
        self._settings = settings

    def load(self) -> None:
        """Nothing to load."""

    def warm_up(self) -> None:
        """Nothing to warm up."""

    def close(self) -> None:
        """Nothing to close."""

    def fingerprint(self) -> dict[str, Any]:
        # The tables hold text, so they appear hashed.
        lists = self._settings.n_best
        return {
            "backend": "fake",
            "transcripts_sha256": sha256_json(self._settings.transcripts),
            **({"n_best_sha256": sha256_json(lists)} if lists else {}),
        }

    def supports(self, language: str | None) -> bool:
        return True

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        room = self._settings.memory_windows
        if room is not None and len(batch) > room:
            raise OutOfMemoryError(f"{len(batch)} windows, and room for {room}")
        started = time.perf_counter()
        time.sleep(self._settings.delay_seconds)
        windows = tuple(self._transcript(window) for window in batch)
        return RecognizedBatch(windows, 0.0, time.perf_counter() - started)

    def _transcript(self, window: AudioWindow) -> WindowTranscript:
        digest = samples_sha256(window)
        hypotheses = self._settings.n_best.get(digest, ())
        text = hypotheses[0] if hypotheses else self._text(digest)
        return WindowTranscript(text=text, language=window.language, n_best=hypotheses)

    def _text(self, digest: str) -> str:
        known = self._settings.transcripts.get(digest)
        if known is not None:
            return known
        return " ".join(_WORDS[byte % len(_WORDS)] for byte in bytes.fromhex(digest)[:6])
