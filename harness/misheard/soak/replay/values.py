"""What the parts of a replay hand to each other."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

CHUNK_SAMPLES = 512
"""Samples of one chunk of audio at 16 kHz: what the voice activity detector takes."""
CHUNK_SECONDS = CHUNK_SAMPLES / 16_000


class SegmentKind(StrEnum):
    """Why a stretch of the session is there."""

    SPEECH = "speech"
    PAUSE = "pause"
    LONG_PAUSE = "long_pause"
    CORRECTION = "correction"
    """The first part of a recording, broken off; the whole recording follows."""
    DIGRESSION = "digression"
    RETURN = "return"
    """The first recording of the session that was interrupted by a digression."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a session.

    Attributes:
        kind: why it is there.
        item: id of the recording; None in a pause.
        start, end: seconds of the session.
        offset: second of the recording at which it begins.
    """

    kind: SegmentKind
    item: str | None
    start: float
    end: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Script:
    """A session: segments without gaps from 0 to `seconds`."""

    segments: tuple[Segment, ...]

    @property
    def seconds(self) -> float:
        """How long the session is."""
        return self.segments[-1].end if self.segments else 0.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """Audio as a microphone gives it: float32[CHUNK_SAMPLES] at 16 kHz, the last one padded with zeros.

    `number` counts from 0, so that a chunk begins at `number * CHUNK_SECONDS`. `item` is the recording that
    its first sample is of; None in a pause.
    """

    number: int
    samples: npt.NDArray[np.float32]
    item: str | None = None

    @property
    def start(self) -> float:
        """Second of the session at which it begins."""
        return self.number * CHUNK_SECONDS


@dataclass(frozen=True, slots=True)
class TurnOpened:
    """A turn begins: `audio_from` is the second of the session, padding included."""

    turn: str
    audio_from: float


@dataclass(frozen=True, slots=True)
class TurnClosed:
    """A turn with its audio.

    Attributes:
        turn: its id, `t1`, `t2`, ...
        samples: float32[n] at 16 kHz, padding included.
        audio_from, audio_to: seconds of the session, padding included.
        speech_end: second of the session at which speech ended.
        item: the recording that most of it is of; None where it is of none.
    """

    turn: str
    samples: npt.NDArray[np.float32]
    audio_from: float
    audio_to: float
    speech_end: float
    item: str | None
