"""Windows of at most 30 s, cut where a recording is quietest."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

SAMPLE_RATE = 16_000
WINDOW_SAMPLES = 30 * SAMPLE_RATE
"""The length that Whisper was trained on."""

_EARLIEST_CUT = 20 * SAMPLE_RATE
_SHORTEST_REST = SAMPLE_RATE
_FRAME = SAMPLE_RATE // 5
_HOP = SAMPLE_RATE // 100


def cut(samples: FloatArray) -> list[tuple[int, int]]:
    """Return (start, end) of windows that cover float32[n] at 16 kHz exactly once, in order.

    A recording of at most 30 s is one window. Otherwise each window ends in the middle of the 200 ms with the
    least energy, between 20 s and 30 s after its start, the latest of equals; at least 1 s is left for the
    last window. No samples give no window.
    """
    windows = []
    start = 0
    while len(samples) - start > WINDOW_SAMPLES:
        last = min(start + WINDOW_SAMPLES, len(samples) - _SHORTEST_REST)
        end = _quietest(samples, start + _EARLIEST_CUT, last)
        windows.append((start, end))
        start = end
    if start < len(samples):
        windows.append((start, len(samples)))
    return windows


def whole(samples: FloatArray) -> list[tuple[int, int]]:
    """Return one window over all of float32[n], for recognizers that cut recordings themselves."""
    return [(0, len(samples))] if len(samples) else []


def _quietest(samples: npt.NDArray[np.float32], first: int, last: int) -> int:
    """Return the centre of the quietest frame that lies within samples first … last."""
    energy = np.square(samples[first:last], dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(energy)])
    frames = sums[_FRAME::_HOP] - sums[: len(sums) - _FRAME : _HOP]
    latest = len(frames) - 1 - int(np.argmin(frames[::-1]))
    return first + latest * _HOP + _FRAME // 2
