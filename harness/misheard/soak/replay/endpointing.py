"""Where a turn begins and ends, from the probability of speech in each chunk of audio.

A chunk is speech from the threshold on, and after speech down to the release. A turn opens when enough chunks
are speech, with shorter pauses than those that close a turn between them; it closes after enough silence, and
has some audio on both sides of its speech. Speech that is too short opens no turn. A turn that would get too
long is cut between two chunks, where it is quietest near its end, and the next one begins there.
"""

import itertools
from collections import Counter, deque
from dataclasses import dataclass, replace

import numpy as np

from misheard.audio.windows import SAMPLE_RATE
from misheard.soak.replay.values import CHUNK_SAMPLES, Chunk, TurnClosed, TurnOpened
from misheard.soak_config import EndpointingConfig

CUT_SECONDS = 2.0
"""A turn that is too long is cut within its last seconds, or its last quarter where that is shorter."""

_QUIET_CHUNKS = 3
"""On both sides of a place that is to be quiet."""


@dataclass(slots=True)
class _Speech:
    """Speech that is a turn, or may become one; places are samples of the session.

    Attributes:
        start: of its audio, padding included.
        end: of its last chunk of speech.
        chunks: how many chunks of it are speech; where it goes on after a cut, enough for a turn.
        turn: its id; empty as long as it is too short.
    """

    start: int
    end: int
    chunks: int = 0
    turn: str = ""


