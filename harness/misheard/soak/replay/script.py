"""What a session plays: a suite's recordings put together, the same for the same seed on every machine."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from misheard.audio.windows import SAMPLE_RATE
from misheard.soak.replay.values import Script, Segment, SegmentKind
from misheard.soak_config import SessionConfig
from misheard.suite.mixing.seeds import rank

ENDING_SECONDS = 2
"""Of silence at the end, in which the last turn ends."""
MIXED_MINUTES = 20
"""A session of as many minutes has turns of several recordings without a pause too."""
CONTINUOUS_MINUTES = 60
"""A session of as many minutes has no long pauses."""

_BLOCK_SAMPLES = 5 * 60 * SAMPLE_RATE
_EVENTS = (("correction", 0.15), ("long_pause", 0.3), ("digression", 0.45), ("long_pause", 0.8))
"""What happens in every block of five minutes, and after which part of it."""
_DIGRESSION_SHARE = 0.2
_JOINED_SHARE = 0.25
_JOINED_SECONDS = (10.0, 35.0)
_SHORTEST_SAMPLES = SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording that can be played.

    Attributes:
        item: id of its item.
        seconds: how long it is.
        session, language: of the item.
        before, after: seconds of silence at its beginning and end, which are left out inside a long turn.
    """

    item: str
    seconds: float
    session: str | None = None
    language: str | None = None
    before: float = 0.0
    after: float = 0.0

    @property
    def samples(self) -> int:
        """Its length at 16 kHz."""
        return round(self.seconds * SAMPLE_RATE)

    @property
    def theme(self) -> tuple[str, str]:
        """What it has in common with recordings of the same conversation."""
        return self.session or "", self.language or ""


def stitch(clips: Sequence[Clip], config: SessionConfig, minutes: int) -> Script:
    """Return a session of exactly `minutes` that ends with two seconds of silence.

    `stitched`: each round plays every clip, conversation by conversation, in a new order, with pauses between
    them. In every block of five minutes a clip is broken off and said again from its beginning
    (`correction`), clips of another conversation come between (`digression`), after which the interrupted one
    goes on (`return`), and some pauses are long ones. From MIXED_MINUTES on a quarter of the turns are
    several clips of one language without a pause; from CONTINUOUS_MINUTES on no pause is long. What does not
    fit at the end is broken off; with clips too long for a block, what happens in it comes later or not at
    all.

    `recording`: the clips in their order without pauses, and again, until the time is over.

    Raises ValueError without clips, with an empty one, or without minutes.
    """
    if minutes < 1 or not clips or min(clip.samples for clip in clips) < 1:
        raise ValueError("a session needs at least one minute, and clips that are not empty")
    tape = _Tape(minutes * 60 * SAMPLE_RATE)
    if config.source == "recording":
        for clip in itertools.cycle(clips):
            if tape.full:
                break
            tape.play(clip, SegmentKind.SPEECH)
    else:
        _Stitching(tape, clips, config, minutes).fill()
    return tape.script()


