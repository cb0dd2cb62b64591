"""From a recording and a tier to a file: level, clipping, sample format, and what was achieved.

The noise is scaled so that 10 log10(power of the recording / power of the noise) is the ratio asked for, both
taken over the speech-active part. `torchaudio.functional.add_noise` scales the same way but over whole
recordings, and its sums depend on the number of threads.

Where the result would clip, all of it is scaled down until its peak is 0.1 dB under full scale; the gain is
recorded. The ratio that is recorded is measured on the samples as written.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from misheard.audio.windows import SAMPLE_RATE
from misheard.audio.writing import SoundWriter
from misheard.errors import InputError
from misheard.suite.mixing.levels import (
    BLOCK_SAMPLES,
    NOMINAL_SPEECH_DBFS,
    ActivePart,
    FloatArray,
    Power,
    active_part,
    amplitude,
    decibels,
    power,
)
from misheard.suite.mixing.microphones import TELEPHONE_RATE, far_field_blocks, telephone_blocks
from misheard.suite.mixing.noises import Noise

HIGHEST_PEAK = amplitude(-0.1)
SNR_TOLERANCE_DB = 0.5

_FINE_NOISE_DBFS = -80.0
"""Under this level 16 bits (-98 dBFS) would add to the noise: 24 are written."""
_ENTRIES_TRIED = 8

Blocks = Callable[[], Iterator[FloatArray]]


@dataclass(frozen=True, slots=True)
class Mixed:
    """What was written.

    Attributes:
        noise: what the noise is made of.
        snr_db: the ratio over the speech-active part, measured on the written samples; None without speech.
        noise_dbfs: the level of the noise over the same part, before `gain_db`.
        gain_db: how far the whole was scaled against clipping; 0 where it was not.
        active_seconds: the length of the speech-active part; None where the whole recording was taken.
    """

    noise: str
    snr_db: float | None
    noise_dbfs: float
    gain_db: float
    active_seconds: float | None


def write_noisy(path: Path, samples: FloatArray, noise: Noise, snr_db: int, is_speech: bool) -> Mixed:
    """Write float32[n] at 16 kHz with noise as FLAC.

    Speech gets `snr_db` over its active part. A clip without speech has no such ratio: its noise gets the
    level that it would have beside speech at -26 dBFS, the nominal level. Raises InputError for silent speech
    or noise, and where the ratio is missed by more than 0.5 dB.
    """
    part = active_part(samples) if is_speech else ActivePart(None)
    level = power(samples, part) if is_speech else 10 ** (NOMINAL_SPEECH_DBFS / 10)
    if level <= 0:
        raise InputError("the recording is silent, so that no ratio to it can be set")
    noise, noise_level = _audible(noise, len(samples), part)
    factor = np.float32(np.sqrt(level / noise_level) * amplitude(-snr_db))

    def blocks() -> Iterator[FloatArray]:
        for start in range(0, len(samples), BLOCK_SAMPLES):
            block = samples[start : start + BLOCK_SAMPLES]
            yield block + factor * noise.block(start, len(block))

    gain = _gain_against_clipping(blocks)
    wanted_dbfs = decibels(level) - snr_db
    subtype = "PCM_24" if wanted_dbfs < _FINE_NOISE_DBFS else "PCM_16"
    rest, start = Power(part), 0
    for written in _write_flac(path, blocks, gain, subtype):
        block = samples[start : start + BLOCK_SAMPLES]
        rest.add(written / gain - block, start)
        start += len(block)
    return _checked(noise.name, level, rest.value(), snr_db, gain, part, is_speech)


def write_telephone(path: Path, samples: FloatArray) -> dict[str, Any]:
    """Write float32[n] at 16 kHz as through a telephone: WAV, 8 kHz, G.711 mu-law. Returns what to record."""

    def blocks() -> Iterator[FloatArray]:
        return telephone_blocks(samples)

    gain = _gain_against_clipping(blocks)
    with SoundWriter(path, TELEPHONE_RATE, 1, "WAV", "ULAW") as file:
        for block in blocks():
            file.write(gain * block)
    return {"gain_db": _rounded(2 * decibels(float(gain)))}


def write_far_field(path: Path, samples: FloatArray, response: FloatArray) -> dict[str, Any]:
    """Write float32[n] at 16 kHz as from across a room, at the level that it had. Returns what to record."""
    part = active_part(samples)
    level, heard, start = power(samples, part), Power(part), 0
    for block in far_field_blocks(samples, response):
        heard.add(block, start)
        start += len(block)
    factor = np.float32(np.sqrt(level / heard.value())) if heard.value() > 0 else np.float32(1)

    def blocks() -> Iterator[FloatArray]:
        return (factor * block for block in far_field_blocks(samples, response))

    gain = _gain_against_clipping(blocks)
    for _ in _write_flac(path, blocks, gain, "PCM_16"):
        pass
    return {"gain_db": _rounded(2 * decibels(float(gain)))}


def _audible(noise: Noise, samples: int, part: ActivePart) -> tuple[Noise, float]:
    """Return the noise and its power over the counted part, entered elsewhere where it is silent there."""
    step = max(1, len(noise.loop) // _ENTRIES_TRIED)
    for entry in range(_ENTRIES_TRIED):
        entered = Noise(noise.name, noise.loop, (noise.start + entry * step) % len(noise.loop))
        level = Power(part)
        for start in range(0, samples, BLOCK_SAMPLES):
            level.add(entered.block(start, min(BLOCK_SAMPLES, samples - start)), start)
        if level.value() > 0:
            return entered, level.value()
    raise InputError(f"the noise ({noise.name}) is silent where the recording is not")


def _gain_against_clipping(blocks: Blocks) -> np.float32:
    peak = max((float(np.abs(block).max()) for block in blocks() if len(block)), default=0.0)
    return np.float32(HIGHEST_PEAK / peak if peak > HIGHEST_PEAK else 1.0)


def _checked(
    name: str, level: float, rest: float, snr_db: int, gain: np.float32, part: ActivePart, is_speech: bool
) -> Mixed:
    achieved = decibels(level / rest) if rest > 0 else float("inf")
    if not abs(achieved - snr_db) <= SNR_TOLERANCE_DB:
        raise InputError(
            f"{snr_db} dB cannot be kept in the written samples ({achieved:.2f} dB): "
            "the recording is too quiet or too loud"
        )
    seconds = part.seconds()
    return Mixed(
        noise=name,
        snr_db=_rounded(achieved) if is_speech else None,
        noise_dbfs=_rounded(decibels(rest)),
        gain_db=_rounded(2 * decibels(float(gain))),
        active_seconds=None if seconds is None else _rounded(seconds),
    )


def _write_flac(path: Path, blocks: Blocks, gain: np.float32, subtype: str) -> Iterator[FloatArray]:
    """Write blocks times `gain` and yield what a reader of the file will get."""
    bits = 24 if subtype == "PCM_24" else 16
    scale = float(1 << (bits - 1))
    with SoundWriter(path, SAMPLE_RATE, 1, "FLAC", subtype) as file:
        for block in blocks():
            integers = np.clip(np.round(block.astype(np.float64) * float(gain) * scale), -scale, scale - 1)
            # libsndfile takes the highest bits of 32.
            file.write(integers.astype(np.int32) << (32 - bits))
            yield (integers / scale).astype(np.float32)


def _rounded(value: float) -> float:
    return round(value, 3)
