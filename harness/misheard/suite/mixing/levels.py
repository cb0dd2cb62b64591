"""Levels over the speech-active part of a recording, and the gain that gives a signal-to-noise ratio.

Energies are summed in float64 by numpy, block by block, so that they are the same on any number of threads.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.audio.activity import FRAME_SAMPLES, FRAME_SECONDS, active_frames

NOMINAL_SPEECH_DBFS = -26.0
"""The nominal active speech level of ITU-T P.56 and G.191: what a clip without speech is measured against."""

BLOCK_FRAMES = 1_000
BLOCK_SAMPLES = BLOCK_FRAMES * FRAME_SAMPLES

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ActivePart:
    """Which samples of a recording count: `mask` is bool[frames] of 30 ms, or None for all of them."""

    mask: npt.NDArray[np.bool_] | None

    def seconds(self) -> float | None:
        """Return the length of what counts; None where that is the whole recording."""
        return None if self.mask is None else float(self.mask.sum()) * FRAME_SECONDS

    def of_block(self, block: FloatArray, start: int) -> FloatArray:
        """Return the samples of a block that count; `start` is a multiple of the frame length."""
        if self.mask is None:
            return block
        frames = self.mask[start // FRAME_SAMPLES :][: -(-len(block) // FRAME_SAMPLES)]
        return block[np.repeat(frames, FRAME_SAMPLES)[: len(block)]]


def active_part(samples: FloatArray) -> ActivePart:
    """Return the speech-active part of float32[n] at 16 kHz by the energy rule of `misheard.audio.activity`.

    Where the rule finds none (a very steady recording) the whole recording counts.
    """
    mask = active_frames(samples)
    return ActivePart(mask if mask.any() else None)


class Power:
    """The mean square of the counted samples of a stream of blocks."""

    def __init__(self, part: ActivePart) -> None:
        self._part, self._sum, self._count = part, 0.0, 0

    def add(self, block: FloatArray, start: int) -> None:
        """Add the block that starts at sample `start`."""
        counted = self._part.of_block(block, start).astype(np.float64)
        self._sum += float(np.square(counted).sum())
        self._count += len(counted)

    def value(self) -> float:
        """Return the mean square, 0 where nothing counted."""
        return self._sum / self._count if self._count else 0.0


def power(samples: FloatArray, part: ActivePart) -> float:
    """Return the mean square of the counted samples of float32[n]."""
    total = Power(part)
    for start in range(0, len(samples), BLOCK_SAMPLES):
        total.add(samples[start : start + BLOCK_SAMPLES], start)
    return total.value()


def decibels(ratio: float) -> float:
    """Return a ratio of powers in dB; -inf for 0."""
    return float(10 * np.log10(ratio)) if ratio > 0 else float("-inf")


def amplitude(decibel: float) -> float:
    """Return the factor on amplitudes that changes the level by this many dB."""
    return float(10 ** (decibel / 20))
