"""Resampling in blocks equals resampling at once, and the two ways of doing it agree."""

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torchaudio
from hypothesis import given, settings
from hypothesis import strategies as st

import misheard.audio.resample as resample_module
from misheard.audio.resample import BlockResampler

Samples = npt.NDArray[np.float32]


def noise(length: int) -> Samples:
    return np.random.default_rng(length).uniform(-1, 1, length).astype(np.float32)


def in_blocks(samples: Samples, rate: int, cuts: list[int]) -> Samples:
    resampler = BlockResampler(rate, 16_000)
    out = [resampler.feed(part) for part in np.split(samples, cuts)]
    return np.concatenate([*out, resampler.finish()])


def at_once(samples: Samples, rate: int) -> Samples:
    return np.asarray(torchaudio.functional.resample(torch.from_numpy(samples), rate, 16_000))


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000])
@pytest.mark.parametrize("length", [1, 2, 999, 1_100_003])
def test_blocks_equal_the_whole(rate: int, length: int) -> None:
    samples = noise(length)
    result = in_blocks(samples, rate, list(range(70_000, length, 70_000)))
    expected = at_once(samples, rate)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, atol=2e-6)


@settings(max_examples=25, deadline=None)
@given(
    rate=st.sampled_from([8_000, 12_000, 22_050, 44_100]),
    length=st.integers(0, 5_000),
    data=st.data(),
)
def test_how_the_input_is_cut_does_not_matter(rate: int, length: int, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=5)))
    samples = noise(length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resample_module, "_BLOCK_SAMPLES", 500)
        result = in_blocks(samples, rate, cuts)
    assert len(result) == -(-length * 16_000 // rate)
    if length:
        np.testing.assert_allclose(result, at_once(samples, rate), atol=2e-6)


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_the_direct_filter_equals_the_filter_bank(monkeypatch: pytest.MonkeyPatch, rate: int) -> None:
    samples = noise(50_001)
    expected = at_once(samples, rate)
    monkeypatch.setattr(resample_module, "_MAX_KERNEL", 0)
    # torchaudio evaluates its filter in float32.
    np.testing.assert_allclose(in_blocks(samples, rate, [20_000]), expected, atol=5e-5)


@pytest.mark.parametrize("rate", [44_101, 15_999, 767_999])
def test_rates_without_a_common_factor_take_no_gigabytes(rate: int) -> None:
    tone = np.sin(2 * np.pi * 500 * np.arange(rate) / rate).astype(np.float32)
    result = in_blocks(tone, rate, [])
    assert len(result) == 16_000
    expected = np.sin(2 * np.pi * 500 * np.arange(16_000) / 16_000)
    np.testing.assert_allclose(result[200:-200], expected[200:-200], atol=2e-3)
