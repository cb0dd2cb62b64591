"""Where turns begin and end: every rule by a table, invariants for any session, and real speech."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.audio.activity import FRAME_SAMPLES, active_frames
from misheard.audio.decode import decode
from misheard.soak.replay.clips import clips_of
from misheard.soak.replay.endpointing import Endpointer
from misheard.soak.replay.microphone import chunks, suite_reader
from misheard.soak.replay.script import Clip
from misheard.soak.replay.vad import SileroVad
from misheard.soak.replay.values import (
    CHUNK_SAMPLES,
    Chunk,
    Script,
    Segment,
    SegmentKind,
    TurnClosed,
    TurnOpened,
)
from misheard.soak_config import EndpointingConfig, SessionConfig
from misheard.suite.manifest import load_suite

Samples = npt.NDArray[np.float32]
Event = TurnOpened | TurnClosed

RATE = 16_000
PAD = 3_200
PROBABILITIES = {"s": 0.9, "t": 0.5, "m": 0.4, "r": 0.35, ".": 0.0}
"""Speech, exactly the threshold, between threshold and release, exactly the release, silence."""

DEFAULT = EndpointingConfig()


def audio(count: int) -> Samples:
    """Samples that say where they are: whole numbers from 1, exact in float32."""
    return np.arange(1, count * CHUNK_SAMPLES + 1, dtype=np.float32)


def play(
    config: EndpointingConfig,
    probabilities: list[float],
    samples: Samples | None = None,
    items: list[str | None] | None = None,
) -> list[tuple[int, Event]]:
    """Return the events, each with the number of chunks after which it came."""
    endpointer = Endpointer(config)
    samples = audio(len(probabilities)) if samples is None else samples
    events: list[tuple[int, Event]] = []
    for number, probability in enumerate(probabilities):
        part = samples[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES]
        chunk = Chunk(number, part, items[number] if items else None)
        events += [(number + 1, event) for event in endpointer.feed(chunk, probability)]
        longest = max(config.max_turn_seconds, config.pad_seconds) * RATE
        assert endpointer.kept_samples <= longest + CHUNK_SAMPLES
    events += [(len(probabilities), event) for event in endpointer.flush()]
    assert endpointer.flush() == []
    return events


def closed(events: list[tuple[int, Event]]) -> list[TurnClosed]:
    return [event for _, event in events if isinstance(event, TurnClosed)]


def place(seconds: float) -> int:
    return round(seconds * RATE)


@pytest.mark.parametrize(
    ("session", "speech"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("." * 99, [], id="silence"),
        pytest.param("." * 20 + "s" * 20 + "." * 20, [(20, 40)], id="one turn"),
        pytest.param("s" * 20 + "." * 20, [(0, 20)], id="speech from the first chunk on"),
        pytest.param("." * 3 + "s" * 20 + "." * 20, [(3, 23)], id="padding ends at the beginning"),
        pytest.param("." * 20 + "t" * 8 + "." * 20, [(20, 28)], id="the threshold opens"),
        pytest.param("m" * 99, [], id="less than the threshold does not"),
        pytest.param("s" * 8 + "m" * 30 + "." * 20, [(0, 38)], id="the release keeps it open"),
        pytest.param("s" * 8 + "r" * 30 + "." * 20, [(0, 38)], id="exactly the release, too"),
        pytest.param("s" * 10 + "." + "m" * 40, [(0, 10)], id="after silence the threshold counts again"),
        pytest.param("." * 9 + "s" * 7 + "." * 20, [], id="a blip is no turn"),
        pytest.param("s" * 4 + "." * 10 + "s" * 4 + "." * 20, [(0, 18)], id="parts of a word add up"),
        pytest.param("s" * 4 + "." * 16 + "s" * 4 + "." * 20, [], id="blips far apart do not"),
        pytest.param("s" * 7 + "." * 16 + "s" * 8 + "." * 20, [(23, 31)], id="a blip leaves nothing behind"),
        pytest.param("s" * 10 + "." * 15 + "s" * 9 + "." * 20, [(0, 34)], id="a short pause is inside"),
        pytest.param("s" * 10 + "." * 15 + "s" + "." * 20, [(0, 26)], id="and so is a blip after it"),
        pytest.param("s" * 10 + "." * 16 + "s" * 9 + "." * 20, [(0, 10), (26, 35)], id="a longer one parts"),
        pytest.param("." * 9 + "s" * 10, [(9, 19)], id="flush in speech"),
        pytest.param("s" * 10 + "." * 3, [(0, 10)], id="flush in the silence after it"),
        pytest.param("s" * 10 + "." * 10, [(0, 10)], id="flush after the padding"),
        pytest.param("." * 9 + "s" * 7, [], id="flush in a blip"),
    ],
)  # fmt: skip
def test_turns_are_where_speech_is(session: str, speech: list[tuple[int, int]]) -> None:
    events = play(DEFAULT, [PROBABILITIES[letter] for letter in session])
    found = closed(events)
    end = len(session) * CHUNK_SAMPLES
    expected = [
        (max(0, first * CHUNK_SAMPLES - PAD), min(end, last * CHUNK_SAMPLES + PAD), last * CHUNK_SAMPLES)
        for first, last in speech
    ]
    assert [(place(t.audio_from), place(t.audio_to), place(t.speech_end)) for t in found] == expected
    assert [turn.turn for turn in found] == [f"t{number}" for number in range(1, len(speech) + 1)]
    for turn, (first, last, _) in zip(found, expected, strict=True):
        assert (turn.samples[0], turn.samples[-1], len(turn.samples)) == (first + 1, last, last - first)


def test_a_turn_opens_and_closes_as_soon_as_it_is_sure() -> None:
    events = play(DEFAULT, [0.0] * 20 + [0.9] * 30 + [0.0] * 40)
    assert [number for number, _ in events] == [28, 66]
    opened, ended = events[0][1], events[1][1]
    assert opened == TurnOpened("t1", ended.audio_from)


def test_a_turn_is_of_the_recording_that_most_of_it_is_of() -> None:
    items = [None] * 10 + ["a"] * 8 + ["b"] * 12 + [None] * 30 + ["c"] * 3 + [None] * 41
    session = "." * 10 + "s" * 20 + "." * 20 + "." * 20 + "s" * 10 + "." * 24
    first, second = closed(play(DEFAULT, [PROBABILITIES[letter] for letter in session], items=items))
    assert first.item == "b"
    assert second.item is None
    items[68:74] = ["d"] * 6
    assert closed(play(DEFAULT, [PROBABILITIES[letter] for letter in session], items=items))[1].item == "d"


SHORT = EndpointingConfig(max_turn_seconds=4.0)
"""Cut after 125 chunks, between chunk 94 and chunk 122."""


def loud(count: int, quiet: range = range(0)) -> Samples:
    samples = np.ones((count, CHUNK_SAMPLES), np.float32)
    samples[list(quiet)] = 0.01
    return samples.reshape(-1)


@pytest.mark.parametrize(
    ("quiet", "cut"),
    [
        pytest.param(range(105, 111), 108, id="the middle of a quiet place"),
        pytest.param(range(0), 122, id="the latest place where all are equal"),
        pytest.param(range(20, 60), 122, id="not far before"),
        pytest.param(range(91, 97), 94, id="at the earliest"),
    ],
)
def test_a_long_turn_is_cut_where_it_is_quietest(quiet: range, cut: int) -> None:
    events = play(SHORT, [0.9] * 160 + [0.0] * 30, loud(190, quiet))
    assert [(n, type(event), event.turn) for n, event in events] == [
        (8, TurnOpened, "t1"), (125, TurnClosed, "t1"), (125, TurnOpened, "t2"), (176, TurnClosed, "t2"),
    ]  # fmt: skip
    first, second = closed(events)
    assert (place(first.audio_from), place(first.audio_to)) == (0, cut * CHUNK_SAMPLES)
    assert place(first.speech_end) == cut * CHUNK_SAMPLES
    assert (place(second.audio_from), place(second.audio_to)) == (
        cut * CHUNK_SAMPLES,
        160 * CHUNK_SAMPLES + PAD,
    )


def test_a_turn_that_is_cut_in_a_pause_ends_with_its_speech() -> None:
    events = play(SHORT, [0.9] * 111 + [0.0] * 14 + [0.9] * 20 + [0.0] * 30, loud(175, range(111, 125)))
    assert [(n, event.turn) for n, event in events] == [(8, "t1"), (125, "t1"), (126, "t2"), (161, "t2")]
    first, second = closed(events)
    assert place(first.speech_end) == 111 * CHUNK_SAMPLES
    assert place(first.audio_to) == 111 * CHUNK_SAMPLES + PAD
    assert place(second.audio_from) == 125 * CHUNK_SAMPLES - PAD


def test_speech_that_goes_on_after_such_a_cut_is_a_turn_however_short() -> None:
    quiet = loud(160, range(111, 125))
    assert len(closed(play(SHORT, [0.9] * 111 + [0.0] * 14 + [0.9] * 1 + [0.0] * 34, quiet))) == 2
    assert len(closed(play(SHORT, [0.9] * 111 + [0.0] * 16 + [0.9] * 1 + [0.0] * 32, quiet))) == 1


def test_speech_now_and_then_is_no_turn_and_is_not_kept() -> None:
    config = EndpointingConfig(max_turn_seconds=4.0, min_silence_seconds=1.0)
    assert play(config, ([0.9] + [0.0] * 29) * 40) == []


def test_chunks_follow_each_other() -> None:
    endpointer = Endpointer(DEFAULT)
    endpointer.feed(Chunk(0, audio(1)), 0.0)
    with pytest.raises(ValueError, match="chunk 2 does not follow"):
        endpointer.feed(Chunk(2, audio(1)), 0.0)


@st.composite
def configs(draw: st.DrawFn) -> EndpointingConfig:
    release, threshold = sorted((draw(st.floats(0.1, 0.9)), draw(st.floats(0.1, 0.9))))
    silence = draw(st.sampled_from([0.01, 0.1, 0.5, 1.3, 3.0]))
    return EndpointingConfig(
        threshold=threshold,
        release=release,
        min_speech_seconds=draw(st.sampled_from([0.001, 0.1, 0.25, 0.9])),
        min_silence_seconds=silence,
        pad_seconds=min(1.0, draw(st.floats(0.0, 0.5)) * silence),
        max_turn_seconds=draw(st.floats(max(2.0, silence + 0.1), 6.0)),
    )


def speech_chunks(config: EndpointingConfig, probabilities: list[float]) -> list[int]:
    found: list[int] = []
    for number, probability in enumerate(probabilities):
        speaking = bool(found) and found[-1] == number - 1
        if probability >= (config.release if speaking else config.threshold):
            found.append(number)
    return found


def groups(numbers: list[int], silence: int) -> list[list[int]]:
    """Part the chunks of speech where so many chunks of silence lie between them."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number - parts[-1][-1] - 1 < silence:
            parts[-1].append(number)
        else:
            parts.append([number])
    return parts