class Endpointer:
    """Takes a session chunk by chunk, and keeps the audio of one turn at most."""

    def __init__(self, config: EndpointingConfig) -> None:
        self._config = config
        self._pad = round(config.pad_seconds * SAMPLE_RATE)
        self._enough_speech = _chunks(config.min_speech_seconds)
        self._enough_silence = _chunks(config.min_silence_seconds)
        self._longest = round(config.max_turn_seconds * SAMPLE_RATE)
        self._cut_chunks = int(min(CUT_SECONDS, config.max_turn_seconds / 4) * SAMPLE_RATE) // CHUNK_SAMPLES
        self._kept: deque[tuple[Chunk, bool]] = deque()
        self._position = self._last_end = self._goes_on_until = 0
        self._speaking = False
        self._speech: _Speech | None = None
        self._turns = itertools.count(1)

    @property
    def kept_samples(self) -> int:
        """How much audio it holds."""
        return len(self._kept) * CHUNK_SAMPLES

    def feed(self, chunk: Chunk, probability: float) -> list[TurnOpened | TurnClosed]:
        """Take the next chunk, and return what it opens and closes. Raises ValueError if one is missing."""
        if chunk.number * CHUNK_SAMPLES != self._position:
            raise ValueError(f"chunk {chunk.number} does not follow the one before it")
        bound = self._config.release if self._speaking else self._config.threshold
        self._speaking = probability >= bound
        self._kept.append((chunk, self._speaking))
        self._position += CHUNK_SAMPLES
        if self._speaking:
            self._extend()
        events = self._ended() + self._opened() + self._cut()
        self._forget()
        return events

    def flush(self) -> list[TurnOpened | TurnClosed]:
        """Close the turn that is open, because the microphone has stopped."""
        speech, self._speech, self._speaking = self._speech, None, False
        events: list[TurnOpened | TurnClosed] = []
        if speech is not None and speech.turn:
            events.append(self._closed(speech, min(speech.end + self._pad, self._position)))
        self._forget()
        return events

    def _extend(self) -> None:
        """Count the last chunk as speech."""
        if self._speech is None:
            begin = self._position - CHUNK_SAMPLES
            self._speech = _Speech(max(begin - self._pad, self._last_end), self._position)
            if begin < self._goes_on_until:
                self._speech.chunks = self._enough_speech
        self._speech.end = self._position
        self._speech.chunks += 1

    def _opened(self) -> list[TurnOpened | TurnClosed]:
        """Open a turn where there is enough speech; so little of it in the time of a whole turn is none."""
        speech = self._speech
        if speech is None or speech.turn:
            return []
        if speech.chunks >= self._enough_speech:
            return [self._open(speech)]
        if self._too_long(speech):
            self._speech = None
        return []

    def _ended(self) -> list[TurnOpened | TurnClosed]:
        """Close a turn, or forget what is none, after enough silence."""
        speech = self._speech
        if speech is None or self._position - speech.end < self._enough_silence * CHUNK_SAMPLES:
            return []
        self._speech = None
        return [self._closed(speech, speech.end + self._pad)] if speech.turn else []

    def _cut(self) -> list[TurnOpened | TurnClosed]:
        """Close a turn that one more chunk would make too long; open the next if it has speech already."""
        speech = self._speech
        if speech is None or not self._too_long(speech):
            return []
        kept = list(self._kept)
        first_after = len(kept) - self._quietest()
        cut = kept[first_after][0].number * CHUNK_SAMPLES
        spoken_after = sum(spoken for _, spoken in kept[first_after:])
        if not spoken_after:
            self._speech = None
            # what follows before there is enough silence is of the same speech: it is a turn, however short
            self._goes_on_until = speech.end + self._enough_silence * CHUNK_SAMPLES
            return [self._closed(speech, min(speech.end + self._pad, cut))]
        last = max(chunk.number for chunk, spoken in kept[:first_after] if spoken)
        closed = self._closed(replace(speech, end=(last + 1) * CHUNK_SAMPLES), cut)
        self._speech = _Speech(cut, speech.end, spoken_after)
        return [closed, self._open(self._speech)]

    def _too_long(self, speech: _Speech) -> bool:
        return self._position + CHUNK_SAMPLES - speech.start > self._longest

    def _quietest(self) -> int:
        """Return how many chunks lie after the quietest place, the latest of equals."""
        near = itertools.islice(reversed(self._kept), self._cut_chunks + _QUIET_CHUNKS)
        energy = [float(np.square(chunk.samples, dtype=np.float64).sum()) for chunk, _ in near]
        around = np.convolve(energy, np.ones(2 * _QUIET_CHUNKS), "valid")
        return _QUIET_CHUNKS + int(np.argmin(around))

    def _open(self, speech: _Speech) -> TurnOpened:
        speech.turn = f"t{next(self._turns)}"
        return TurnOpened(speech.turn, speech.start / SAMPLE_RATE)

    def _closed(self, speech: _Speech, end: int) -> TurnClosed:
        first = self._position - self.kept_samples
        kept = np.concatenate([chunk.samples for chunk, _ in self._kept])
        samples = kept[speech.start - first : end - first]
        self._last_end = end
        return TurnClosed(
            turn=speech.turn,
            samples=samples.copy(),
            audio_from=speech.start / SAMPLE_RATE,
            audio_to=end / SAMPLE_RATE,
            speech_end=min(speech.end, end) / SAMPLE_RATE,
            item=self._item(speech.start, end),
        )

    def _item(self, start: int, end: int) -> str | None:
        """Return the recording that most of some audio is of, the first of equals."""
        shares: Counter[str] = Counter()
        for chunk, _ in self._kept:
            first = chunk.number * CHUNK_SAMPLES
            share = min(end, first + CHUNK_SAMPLES) - max(start, first)
            if chunk.item is not None and share > 0:
                shares[chunk.item] += share
        return shares.most_common(1)[0][0] if shares else None

    def _forget(self) -> None:
        """Keep the audio of the speech, or what may become the padding of the next."""
        start = self._position - self._pad if self._speech is None else self._speech.start
        while self._kept and (self._kept[0][0].number + 1) * CHUNK_SAMPLES <= start:
            self._kept.popleft()


def _chunks(seconds: float) -> int:
    """Return how many chunks last at least so long, one at least."""
    return max(1, -(-round(seconds * SAMPLE_RATE) // CHUNK_SAMPLES))
