"""The energy rule: bursts count, silence, hum, steady noise and clicks do not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.audio.activity import FRAME_SAMPLES, active_frames, speech_active_seconds

RATE = 16_000


def noise(seconds: float, level: float = 0.1, seed: int = 0) -> np.ndarray:
    return (level * np.random.default_rng(seed).standard_normal(round(seconds * RATE))).astype(np.float32)


def with_bursts(seconds: float, bursts: list[tuple[float, float]], background: float = 0.001) -> np.ndarray:
    samples = noise(seconds, background)
    for start, end in bursts:
        samples[round(start * RATE) : round(end * RATE)] += noise(end - start, 0.2, seed=1)[
            : round(end * RATE) - round(start * RATE)
        ]
    return samples


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (np.zeros(0, np.float32), 0.0),
        (np.zeros(5 * RATE, np.float32), 0.0),
        (noise(5, 1e-4), 0.0),
        (noise(5), 0.0),
        (np.full(5 * RATE, 0.5, np.float32), 0.0),
        ((0.3 * np.sin(2 * np.pi * 50 * np.arange(5 * RATE) / RATE)).astype(np.float32), 0.0),
        (with_bursts(10, [(2, 4)]), 2.0),
        (with_bursts(10, [(2, 4)], background=0.0), 2.0),
        (with_bursts(10, [(1, 2), (5, 6.5)]), 2.5),
        (with_bursts(10, [(2, 3), (3.2, 4)]), 2.0),
        (with_bursts(10, [(2, 2.01)]), 0.0),
        (with_bursts(10, [(9, 10)]), 1.0),
    ],
    ids=[
        "nothing",
        "digital silence",
        "very quiet",
        "steady noise",
        "constant",
        "hum",
        "one burst",
        "one burst in digital silence",
        "two bursts",
        "a pause inside a sentence",
        "a click",
        "until the end",
    ],
)
def test_active_seconds(samples: np.ndarray, expected: float) -> None:
    assert speech_active_seconds(samples) == pytest.approx(expected, abs=0.1)


def test_level_does_not_matter() -> None:
    samples = with_bursts(8, [(1, 3), (5, 6)])
    assert speech_active_seconds(samples) == speech_active_seconds(samples * np.float32(0.125))


@settings(max_examples=50, deadline=None)
@given(length=st.integers(0, 3 * RATE), seed=st.integers(0, 50))
def test_active_seconds_are_within_the_recording(length: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    envelope = np.repeat(random.uniform(0, 1, length // 4_000 + 1) ** 4, 4_000)[:length]
    samples = (envelope * random.standard_normal(length)).astype(np.float32)
    assert 0 <= speech_active_seconds(samples) <= length / RATE + 1e-9
    assert len(active_frames(samples)) == -(-length // FRAME_SAMPLES)


def test_long_recordings_are_measured_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = with_bursts(20, [(1, 3), (9, 14)])[:-77]
    expected = active_frames(samples)
    monkeypatch.setattr("misheard.audio.activity._BLOCK_FRAMES", 7)
    np.testing.assert_array_equal(active_frames(samples), expected)
