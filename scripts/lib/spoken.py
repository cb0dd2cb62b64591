"""What espeak-ng says, as mono 16 kHz recordings: the same bytes with the same espeak-ng and libraries."""

import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from scipy.signal import resample_poly

RATE = 16_000
_ESPEAK_RATE = 22_050
_PEAK = 0.5
_MARGIN_SECONDS = 0.25

Wave = np.ndarray[Any, np.dtype[np.float64]]


def require_espeak() -> None:
    """End the program where espeak-ng is not installed."""
    if shutil.which("espeak-ng") is None:
        sys.exit(f"{sys.argv[0]}: espeak-ng is missing; on Debian or Ubuntu: apt-get install espeak-ng")


def spoken(text: str, voice: str, words_per_minute: int) -> Wave:
    """Return what espeak-ng says, scaled to one peak, with a margin of silence on both sides."""
    command = ["espeak-ng", "-v", voice, "-s", str(words_per_minute), "--stdout", "--", text]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    wave, rate = soundfile.read(io.BytesIO(output))
    if rate != _ESPEAK_RATE:
        sys.exit(f"{sys.argv[0]}: espeak-ng gave {rate} Hz, expected {_ESPEAK_RATE}")
    wave = resample_poly(wave, 320, 441)
    margin = np.zeros(round(_MARGIN_SECONDS * RATE))
    return np.concatenate([margin, _PEAK / np.abs(wave).max() * wave, margin])


def write_flac(path: Path, wave: Wave) -> None:
    """Write 16-bit mono FLAC."""
    samples = np.round(np.clip(wave, -1, 1) * 32_767).astype(np.int16)
    soundfile.write(path, samples, RATE, format="FLAC", subtype="PCM_16")
