"""Windows as WAV files, for programs and servers."""

import io
import wave

import numpy as np
import numpy.typing as npt

from misheard.recognizers.protocol import SAMPLE_RATE


def wav_bytes(samples: npt.NDArray[np.float32]) -> bytes:
    """Return float32[n] at 16 kHz as a 16-bit mono WAV file; what is beyond full scale is clipped."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(np.clip(np.round(samples * 32_767.0), -32_768, 32_767).astype("<i2").tobytes())
    return buffer.getvalue()
