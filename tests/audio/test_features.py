"""Log-mel features against two other implementations, and their independence of the batch."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from faster_whisper.feature_extractor import FeatureExtractor
from transformers import WhisperFeatureExtractor

from misheard.audio.features import _log_mel_torch, log_mel, mel_filters

RATE = 16_000
RANDOM = np.random.default_rng(0)


def chirp(seconds: float) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.4 * np.sin(2 * np.pi * (100 + 300 * time) * time)).astype(np.float32)


WINDOWS = {
    "chirp": chirp(7.3),
    "noise": (0.1 * RANDOM.standard_normal(4 * RATE)).astype(np.float32),
    "full": (0.1 * RANDOM.standard_normal(30 * RATE)).astype(np.float32),
    "almost full": (0.1 * RANDOM.standard_normal(30 * RATE - 150)).astype(np.float32),
    "one sample": np.ones(1, np.float32),
    "silence": np.zeros(RATE, np.float32),
    "ends loudly": np.concatenate([np.zeros(RATE), np.full(40, 0.9)]).astype(np.float32),
}


@pytest.mark.parametrize("n_mels", [80, 128])
@pytest.mark.parametrize("name", WINDOWS)
def test_features_equal_those_of_other_implementations(name: str, n_mels: int) -> None:
    window = WINDOWS[name]
    padded = np.pad(window, (0, 30 * RATE - len(window)))
    ours = log_mel([window], n_mels).numpy()[0]
    assert ours.shape == (n_mels, 3000)
    assert ours.dtype == np.float32
    faster_whisper = FeatureExtractor(feature_size=n_mels)(padded, padding=0)
    np.testing.assert_allclose(ours, faster_whisper, atol=1e-5)
    transformers = WhisperFeatureExtractor(feature_size=n_mels)(
        window, sampling_rate=RATE, return_tensors="np"
    )
    np.testing.assert_allclose(ours, transformers.input_features[0], atol=1e-4)


@pytest.mark.parametrize("n_mels", [80, 128])
def test_the_path_for_accelerators_gives_the_same(n_mels: int) -> None:
    windows = list(WINDOWS.values())
    torch.testing.assert_close(
        _log_mel_torch(windows, n_mels, "cpu"), log_mel(windows, n_mels), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("compute", [log_mel, lambda *given: _log_mel_torch(*given, "cpu")])
def test_features_do_not_depend_on_the_batch(
    compute: Callable[..., torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misheard.audio.features._WINDOWS_AT_ONCE", 3)
    windows = list(WINDOWS.values())
    batch = compute(windows, 80)
    for window, features in zip(windows, batch, strict=True):
        assert torch.equal(compute([window], 80)[0], features)
    assert torch.equal(compute(windows[::-1], 80), batch.flip(0))


def test_zeros_at_the_end_change_nothing() -> None:
    window = chirp(3)
    assert torch.equal(log_mel([window], 80), log_mel([np.pad(window, (0, 5 * RATE))], 80))


@pytest.mark.parametrize("length", [0, 30 * RATE + 1])
def test_windows_of_impossible_length_are_refused(length: int) -> None:
    with pytest.raises(ValueError, match="1 to 480000 samples"):
        log_mel([np.zeros(length, np.float32)], 80)


def test_an_empty_batch_gives_an_empty_tensor() -> None:
    assert log_mel([], 80).shape == (0, 80, 3000)


def test_every_band_has_unit_area() -> None:
    areas = mel_filters(80).sum(axis=1) * (RATE / 400)
    np.testing.assert_allclose(areas[20:], 1, atol=0.15)
