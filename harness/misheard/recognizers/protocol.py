"""What a recognizer is to the rest of misheard.

A recognizer gets batches of windows exactly as the batch plan lists them and returns one result per window,
in order. It knows nothing of items, arms or journals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from misheard.failures import FailureKind

SAMPLE_RATE = 16_000
"""Sampling rate of every window, in Hz."""

WINDOW_SECONDS = 30.0
"""Longest window: the length that Whisper was trained on."""


@dataclass(frozen=True, slots=True)
class AudioWindow:
    """One stretch of a recording: mono float32 samples in [-1, 1] at 16 kHz, shape [n].

    It is at most 30 s long, or the whole recording for a recognizer that wants whole clips. `language` is the
    suite's (a Whisper code such as `en`), or None to let the recognizer detect it. `file` is the recording
    that it was cut from, as the suite has it.
    """

    samples: npt.NDArray[np.float32]
    language: str | None
    file: Path | None = None

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return len(self.samples) / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class WindowTranscript:
    """What was recognized in one window. Figures that a backend cannot give are None, never 0.

    `language` is None where it was neither given nor detected on speech. `token_limit` says that decoding
    ended at the limit of tokens and not by itself. The times are of one window alone, in seconds: the audio's
    length, the model's loading and the inference as a program tells them, and the wall time of its process,
    or of the request to a server. `n_best` holds every hypothesis of a beam search, best first, where the
    recognizer was told to give them; the first is `text`. `segments` is how many pieces the recognizer cut
    the speech into, where it tells.
    """

    text: str
    language: str | None = None
    tokens: int | None = None
    token_limit: bool | None = None
    no_speech_prob: float | None = None
    avg_logprob: float | None = None
    compression_ratio: float | None = None
    audio_seconds: float | None = None
    load_seconds: float | None = None
    inference_seconds: float | None = None
    wall_seconds: float | None = None
    n_best: tuple[str, ...] = ()
    segments: int | None = None


@dataclass(frozen=True, slots=True)
class WindowFailed:
    """Why one window of a batch has no transcript.

    `seconds` is how long that took. `stderr` is what a program said last: it may hold text, and goes into the
    journal alone.
    """

    kind: FailureKind
    detail: str
    seconds: float = 0.0
    stderr: str | None = None


@dataclass(frozen=True, slots=True)
class RecognizedBatch:
    """Results in the order of the batch, and where the time went, in seconds.

    `inference_seconds` is None where it cannot be told from the rest. `program_seconds` is the wall time of
    programs that were started for the batch, None where none were.
    """

    windows: tuple[WindowTranscript | WindowFailed, ...]
    features_seconds: float
    inference_seconds: float | None
    program_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """What a recognizer makes of a batch before inference, in its own form, and the seconds that took."""

    value: Any
    seconds: float


class OutOfMemoryError(Exception):
    """A batch did not fit into the memory of the device; a smaller one may."""


class Recognizer(Protocol):
    """A loaded or loadable speech recognizer.

    `load` raises BackendError where the model cannot be used here. After it, `fingerprint` names everything
    that decides the output (model content, settings, library version), and `supports` says whether the
    model can be told to expect a language. `features` is called from another thread while the batch before
    is recognized, so that the device does not wait; None says that there is nothing to do ahead, or that it
    could not be done. `recognize` computes what it is not given. It raises OutOfMemoryError for a batch that
    is too large for the device and ItemFailedError with `asr_error` for one that cannot be recognized as a
    whole; a window that fails alone is a WindowFailed. `close` may be called at any time, more than once.
    `whole_clips` says that recordings are not to be cut into windows.
    """

    whole_clips: bool

    def load(self) -> None: ...

    def warm_up(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def supports(self, language: str | None) -> bool: ...

    def features(self, batch: Sequence[AudioWindow]) -> Features | None: ...

    def recognize(
        self, batch: Sequence[AudioWindow], features: Features | None = None
    ) -> RecognizedBatch: ...

    def close(self) -> None: ...
