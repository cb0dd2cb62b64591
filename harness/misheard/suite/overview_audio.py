"""What one pass over a recording tells: its length, fingerprint, and whether it is silent or clipped."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from misheard.audio.decode import check
from misheard.failures import ItemFailedError

FULL_SCALE = 0.9999
"""16-bit samples reach 32767 / 32768; an undistorted wave is above this for a sample or two at most."""

SILENT_RANGE = 0.002
"""Twice -60 dB of full scale, the level under which the voice activity rule finds nothing."""

_CLIPPED_RUN = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """A recording: seconds, the fingerprint of its samples, and whether it is silent or clipped.

    `failure` says why it cannot be decoded; the rest is then 0, empty and False.
    """

    seconds: float = 0.0
    sha256: str = ""
    silent: bool = False
    clipped: bool = False
    failure: str | None = None


def hear(path: Path) -> Heard:
    """Decode a recording once, in blocks. Raises BackendError where soundfile is not installed."""
    levels = _Levels()
    try:
        found = check(path, levels.add)
    except ItemFailedError as error:
        return Heard(failure=str(error.kind))
    return Heard(found.info.seconds, found.sha256, levels.range < SILENT_RANGE, levels.clipped)


class _Levels:
    """The range of the samples of a channel, the widest of all, and whether samples stay at full scale."""

    def __init__(self) -> None:
        self.clipped = False
        self._low: npt.NDArray[np.float32] | None = None
        self._high: npt.NDArray[np.float32] | None = None

    def add(self, block: npt.NDArray[np.float32]) -> None:
        low, high = block.min(axis=0), block.max(axis=0)
        self._low = low if self._low is None else np.minimum(self._low, low)
        self._high = high if self._high is None else np.maximum(self._high, high)
        self.clipped = self.clipped or _has_run(block >= FULL_SCALE) or _has_run(block <= -FULL_SCALE)

    @property
    def range(self) -> float:
        return 0.0 if self._low is None or self._high is None else float((self._high - self._low).max())


def _has_run(full: npt.NDArray[np.bool_]) -> bool:
    if not full.any():
        return False
    length = len(full) - _CLIPPED_RUN + 1
    if length < 1:
        return False
    return bool(np.logical_and.reduce([full[start : start + length] for start in range(_CLIPPED_RUN)]).any())
