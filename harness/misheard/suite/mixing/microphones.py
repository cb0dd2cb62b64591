"""Simulated microphones: a telephone line and a microphone across a room.

* `telephone`: resampled to 8 kHz, 300 to 3400 Hz (-6 dB at both; linear-phase FIR of 255 taps, Kaiser
  window), written as a G.711 mu-law WAV by libsndfile's encoder.
* `far-field`: convolved with a generated room response: the direct path, and from 2.5 ms on Gaussian noise
  that decays by 60 dB in 0.6 s at all frequencies (J.-D. Polack, 1988), with as much energy as the direct
  path. The speech-active level stays what it was. Recordings of one session are in one room.

Both take a recording in blocks, and give as many seconds as they take.
"""

from collections.abc import Iterator

import numpy as np

from misheard.audio.resample import BlockResampler
from misheard.audio.windows import SAMPLE_RATE
from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.suite.mixing.levels import BLOCK_SAMPLES, FloatArray

TELEPHONE, FAR_FIELD = "telephone", "far-field"
TELEPHONE_RATE = 8_000
TELEPHONE_BAND = (300.0, 3_400.0)
RT60_SECONDS = 0.6
DIRECT_TO_REVERBERANT_DB = 0.0

_TAPS = 255
_KAISER_BETA = 6.0
_FIRST_REFLECTION_SECONDS = 0.0025


class BlockFilter:
    """Convolves a mono stream with a kernel by `torchaudio.functional.fftconvolve`.

    Output sample n is the sum of kernel[k] * input[n + lead - k]; there are as many as input samples.
    """

    def __init__(self, kernel: FloatArray, lead: int) -> None:
        self._kernel = kernel
        self._skip = self._lead = lead
        self._history = np.zeros(len(kernel) - 1, np.float32)

    def feed(self, samples: FloatArray) -> FloatArray:
        """Take float32[n] and return the output samples that are certain by now."""
        if not len(samples):
            return samples
        joined = np.concatenate([self._history, samples])
        out = _convolve(joined, self._kernel)
        self._history = joined[len(samples) :]
        skipped = min(self._skip, len(out))
        self._skip -= skipped
        return out[skipped:]

    def finish(self) -> FloatArray:
        """Return the rest."""
        return self.feed(np.zeros(self._lead, np.float32))


def telephone_blocks(samples: FloatArray) -> Iterator[FloatArray]:
    """Yield float32 blocks at 8 kHz of the telephone band of float32[n] at 16 kHz, before G.711."""
    resampler = BlockResampler(SAMPLE_RATE, TELEPHONE_RATE)
    band = BlockFilter(telephone_kernel(), _TAPS // 2)
    for start in range(0, len(samples), BLOCK_SAMPLES):
        yield band.feed(resampler.feed(samples[start : start + BLOCK_SAMPLES]))
    yield band.feed(resampler.finish())
    yield band.finish()


def far_field_blocks(samples: FloatArray, response: FloatArray) -> Iterator[FloatArray]:
    """Yield float32[n] at 16 kHz heard through a room response, in blocks of 30 s."""
    room = BlockFilter(response, 0)
    for start in range(0, len(samples), BLOCK_SAMPLES):
        yield room.feed(samples[start : start + BLOCK_SAMPLES])


def telephone_kernel() -> FloatArray:
    """Return the band-pass of the telephone tier, float32[255] at 8 kHz."""
    time = np.arange(_TAPS) - _TAPS // 2
    low, high = (2 * edge / TELEPHONE_RATE for edge in TELEPHONE_BAND)
    ideal = high * np.sinc(high * time) - low * np.sinc(low * time)
    return np.asarray(ideal * np.kaiser(_TAPS, _KAISER_BETA), np.float32)


def room_response(random: np.random.Generator) -> FloatArray:
    """Return a room response, float32[9600] at 16 kHz, whose first sample is the direct path, 1."""
    length = round(RT60_SECONDS * SAMPLE_RATE)
    first = round(_FIRST_REFLECTION_SECONDS * SAMPLE_RATE)
    decay = 10 ** (-3 * np.arange(length) / (RT60_SECONDS * SAMPLE_RATE))
    tail = random.standard_normal(length) * decay
    tail[:first] = 0
    tail *= 10 ** (-DIRECT_TO_REVERBERANT_DB / 20) / np.sqrt(np.square(tail).sum())
    tail[0] = 1
    return tail.astype(np.float32)


def _convolve(samples: FloatArray, kernel: FloatArray) -> FloatArray:
    try:
        import torch
        from torchaudio.functional import fftconvolve
    except (ImportError, OSError) as error:
        detail = f"microphones are simulated with torchaudio ({error}): {INSTALL_ADVICE}"
        raise BackendError(detail) from error
    with torch.inference_mode():
        out = fftconvolve(
            torch.from_numpy(samples.astype(np.float64)), torch.from_numpy(kernel.astype(np.float64)), "valid"
        )
    return np.asarray(out.numpy(), np.float64).astype(np.float32)
