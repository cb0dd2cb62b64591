"""Resampling in blocks, equal to resampling the whole recording at once within float rounding."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.errors import INSTALL_ADVICE, BackendError

FloatArray = npt.NDArray[np.float32]

_BLOCK_SAMPLES = 1 << 19
_ZERO_CROSSINGS = 6
_ROLLOFF = 0.99
_MAX_KERNEL = 1 << 22
_GATHER_SAMPLES = 1 << 12


class BlockResampler:
    """Resamples a mono stream with a Hann-windowed sinc (6 zero crossings, roll-off 0.99).

    `torchaudio.functional.resample` does the work. Its filter bank has a filter for every output phase, which
    for two rates without a large common factor (44,101 Hz, say) takes gigabytes; for those the same filter is
    evaluated where it is needed. Source of the formula: J. O. Smith, Digital Audio Resampling, 2002.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        divisor = math.gcd(source_rate, target_rate)
        self._source, self._target = source_rate // divisor, target_rate // divisor
        self._base = min(self._source, self._target) * _ROLLOFF
        width = math.ceil(_ZERO_CROSSINGS * self._source / self._base)
        # Blocks and context are whole periods, so that every block starts with the same phase.
        self._context = math.ceil(width / self._source)
        self._block = max(1, _BLOCK_SAMPLES // self._source)
        self._dense = self._target * (2 * width + self._source) <= _MAX_KERNEL
        self._pending: FloatArray = np.zeros(self._context * self._source, np.float32)
        self._received = self._produced = 0

    def feed(self, samples: FloatArray) -> FloatArray:
        """Take float32[n] and return the output samples that are certain by now, float32[m]."""
        if self._source == self._target:
            return samples
        self._received += len(samples)
        self._pending = np.concatenate([self._pending, samples])
        step, whole = self._block * self._source, (self._block + 2 * self._context) * self._source
        out = []
        while len(self._pending) >= whole:
            out.append(self._resample(self._pending[:whole], self._block))
            self._pending = self._pending[step:]
        return np.concatenate(out) if out else np.empty(0, np.float32)

    def finish(self) -> FloatArray:
        """Return the rest, so that n input samples have given ceil(n * target / source) output samples."""
        missing = -(-self._received * self._target // self._source) - self._produced
        if missing <= 0:
            return np.empty(0, np.float32)
        periods = -(-missing // self._target)
        padded = np.zeros((periods + 2 * self._context) * self._source, np.float32)
        padded[: len(self._pending)] = self._pending
        return self._resample(padded, periods)[:missing]

    def _resample(self, samples: FloatArray, periods: int) -> FloatArray:
        """Resample `periods` periods with context on both sides."""
        skip, count = self._context * self._target, periods * self._target
        out = (
            self._with_torchaudio(samples)[skip : skip + count]
            if self._dense
            else self._direct(samples, skip, count)
        )
        self._produced += count
        return out

    def _with_torchaudio(self, samples: FloatArray) -> FloatArray:
        torch, functional = _torchaudio()
        with torch.inference_mode():
            out: FloatArray = functional.resample(
                torch.from_numpy(samples), self._source, self._target, _ZERO_CROSSINGS, _ROLLOFF
            ).numpy()
        return out

    def _direct(self, samples: FloatArray, first: int, count: int) -> FloatArray:
        """Evaluate the filter for `count` outputs from output `first` on."""
        reach = _ZERO_CROSSINGS * self._source / self._base
        taps = np.arange(-math.ceil(reach), math.ceil(reach) + 1)
        out = np.empty(count, np.float32)
        for start in range(0, count, _GATHER_SAMPLES):
            numbers = np.arange(first + start, first + min(start + _GATHER_SAMPLES, count), dtype=np.int64)
            centre, phase = np.divmod(numbers * self._source, self._target)
            time = (taps - phase[:, None] / self._target) * (self._base / self._source)
            window = (
                np.cos(np.clip(time, -_ZERO_CROSSINGS, _ZERO_CROSSINGS) * (np.pi / _ZERO_CROSSINGS / 2)) ** 2
            )
            weights = np.sinc(time) * window * (self._base / self._source)
            index = np.clip(centre[:, None] + taps, 0, len(samples) - 1)
            out[start : start + len(numbers)] = np.einsum("ij,ij->i", samples[index], weights)
        return out


def _torchaudio() -> tuple[Any, Any]:
    try:
        import torch
        import torchaudio.functional
    except (ImportError, OSError) as error:
        detail = f"recordings are resampled with torchaudio ({error}): {INSTALL_ADVICE}"
        raise BackendError(detail) from error
    return torch, torchaudio.functional
