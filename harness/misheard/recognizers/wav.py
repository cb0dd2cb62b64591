"""Windows as WAV files, for programs and servers."""

import io
import wave
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from misheard.recognizers.protocol import SAMPLE_RATE

_BLOCK_SAMPLES = 1 << 20


def write_wav(file: BinaryIO, samples: npt.NDArray[np.float32]) -> None:
    """Write float32[n] at 16 kHz as 16-bit mono WAV, in bounded memory; beyond full scale is clipped."""
    with wave.open(file, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(SAMPLE_RATE)
        target.setnframes(len(samples))
        for start in range(0, len(samples), _BLOCK_SAMPLES):
            block = np.round(samples[start : start + _BLOCK_SAMPLES] * 32_767.0)
            target.writeframesraw(np.clip(block, -32_768, 32_767).astype("<i2").tobytes())


def wav_bytes(samples: npt.NDArray[np.float32]) -> bytes:
    """Return float32[n] at 16 kHz as the bytes of a 16-bit mono WAV file."""
    buffer = io.BytesIO()
    write_wav(buffer, samples)
    return buffer.getvalue()
