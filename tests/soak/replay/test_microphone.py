"""The audio of a session: every sample once, in order, and a piece of a recording in memory at a time."""

import gc
import weakref
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.audio.decode import decode
from misheard.errors import InputError
from misheard.failures import FailureKind
from misheard.soak.replay.clips import clips_of, prepare
from misheard.soak.replay.microphone import DITHER_AMPLITUDE, chunks, recordings, suite_reader
from misheard.soak.replay.script import stitch
from misheard.soak.replay.values import CHUNK_SAMPLES, Chunk, Script, Segment, SegmentKind
from misheard.soak_config import SessionConfig
from misheard.suite.manifest import load_suite

Samples = npt.NDArray[np.float32]
RATE = 16_000


def script_of(*parts: tuple[str | None, int, int]) -> Script:
    """Segments of (item, samples, offset in samples), one after the other."""
    segments, position = [], 0
    for item, count, offset in parts:
        kind = SegmentKind.SPEECH if item else SegmentKind.PAUSE
        segments.append(Segment(kind, item, position / RATE, (position + count) / RATE, offset / RATE))
        position += count
    return Script(tuple(segments))


def reader(recorded: dict[str, Samples], size: int) -> Callable[[str], Generator[Samples]]:
    def read(item: str) -> Generator[Samples]:
        for start in range(0, len(recorded[item]), size):
            yield recorded[item][start : start + size]

    return read


def joined(played: list[Chunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in played])


RECORDED = {
    "a": np.arange(1, 4_001, dtype=np.float32),
    "b": -np.arange(1, 1_301, dtype=np.float32),
    "c": np.full(7, 9.0, np.float32),
}


@settings(max_examples=80, deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(1, 3_000), st.integers(0, 900)),
        min_size=1,
    ),
    size=st.integers(1, 5_000),
)
def test_every_sample_comes_once(parts: list[tuple[str | None, int, int]], size: int) -> None:
    played = list(chunks(script_of(*parts), reader(RECORDED, size)))
    expected, owners = [], []
    for item, count, offset in parts:
        part = RECORDED[item][offset : offset + count] if item else np.zeros(0, np.float32)
        # where a recording ends before its segment does, there is silence
        expected.append(np.pad(part, (0, count - len(part))))
        owners += [item] * count
    heard = joined(played)
    whole = np.concatenate(expected)
    assert len(heard) == -(-len(whole) // CHUNK_SAMPLES) * CHUNK_SAMPLES
    assert not heard[len(whole) :].any()
    np.testing.assert_allclose(heard[: len(whole)], whole, atol=DITHER_AMPLITUDE, rtol=0)
    assert [chunk.number for chunk in played] == list(range(len(played)))
    assert [chunk.item for chunk in played] == owners[::CHUNK_SAMPLES]
    assert {chunk.samples.dtype for chunk in played} == {np.dtype(np.float32)}


def test_a_pause_holds_dither_that_depends_on_the_seed_alone() -> None:
    read = reader({}, 1)

    def pause(seed: int, *lengths: int) -> Samples:
        script = script_of(*((None, length, 0) for length in lengths))
        return joined(list(chunks(script, read, seed)))[: sum(lengths)]

    first = pause(1, 100_000)
    assert 0 < np.abs(first).max() <= DITHER_AMPLITUDE
    assert np.abs(first).mean() == pytest.approx(DITHER_AMPLITUDE / 2, rel=0.02)
    assert abs(first.mean()) < DITHER_AMPLITUDE / 50
    np.testing.assert_array_equal(pause(1, 700, 99_300), first)
    assert not np.array_equal(pause(2, 100_000), first)
    assert (first[:3] * 2**38).tolist() == [5943642.0, 7149463.0, 6621760.0]  # the same on every machine


def test_one_piece_of_a_recording_is_in_memory_at_a_time() -> None:
    alive: list[weakref.ref[Samples]] = []
    open_files: list[str] = []

    def read(item: str) -> Generator[Samples]:
        open_files.append(item)
        try:
            for _ in range(50):
                piece = np.ones(10_000, np.float32)
                alive.append(weakref.ref(piece))
                yield piece
                del piece
        finally:
            open_files.remove(item)

    most = 0
    script = script_of(("a", 400_000, 0), ("b", 30_000, 5_000), ("a", 100, 0), (None, 900, 0))
    for _ in chunks(script, read):
        most = max(most, sum(reference() is not None for reference in alive))
        assert len(open_files) <= 1
    gc.collect()
    assert most <= 2  # the piece that is cut, and the one behind it while it is made
    assert open_files == []


def test_a_stitched_suite_sounds_like_its_recordings(make_suite: Callable[..., Path]) -> None:
    suite = load_suite(make_suite(speech=4))
    config = SessionConfig()
    script = stitch(clips_of(suite, config, 1).usable, config, 1)
    heard = joined(list(chunks(script, suite_reader(suite))))
    assert len(heard) == 60 * RATE
    decoded = {item.id: decode(suite.audio_path(item)).samples for item in suite.items}
    for segment in script.segments:
        part = heard[round(segment.start * RATE) : round(segment.end * RATE)]
        if segment.item is None:
            assert np.abs(part).max() <= DITHER_AMPLITUDE
        else:
            offset = round(segment.offset * RATE)
            np.testing.assert_array_equal(part, decoded[segment.item][offset : offset + len(part)])


def test_recordings_are_decoded_before_the_session(make_suite: Callable[..., Path]) -> None:
    root = make_suite(speech=3)
    suite = load_suite(root)
    script = script_of(("q01", 900, 0), (None, 100, 0), ("q00", 900, 0), ("q01", 900, 0))
    expected = {name: decode(root / "audio" / f"{name}.flac").sha256 for name in ("q00", "q01")}
    assert recordings(script, suite) == (expected, {})
    path = root / "audio" / "q01.flac"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert recordings(script, suite) == (
        {"q00": expected["q00"]}, {"q01": FailureKind.AUDIO_TRUNCATED}
    )  # fmt: skip
    for source in ("stitched", "recording"):
        prepared = prepare(suite, SessionConfig(source=source), 1)
        played = {segment.item for segment in prepared.script.segments} - {None}
        assert played == {*prepared.recordings} == {"q00", "q02"}
        assert prepared.unusable == {"q01": FailureKind.AUDIO_TRUNCATED}
    with pytest.raises(InputError, match=r"^item q01: audio_truncated"):
        list(chunks(script_of(("q01", 60_000, 0)), suite_reader(suite)))
