"""Windows as WAV files: every sample, whatever its size, in blocks."""

import io
import wave

import numpy as np
import pytest

from misheard.recognizers import wav


@pytest.mark.parametrize("frames", [0, 1, 999, 1000, 1001, 2500])
def test_every_sample_is_there_whatever_the_block(frames: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wav, "_BLOCK_SAMPLES", 1000)
    samples = np.random.default_rng(3).uniform(-1.3, 1.3, frames).astype(np.float32)
    with wave.open(io.BytesIO(wav.wav_bytes(samples)), "rb") as file:
        assert file.getparams()[:4] == (1, 2, 16_000, frames)
        found = np.frombuffer(file.readframes(frames), "<i2")
    expected = [max(-32_768, min(32_767, round(float(sample) * 32_767))) for sample in samples]
    assert np.abs(found.astype(int) - np.array(expected, int)).max(initial=0) <= 1
    assert len(found) == frames


def test_full_scale_is_clipped_and_silence_is_silence() -> None:
    raw = wav.wav_bytes(np.array([0.0, 1.0, -1.0, 2.0, -2.0], np.float32))
    assert np.frombuffer(raw[44:], "<i2").tolist() == [0, 32_767, -32_767, 32_767, -32_768]
