"""What the two decoding libraries have in common for `misheard.audio.reader`."""

from typing import Protocol

import numpy as np
import numpy.typing as npt


class DamagedError(Exception):
    """Raised by `Sound.read` where decoding cannot go on."""


class Sound(Protocol):
    """An open recording.

    `frames` is the length that the container declares, None where it declares none; decoding may end `slack`
    frames before it. `lossy` says that another decoder may give other samples.
    """

    sample_rate: int
    channels: int
    format: str
    subtype: str
    frames: int | None
    slack: int
    lossy: bool

    def read(self, frames: int) -> npt.NDArray[np.float32]:
        """Return about as many further frames, float32[n, channels], none at the end. Raises DamagedError."""
        ...
