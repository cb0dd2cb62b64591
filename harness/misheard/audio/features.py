"""Whisper's log-mel spectrogram, the one input of every Whisper backend.

Source: A. Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022, section 2.2, and
the model's published code: 25 ms periodic Hann windows every 10 ms, reflected at the ends of the 30 s, power
spectrum, Slaney mel bands from 0 to 8 kHz, log10 of at least 1e-10, at most 8 below the maximum, (x + 4) / 4.

Each window is computed by itself, so that its features cannot depend on the batch it is in. On a CPU that
happens with numpy in the calling thread: the other cores belong to the models that run meanwhile, and waiting
for their threads costs more than the work. Only the frames that hold sound are computed.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from misheard.audio.windows import SAMPLE_RATE, WINDOW_SAMPLES

if TYPE_CHECKING:
    import torch

N_FFT = 400
HOP = 160
FRAMES = WINDOW_SAMPLES // HOP

_BINS = N_FFT // 2 + 1
_SMALLEST_POWER = 1e-10

_WINDOWS_AT_ONCE = 64
"""The spectra of so many windows take under 1 GB."""

FloatArray = npt.NDArray[np.float32]


def log_mel(windows: Sequence[FloatArray], n_mels: int, device: str = "cpu") -> "torch.Tensor":
    """Return float32[len(windows), n_mels, 3000] on `device`.

    `windows` are float32[n] at 16 kHz with 1 to 480,000 samples, zero-padded here to 30 s. Raises ValueError
    for an empty or longer window.
    """
    import torch

    for window in windows:
        if not 0 < len(window) <= WINDOW_SAMPLES:
            raise ValueError(f"a window has 1 to {WINDOW_SAMPLES} samples, not {len(window)}")
    if torch.device(device).type != "cpu":
        return _log_mel_torch(windows, n_mels, device)
    out = np.empty((len(windows), n_mels, FRAMES), np.float32)
    for window, features in zip(windows, out, strict=True):
        _log_mel_numpy(window, features)
    return torch.from_numpy(out)


def _sounding(samples: int) -> int:
    """Return how many frames hold any of the first `samples` samples, at most 3000."""
    return min(FRAMES, (samples + N_FFT // 2 - 1) // HOP + 1)


def _padded(window: FloatArray, frames: int) -> FloatArray:
    """Return the samples that the first `frames` frames look at: 30 s with zeros, reflected at its ends."""
    needed = (frames - 1) * HOP + N_FFT
    half = N_FFT // 2
    whole = np.zeros(min(WINDOW_SAMPLES, max(needed, half + 1)), np.float32)
    whole[: len(window)] = window[: len(whole)]
    return np.pad(whole, half, mode="reflect")[:needed]


def _log_mel_numpy(window: FloatArray, out: FloatArray) -> None:
    n_mels = len(out)
    frames = _sounding(len(window))
    framed = np.lib.stride_tricks.sliding_window_view(_padded(window, frames), N_FFT)[::HOP]
    spectrum = np.fft.rfft(framed * _hann(), axis=1)
    power = np.ascontiguousarray((np.square(spectrum.real) + np.square(spectrum.imag)).T)
    mel = np.empty((n_mels, frames), np.float32)
    # The bands are narrow: summing their few bins is quicker than a matrix product, and needs no threads.
    for band, (first, weights) in enumerate(_bands(n_mels)):
        np.einsum("k,kt->t", weights, power[first : first + len(weights)], out=mel[band])
    np.log10(np.maximum(mel, _SMALLEST_POWER, out=mel), out=mel)
    lowest = mel.max() - np.float32(8.0)
    out[:, :frames] = (np.maximum(mel, lowest, out=mel) + 4.0) / 4.0
    out[:, frames:] = (max(np.log10(_SMALLEST_POWER), lowest) + 4.0) / 4.0


def _log_mel_torch(windows: Sequence[FloatArray], n_mels: int, device: str) -> "torch.Tensor":
    import torch

    target = torch.device(device)
    filters = torch.from_numpy(mel_filters(n_mels)).to(target)
    hann = torch.from_numpy(_hann()).to(target)
    out = torch.empty((len(windows), n_mels, FRAMES), dtype=torch.float32, device=target)
    with torch.inference_mode():
        for start in range(0, len(windows), _WINDOWS_AT_ONCE):
            part = windows[start : start + _WINDOWS_AT_ONCE]
            samples = _on_device(part, target)
            spectrum = torch.stft(samples, N_FFT, HOP, window=hann, return_complex=True)[..., :-1]
            mel = out[start : start + len(part)]
            # A product over all windows would be summed in an order that depends on how many there are.
            for power, features in zip(spectrum.real.square() + spectrum.imag.square(), mel, strict=True):
                torch.matmul(filters, power, out=features)
            mel.clamp_(min=_SMALLEST_POWER).log10_()
            lowest = mel.amax(dim=(1, 2), keepdim=True) - 8.0
            mel.copy_((torch.maximum(mel, lowest) + 4.0) / 4.0)
    return out


def _on_device(windows: Sequence[FloatArray], device: "torch.device") -> "torch.Tensor":
    """Return float32[len(windows), 480000] on `device`, each window with zeros behind it.

    A GPU fetches them from pinned memory by itself, while this thread prepares what comes next.
    """
    import torch

    on_cuda = device.type == "cuda"
    padded = torch.zeros((len(windows), WINDOW_SAMPLES), pin_memory=on_cuda)
    rows = padded.numpy()
    for window, row in zip(windows, rows, strict=True):
        row[: len(window)] = window
    return padded.to(device, non_blocking=on_cuda)


@lru_cache(maxsize=1)
def _hann() -> FloatArray:
    """Return the periodic Hann window, float32[400]."""
    return np.hanning(N_FFT + 1)[:-1].astype(np.float32)


@lru_cache(maxsize=4)
def mel_filters(n_mels: int) -> FloatArray:
    """Return Slaney's mel filter bank, float32[n_mels, 201], each band of unit area.

    Mel scale of M. Slaney's Auditory Toolbox (1998): linear to 1 kHz (15 mel), then 27 mel per factor of 6.4.
    """
    top = 15.0 + 27.0 * np.log(8.0) / np.log(6.4)
    mels = np.linspace(0.0, top, n_mels + 2)
    hertz = np.where(mels < 15.0, mels * (200.0 / 3.0), 1000.0 * np.exp((mels - 15.0) * np.log(6.4) / 27.0))
    bins = np.linspace(0.0, SAMPLE_RATE / 2, _BINS)
    widths = np.diff(hertz)
    rising = (bins - hertz[:-2, None]) / widths[:-1, None]
    falling = (hertz[2:, None] - bins) / widths[1:, None]
    areas = 2.0 / (hertz[2:] - hertz[:-2])
    return (np.maximum(0.0, np.minimum(rising, falling)) * areas[:, None]).astype(np.float32)


@lru_cache(maxsize=4)
def _bands(n_mels: int) -> tuple[tuple[int, FloatArray], ...]:
    """Return per band its first bin and its weights, without the zeros around them."""
    bands = []
    for row in mel_filters(n_mels):
        bins = np.flatnonzero(row)
        first, last = (int(bins[0]), int(bins[-1])) if len(bins) else (0, 0)
        bands.append((first, row[first : last + 1].copy()))
    return tuple(bands)