@settings(max_examples=60, deadline=None)
@given(
    config=configs(),
    runs=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 120)), min_size=1, max_size=10),
    seed=st.integers(0, 1_000),
)
def test_whatever_is_said_lies_in_one_turn(
    config: EndpointingConfig, runs: list[tuple[float, int]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    probabilities = [
        float(np.clip(level + 0.2 * rng.standard_normal(), 0, 1))
        for level, count in runs
        for _ in range(count)
    ]
    samples = audio(len(probabilities)) * 2.0**-24
    for number in range(len(probabilities)):
        samples[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES] *= 2.0 ** rng.integers(0, 4)
    events = [event for _, event in play(config, probabilities, samples)]

    turns = [event for event in events if isinstance(event, TurnClosed)]
    opened = [event for event in events if isinstance(event, TurnOpened)]
    assert [(t.turn, t.audio_from) for t in opened] == [(t.turn, t.audio_from) for t in turns]
    kinds = [type(event) for event in events]
    assert kinds == [TurnOpened, TurnClosed] * len(turns)
    assert all(first.audio_to <= second.audio_from for first, second in pairwise(turns))

    times = np.zeros(len(samples), np.int64)
    for turn in turns:
        start, end = place(turn.audio_from), place(turn.audio_to)
        np.testing.assert_array_equal(turn.samples, samples[start:end])
        assert start < place(turn.speech_end) <= end
        assert end - start <= config.max_turn_seconds * RATE
        times[start:end] += 1
    assert times.max(initial=0) <= 1
    covered = times.reshape(-1, CHUNK_SAMPLES).sum(axis=1)
    chunk = CHUNK_SAMPLES / RATE
    enough = max(1, int(np.ceil(round(config.min_speech_seconds / chunk, 9))))
    silence = max(1, int(np.ceil(round(config.min_silence_seconds / chunk, 9))))
    said = speech_chunks(config, probabilities)
    # speech now and then is no turn, where there is too little of it in the time of a whole one
    longest = int((config.max_turn_seconds - config.pad_seconds) / chunk) - 2
    for group in groups(said, silence):
        lost = [number for number in group if covered[number] < CHUNK_SAMPLES]
        if group[-1] - group[0] < longest:
            assert set(covered[group]) == ({CHUNK_SAMPLES} if len(group) >= enough else {0})
        else:
            assert all(sum(a <= b < a + longest for b in lost) < 2 * enough for a in lost)
    for turn in turns:
        start, end = place(turn.audio_from), place(turn.audio_to)
        assert any(start <= number * CHUNK_SAMPLES < end for number in said)


def said_with_pauses(clips: tuple[Clip, ...]) -> Script:
    """One recording after the other, with 0.6, 1.1, 1.6, … seconds between them."""
    segments, position = [], 0
    for index, clip in enumerate(clips):
        for item, count in ((clip.item, clip.samples), (None, 9_600 + 8_000 * (index % 4))):
            kind = SegmentKind.SPEECH if item else SegmentKind.PAUSE
            segments.append(Segment(kind, item, position / RATE, (position + count) / RATE))
            position += count
    return Script(tuple(segments))


@pytest.mark.parametrize(("folder", "every"), [("real", 1), ("demo", 10)])
def test_real_speech_comes_out_as_one_turn_a_recording(folder: str, every: int, real_speech: Path) -> None:
    root = real_speech if folder == "real" else Path(__file__).parents[3] / "configs" / "demo"
    suite = load_suite(root)
    clips = clips_of(suite, SessionConfig(), 1).usable[::every]
    assert len(clips) in (10, 6)
    vad, endpointer = SileroVad(), Endpointer(DEFAULT)
    script = said_with_pauses(clips)
    events: list[Event] = []
    for chunk in chunks(script, suite_reader(suite)):
        events += endpointer.feed(chunk, vad.probability(chunk))
    turns = [event for event in [*events, *endpointer.flush()] if isinstance(event, TurnClosed)]

    # measured: a turn for each of the ten real recordings, and for each of the 60 of the demo
    assert [turn.item for turn in turns] == [clip.item for clip in clips]
    paths = {item.id: suite.audio_path(item) for item in suite.items}
    spoken = [segment for segment in script.segments if segment.item is not None]
    for turn, segment in zip(turns, spoken, strict=True):
        assert segment.item is not None
        active = np.flatnonzero(active_frames(decode(paths[segment.item]).samples)) * FRAME_SAMPLES / RATE
        heard = [at for at in segment.start + active if turn.audio_from <= at < turn.audio_to]
        assert len(heard) >= 0.95 * len(active)