class _Tape:
    """The segments so far, counted in samples."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._room = length - ENDING_SECONDS * SAMPLE_RATE
        self._segments: list[Segment] = []
        self.position = 0

    @property
    def full(self) -> bool:
        """Whether what is left is too short for speech."""
        return self._room - self.position < _SHORTEST_SAMPLES

    def play(self, clip: Clip, kind: SegmentKind, start: float = 0.0, end: float | None = None) -> None:
        """Add a clip from one second to another, to its end without one, as far as there is room."""
        offset = round(start * SAMPLE_RATE)
        stop = clip.samples if end is None else round(end * SAMPLE_RATE)
        self._add(kind, clip.item, min(stop - offset, self._left), offset)

    def pause(self, kind: SegmentKind, seconds: float) -> None:
        """Add silence, as far as there is room."""
        self._add(kind, None, min(round(seconds * 1_000) * SAMPLE_RATE // 1_000, self._left))

    def script(self) -> Script:
        """Return the session, with silence to its end."""
        self._add(SegmentKind.PAUSE, None, self._length - self.position)
        return Script(tuple(self._segments))

    @property
    def _left(self) -> int:
        return self._room - self.position

    def _add(self, kind: SegmentKind, item: str | None, samples: int, offset: int = 0) -> None:
        if samples > 0:
            start, self.position = self.position, self.position + samples
            times = (count / SAMPLE_RATE for count in (start, self.position, offset))
            self._segments.append(Segment(kind, item, *times))


class _Order:
    """Clips in rounds: a round has all of them, conversation by conversation, in an order of its own."""

    def __init__(self, clips: Sequence[Clip], seed: int) -> None:
        self._clips = clips
        self._seed = seed
        self._round = 0
        self._left: list[Clip] = []
        self._last: Clip | None = None

    def next(self) -> Clip:
        """Return the next clip."""
        self._refill()
        return self._take(0)

    def next_in(self, language: str | None) -> Clip | None:
        """Return the next clip if it is in this language."""
        self._refill()
        return self._take(0) if self._left[0].language == language else None

    def next_of(self, theme: tuple[str, str]) -> Clip | None:
        """Return the next clip of a conversation; None where this round has no more of it."""
        for index, clip in enumerate(self._left):
            if clip.theme == theme:
                return self._take(index)
        return None

    def others(self, clip: Clip, number: int) -> Iterator[Clip]:
        """Yield clips of other conversations, one after the other; else other clips; else the clip itself."""
        others = [other for other in self._clips if other.theme != clip.theme]
        others = others or [other for other in self._clips if other.item != clip.item] or [clip]
        return iter(sorted(others, key=lambda other: self._rank(other, "digression", str(number))))

    def _refill(self) -> None:
        if not self._left:
            self._left = self._shuffled()

    def _take(self, index: int) -> Clip:
        self._last = self._left.pop(index)
        return self._last

    def _shuffled(self) -> list[Clip]:
        number, self._round = str(self._round), self._round + 1
        clips = sorted(self._clips, key=lambda clip: self._rank(clip, "round", number))
        # no clip comes twice in a row because a round ends with it and the next begins with it
        return [*clips[1:], clips[0]] if clips[0] == self._last else clips

    def _rank(self, clip: Clip, *names: str) -> tuple[bytes, bytes]:
        return rank(self._seed, *names, *clip.theme), rank(self._seed, *names, clip.item)


class _Stitching:
    """Fills a tape with clips, pauses and events."""

    def __init__(self, tape: _Tape, clips: Sequence[Clip], config: SessionConfig, minutes: int) -> None:
        self._tape = tape
        self._config = config
        self._order = _Order(clips, config.seed)
        self._events = _events(minutes)
        self._block = min(_BLOCK_SAMPLES, minutes * 60 * SAMPLE_RATE)
        self._mixed = minutes >= MIXED_MINUTES
        self._draws = 0
        self._digressions = 0

    def fill(self) -> None:
        """Play until there is no more room."""
        while not self._tape.full:
            match self._due():
                case "correction":
                    self._correction()
                case "digression":
                    self._digression()
                case "long_pause":
                    self._tape.play(self._order.next(), SegmentKind.SPEECH)
                    self._pause(SegmentKind.LONG_PAUSE)
                case _:
                    self._turn()
                    self._pause()

    def _due(self) -> str | None:
        if self._events and self._events[0][1] <= self._tape.position:
            return self._events.pop(0)[0]
        return None

    def _turn(self) -> None:
        """Play a clip, or several as one long turn, without the silence at the ends that meet."""
        clips = [self._order.next()]
        if self._mixed and self._draw(0.0, 1.0) < _JOINED_SHARE:
            enough = self._draw(*_JOINED_SECONDS)
            while sum(clip.seconds - clip.before - clip.after for clip in clips) < enough:
                following = self._order.next_in(clips[0].language)
                if following is None:
                    break
                clips.append(following)
        last = len(clips) - 1
        for index, clip in enumerate(clips):
            start = clip.before if index > 0 else 0.0
            end = clip.seconds - (clip.after if index < last else 0.0)
            if not self._tape.full:
                self._tape.play(clip, SegmentKind.SPEECH, start, end)

    def _correction(self) -> None:
        clip = self._order.next()
        self._tape.play(clip, SegmentKind.CORRECTION, end=clip.seconds / 2)
        self._pause()
        self._tape.play(clip, SegmentKind.SPEECH)
        self._pause()

    def _digression(self) -> None:
        """Play a clip, others, and the next of the first one's conversation: that again if it has no more."""
        interrupted = self._order.next()
        self._tape.play(interrupted, SegmentKind.SPEECH)
        self._pause()
        self._digressions += 1
        end = self._tape.position + round(_DIGRESSION_SHARE * self._block)
        others = self._order.others(interrupted, self._digressions)
        for clip in itertools.islice(others, self._config.digression_turns):
            self._tape.play(clip, SegmentKind.DIGRESSION)
            self._pause()
            if self._tape.position >= end:
                break
        self._tape.play(self._order.next_of(interrupted.theme) or interrupted, SegmentKind.RETURN)
        self._pause()

    def _pause(self, kind: SegmentKind = SegmentKind.PAUSE) -> None:
        long = kind is SegmentKind.LONG_PAUSE
        bounds = self._config.long_pause_seconds if long else self._config.pause_seconds
        self._tape.pause(kind, self._draw(*bounds))

    def _draw(self, low: float, high: float) -> float:
        """Draw a number from a digest: the random numbers of numpy may change between its versions."""
        self._draws += 1
        part = int.from_bytes(rank(self._config.seed, "draw", str(self._draws))[:6], "big") / 2**48
        return low + (high - low) * part


def _events(minutes: int) -> list[tuple[str, int]]:
    """Return what happens, and from which sample on."""
    length = minutes * 60 * SAMPLE_RATE
    block = min(_BLOCK_SAMPLES, length)
    events = []
    for start in range(0, length, block):
        events += [(name, start + round(part * block)) for name, part in _EVENTS]
    return [event for event in events if minutes < CONTINUOUS_MINUTES or event[0] != "long_pause"]
