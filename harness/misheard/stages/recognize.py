"""The recognize stage: one planned batch of windows in, journal rows out; windows joined to transcripts."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    OutOfMemoryError,
    RecognizedBatch,
    Recognizer,
    WindowFailed,
    WindowTranscript,
)

REPETITION_COMPRESSION_RATIO = 2.4
"""Above it a text repeats itself: the threshold of Whisper's reference decoder."""

SPARSE_SPEECH_SECONDS = 5.0
SPARSE_TOKENS_PER_SECOND = 0.5
"""Speech of some length with hardly a token: a sign that part of the recording was lost."""

_UNSPACED_LANGUAGES = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """What became of one window: a transcript, or why there is none; and its share of the time.

    `stderr` is what a program that failed said last. It may hold text, and is for the journal alone.
    """

    transcript: WindowTranscript | None
    failure_kind: FailureKind | None
    failure_detail: str
    seconds: float
    stderr: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the outcome as JSON values for the journal."""
        transcript = None if self.transcript is None else asdict(self.transcript)
        # fields that came later, and that most recognizers leave empty
        for name in ("n_best", "segments"):
            if transcript is not None and not transcript[name] and transcript[name] != 0:
                del transcript[name]
        return {
            "transcript": transcript,
            "failure": None if self.failure_kind is None else [str(self.failure_kind), self.failure_detail],
            "seconds": self.seconds,
            **({} if self.stderr is None else {"stderr": self.stderr}),
        }

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "WindowOutcome":
        """Read an outcome back from the journal."""
        kind, detail = row["failure"] or (None, "")
        found = row["transcript"]
        n_best = tuple((found or {}).get("n_best", ()))
        transcript = None if found is None else WindowTranscript(**{**found, "n_best": n_best})
        return cls(transcript, None if kind is None else FailureKind(kind), detail, row["seconds"])


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """Outcomes in the order of the batch, and where the time went, as in RecognizedBatch."""

    windows: tuple[WindowOutcome, ...]
    features_seconds: float = 0.0
    inference_seconds: float | None = 0.0
    program_seconds: float | None = None


def recognize_batch(
    recognizer: Recognizer, batch: Sequence[AudioWindow], features: Features | None = None
) -> BatchOutcome:
    """Recognize one batch; `features` are its own, where they were computed ahead.

    Where the batch fails as a whole, each window is tried alone, so that one bad recording fails alone.
    Raises OutOfMemoryError where the batch is too large for the device.
    """
    try:
        result = recognizer.recognize(batch, features)
    except ItemFailedError as error:
        if len(batch) == 1:
            return BatchOutcome((WindowOutcome(None, error.kind, error.detail, 0.0),))
        return _joined([recognize_batch(recognizer, [window]) for window in batch])
    return BatchOutcome(
        _outcomes(result), result.features_seconds, result.inference_seconds, result.program_seconds
    )


def recognize_within_memory(
    recognizer: Recognizer,
    batch: Sequence[AudioWindow],
    features: Features | None = None,
    cap: int | None = None,
) -> tuple[BatchOutcome, int | None]:
    """Recognize one batch, in halves along its order where it does not fit into the device's memory.

    `cap` is the largest number of windows that is tried at once, as an earlier batch found it; None is no
    bound. Returns the outcome of the batch and the cap from now on. A window that does not fit alone fails
    with `asr_error`.
    """
    parts = []
    pending = [list(batch)]
    while pending:
        piece = pending.pop()
        if cap is not None and len(piece) > max(cap, 1):
            middle = (len(piece) + 1) // 2
            pending += [piece[middle:], piece[:middle]]
            continue
        try:
            parts.append(recognize_batch(recognizer, piece, features if len(piece) == len(batch) else None))
        except OutOfMemoryError as error:
            if len(piece) == 1:
                detail = f"one window does not fit into the memory of the device ({error})"
                parts.append(BatchOutcome((WindowOutcome(None, FailureKind.ASR_ERROR, detail, 0.0),)))
            else:
                cap = (len(piece) + 1) // 2
                pending.append(piece)
    return _joined(parts) if len(parts) > 1 else parts[0], cap


def _joined(parts: Sequence[BatchOutcome]) -> BatchOutcome:
    return BatchOutcome(
        tuple(outcome for part in parts for outcome in part.windows),
        sum(part.features_seconds for part in parts),
        _sum(part.inference_seconds for part in parts),
        _sum(part.program_seconds for part in parts),
    )


def _sum(parts: Iterable[float | None]) -> float | None:
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _outcomes(result: RecognizedBatch) -> tuple[WindowOutcome, ...]:
    share = (result.features_seconds + (result.inference_seconds or 0.0)) / max(1, len(result.windows))
    return tuple(_outcome(window, share) for window in result.windows)


def _outcome(window: WindowTranscript | WindowFailed, share: float) -> WindowOutcome:
    if isinstance(window, WindowFailed):
        return WindowOutcome(None, window.kind, window.detail, window.seconds, window.stderr)
    return WindowOutcome(window, None, "", share if window.wall_seconds is None else window.wall_seconds)


def join_windows(texts: Sequence[str], language: str | None) -> str:
    """Join the texts of consecutive windows: with a space, or with nothing where words are not spaced."""
    separator = "" if language in _UNSPACED_LANGUAGES else " "
    return separator.join(text for text in (text.strip() for text in texts) if text)


def join_n_best(windows: Sequence[WindowTranscript], language: str | None) -> tuple[str, ...]:
    """Return the hypotheses of a whole recording, best first; empty where no window has a list.

    They are joined by rank: the k-th of every window makes the k-th of the recording, and a window with
    fewer gives its best. Other combinations are not made, so that over several windows the list says less
    than the windows' lists together. The first is what `join_windows` makes of the windows' texts.
    """
    longest = max((len(window.n_best) for window in windows), default=0)
    ranked = ([_ranked(window, rank) for window in windows] for rank in range(longest))
    return tuple(dict.fromkeys(join_windows(texts, language) for texts in ranked))


def _ranked(window: WindowTranscript, rank: int) -> str:
    return window.n_best[rank] if rank < len(window.n_best) else window.text


def has_repetition(transcript: WindowTranscript) -> bool:
    """Whether a window's text looks like a repetition loop: it compresses too well, or ran out of tokens."""
    ratio = transcript.compression_ratio
    return bool(transcript.token_limit) or (ratio is not None and ratio > REPETITION_COMPRESSION_RATIO)


def is_sparse(transcript: WindowTranscript, speech_seconds: float) -> bool:
    """Whether a window has much speech and hardly a token: its end may have been lost."""
    if transcript.tokens is None or speech_seconds < SPARSE_SPEECH_SECONDS:
        return False
    return transcript.tokens < SPARSE_TOKENS_PER_SECOND * speech_seconds
