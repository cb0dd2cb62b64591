"""Windows cover a recording exactly once and are cut where it is quiet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.audio.windows import SAMPLE_RATE, WINDOW_SAMPLES, cut
from misheard.recognizers.protocol import SAMPLE_RATE as PROTOCOL_RATE
from misheard.recognizers.protocol import WINDOW_SECONDS


def noise(seconds: float) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, round(seconds * SAMPLE_RATE)).astype(np.float32)


def test_windows_are_those_that_recognizers_expect() -> None:
    assert SAMPLE_RATE == PROTOCOL_RATE
    assert WINDOW_SAMPLES == WINDOW_SECONDS * PROTOCOL_RATE


@pytest.mark.parametrize("length", [1, 100, WINDOW_SAMPLES - 1, WINDOW_SAMPLES])
def test_what_fits_stays_whole(length: int) -> None:
    assert cut(np.zeros(length, np.float32)) == [(0, length)]


def test_nothing_gives_no_window() -> None:
    assert cut(np.zeros(0, np.float32)) == []


def test_the_cut_falls_into_the_pause() -> None:
    samples = noise(50)
    pause = (round(24.3 * SAMPLE_RATE), round(24.8 * SAMPLE_RATE))
    samples[slice(*pause)] *= 0.01
    (_, end), _ = cut(samples)
    assert pause[0] < end < pause[1]


def test_an_early_pause_is_not_used() -> None:
    samples = noise(50)
    samples[10 * SAMPLE_RATE : 11 * SAMPLE_RATE] = 0
    (_, end), _ = cut(samples)
    assert end >= 20 * SAMPLE_RATE


def test_of_equal_pauses_the_latest_is_used() -> None:
    windows = cut(np.zeros(70 * SAMPLE_RATE, np.float32))
    assert windows[0][1] > 29.8 * SAMPLE_RATE


def test_no_sliver_is_left_over() -> None:
    windows = cut(noise(30.01))
    assert len(windows) == 2
    assert windows[1][1] - windows[1][0] >= SAMPLE_RATE


@settings(max_examples=40, deadline=None)
@given(seconds=st.floats(0, 100), seed=st.integers(0, 1000))
def test_every_sample_is_in_exactly_one_window(seconds: float, seed: int) -> None:
    samples = np.random.default_rng(seed).standard_normal(round(seconds * SAMPLE_RATE)).astype(np.float32)
    windows = cut(samples)
    bounds = [0, *(end for _, end in windows)]
    assert [start for start, _ in windows] == bounds[:-1]
    assert bounds[-1] == len(samples)
    assert all(0 < end - start <= WINDOW_SAMPLES for start, end in windows)
    assert all(end - start >= 20 * SAMPLE_RATE for start, end in windows[:-1])
    assert cut(samples) == windows
