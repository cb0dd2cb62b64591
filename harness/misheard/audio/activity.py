"""How much of a recording is speech, by an energy rule.

Levels are taken over frames of 30 ms. A frame is active if its level is above -60 dB of full scale, at most
25 dB under the recording's 95th percentile, and more than 3 dB above its 10th: the noise floor, so that
silence, hum and steady noise have no active part. Active runs of under 60 ms (clicks) are dropped, and then
pauses of up to 300 ms between active runs are filled, as a pause inside a sentence belongs to it.

The rule knows nothing of speech: music and other sounds that come and go count as active.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

FRAME_SAMPLES = 480
FRAME_SECONDS = 0.03

_SILENCE_DB = -60.0
_RANGE_DB = 25.0
_ABOVE_FLOOR_DB = 3.0
_SHORTEST_RUN_FRAMES = 2
_LONGEST_PAUSE_FRAMES = 10
_BLOCK_FRAMES = 2_000
_SMALLEST_POWER = 1e-12

BoolArray = npt.NDArray[np.bool_]


def speech_active_seconds(samples: npt.NDArray[np.float32]) -> float:
    """Return the seconds of float32[n] at 16 kHz that are active; a short last frame counts as such."""
    active = active_frames(samples)
    seconds = float(active.sum()) * FRAME_SECONDS
    if len(active) and active[-1]:
        seconds -= (len(active) * FRAME_SAMPLES - len(samples)) * FRAME_SECONDS / FRAME_SAMPLES
    return seconds


def active_frames(samples: npt.NDArray[np.float32]) -> BoolArray:
    """Return bool[ceil(n / 480)]: which frames of float32[n] at 16 kHz are active."""
    if not len(samples):
        return np.zeros(0, np.bool_)
    levels = _levels(samples)
    floor, high = np.percentile(levels, [10, 95])
    threshold = max(_SILENCE_DB, high - _RANGE_DB, floor + _ABOVE_FLOOR_DB)
    return _without_short_runs(_without_short_runs(levels > threshold, True, 1), False, _LONGEST_PAUSE_FRAMES)


def _levels(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the level of each frame in dB of full scale (mean square 1)."""
    powers = []
    block = _BLOCK_FRAMES * FRAME_SAMPLES
    for start in range(0, len(samples), block):
        squares = np.square(samples[start : start + block], dtype=np.float64)
        whole = len(squares) // FRAME_SAMPLES * FRAME_SAMPLES
        powers.append(squares[:whole].reshape(-1, FRAME_SAMPLES).mean(axis=1))
        if whole < len(squares):
            powers.append(squares[whole:].mean(keepdims=True))
    return np.asarray(10 * np.log10(np.maximum(np.concatenate(powers), _SMALLEST_POWER)), np.float64)


def _without_short_runs(active: BoolArray, value: bool, longest: int) -> BoolArray:
    """Flip runs of `value` of at most `longest` frames; silence at either end is no pause."""
    edges = np.flatnonzero(np.diff(active.astype(np.int8))) + 1
    bounds = np.concatenate([[0], edges, [len(active)]])
    out = active.copy()
    for start, end in pairwise(bounds):
        inner = value or (start > 0 and end < len(active))
        if active[start] == value and end - start <= longest and inner:
            out[start:end] = not value
    return out
