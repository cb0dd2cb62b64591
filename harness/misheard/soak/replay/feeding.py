"""The microphone and the ear of a session: audio in time, and turns cut out of it."""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from misheard.run.progress import Progress
from misheard.soak.events import EventName
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.endpointing import Endpointer
from misheard.soak.replay.faults_protocol import Faults
from misheard.soak.replay.queues import Inbox, StoppedError
from misheard.soak.replay.values import CHUNK_SECONDS, Chunk, TurnClosed, TurnOpened

Emit = Callable[..., None]
"""Adds an event to the trace: its name, then its fields."""

WAITING_CHUNKS = 32
"""Of audio, about a second, that may wait for endpointing."""

_REMEMBERED_SECONDS = 45.0
"""Longer than any turn with the silence that closes it."""

_RECEIPT_SECONDS = 1.0


class VoiceActivity(Protocol):
    """Says how likely a chunk is speech; it remembers those before until `reset`."""

    def probability(self, chunk: Chunk) -> float: ...

    def reset(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Fed:
    """A chunk of audio, and the session's time at which it was fed."""

    chunk: Chunk
    at: float


class Microphone:
    """Feeds chunks in their time.

    With a speed, a chunk is not fed before its begin in the session divided by the speed; without one, as
    soon as there is room.

    Attributes:
        behind_seconds: by how much a chunk was fed too late, at most; None without a speed.
    """

    def __init__(
        self, chunks: Iterable[Chunk], speed: float | None, clock: Clock, faults: Faults, inbox: Inbox[Fed]
    ) -> None:
        self._chunks, self._speed = chunks, speed
        self._clock, self._faults, self._inbox = clock, faults, inbox
        self.behind_seconds = None if speed is None else 0.0

    def run(self, emit: Emit, stop: threading.Event, progress: Progress) -> None:
        """Feed all chunks. Raises StoppedError where the session ends before."""
        end = told = 0.0
        for chunk in self._chunks:
            self._faults.before_chunk(chunk.start, stop)
            self._feed(chunk, stop)
            end = chunk.start + CHUNK_SECONDS
            if end >= told + 1.0:
                progress.advance(int(end - told))
                told += int(end - told)
        emit(EventName.MICROPHONE_STOPPED, audio_to=end)
        self._inbox.close()

    def _feed(self, chunk: Chunk, stop: threading.Event) -> None:
        due = 0.0 if self._speed is None else chunk.start / self._speed
        if not self._clock.sleep_until(due, stop):
            raise StoppedError
        self._inbox.put(Fed(chunk, self._clock.now()))
        if self.behind_seconds is not None:
            self.behind_seconds = max(self.behind_seconds, self._clock.now() - due)


class Ear:
    """Cuts turns out of the audio.

    Attributes:
        turns: how many were closed.
    """

    def __init__(
        self, inbox: Inbox[Fed], vad: VoiceActivity, endpointer: Endpointer, onward: Inbox[TurnClosed]
    ) -> None:
        self._inbox, self._vad, self._endpointer, self._onward = inbox, vad, endpointer, onward
        self._fed_at: deque[float] = deque(maxlen=math.ceil(_REMEMBERED_SECONDS / CHUNK_SECONDS))
        self._heard = 0
        self._received = 0.0
        self.turns = 0

    def run(self, emit: Emit) -> None:
        """Hear everything that is fed, and pass on the turns."""
        self._vad.reset()
        while fed := self._inbox.take(WAITING_CHUNKS):
            for one in fed:
                self._hear(one, emit)
        self._pass_on(self._endpointer.flush(), emit)
        if self._end > self._received:
            self._receive(emit)
        self._onward.close()

    @property
    def _end(self) -> float:
        return self._heard * CHUNK_SECONDS

    def _hear(self, fed: Fed, emit: Emit) -> None:
        self._heard = fed.chunk.number + 1
        self._fed_at.append(fed.at)
        events = self._endpointer.feed(fed.chunk, self._vad.probability(fed.chunk))
        if self._end >= self._received + _RECEIPT_SECONDS:
            self._receive(emit)
        self._pass_on(events, emit)

    def _receive(self, emit: Emit) -> None:
        emit(EventName.AUDIO_RECEIVED, audio_from=self._received, audio_to=self._end)
        self._received = self._end

    def _pass_on(self, events: Iterable[TurnOpened | TurnClosed], emit: Emit) -> None:
        for event in events:
            about: dict[str, Any] = {"turn": event.turn, "audio_from": event.audio_from}
            if isinstance(event, TurnOpened):
                emit(EventName.TURN_OPENED, **about)
                continue
            speech_end = self._time_of(event.speech_end)
            emit(EventName.TURN_CLOSED, **about, audio_to=event.audio_to, speech_end=speech_end)
            self.turns += 1
            self._onward.put(event)

    def _time_of(self, second: float) -> float:
        """Return the session's time at which the audio up to a second of the recording had been fed."""
        number = math.ceil(round(second / CHUNK_SECONDS, 6)) - 1
        behind = min(max(self._heard - 1 - number, 0), len(self._fed_at) - 1)
        return self._fed_at[-1 - behind]
