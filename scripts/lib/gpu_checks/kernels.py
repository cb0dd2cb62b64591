"""Edit counts on a CUDA device against those on the processor, on random and on adversarial pairs."""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_checks.bench import Bench
from gpu_checks.lines import Line, judged, skipped
from misheard_kernels import edit_counts, edit_distance_batch

Sides = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]
Pair = tuple[Sequence[int], Sequence[int]]

_CHECK = "kernels"
_SIMULATED = """
import sys
import numpy as np
from misheard_kernels import cuda
sides = [np.load(path) for path in sys.argv[2:]]
np.save(sys.argv[1], cuda.edit_counts(*sides))
"""


def check(bench: Bench) -> Iterator[Line]:
    if importlib.util.find_spec("numba_cuda") is None:
        yield skipped(_CHECK, "counts", "numba-cuda is not installed")
        return
    if bench.cpu:
        yield _simulated(bench)
        yield skipped(_CHECK, "speed", "needs a CUDA device")
        return
    from misheard_kernels import cuda

    for name, pairs in corpora(1).items():
        sides = flattened(pairs)
        yield _counts(name, sides, cuda.edit_counts(*sides), cuda.edit_distance_batch(*sides))
    for name, pairs in _large().items():
        yield _speed(name, flattened(pairs), cuda.edit_counts)


def corpora(scale: int) -> dict[str, list[Pair]]:
    """Return pairs by what is hard about them; `scale` times as many of the random ones."""
    rng = np.random.default_rng(7)

    def tokens(longest: int, vocabulary: int) -> list[int]:
        return rng.integers(0, vocabulary, rng.integers(0, longest + 1)).tolist()

    def noisy(length: int, vocabulary: int) -> Pair:
        words = rng.integers(0, vocabulary, length)
        kept = words[rng.random(length) > 0.1]
        replaced = np.where(rng.random(len(kept)) < 0.1, rng.integers(0, vocabulary, len(kept)), kept)
        return words.tolist(), replaced.tolist()

    random = [(tokens(60, symbols), tokens(60, symbols)) for symbols in (1, 2, 5, 1000)] * (25 * scale)
    loop = [(list(range(20)), [*range(20), *([19] * 400)]), ([1, 2] * 300, [2, 1] * 300)]
    edges: list[Pair] = [([], []), ([], [1, 2, 3]), ([1, 2, 3], []), ([1], [1]), ([1], [2])]
    edges += [([1, 2, 3], [3, 2, 1]), ([2**31 - 1], [-(2**31)]), ([0] * 129, [0] * 64)]
    return {
        "random pairs": random,
        "noisy words": [noisy(40, 2000) for _ in range(50 * scale)],
        "empty, loops and extremes": edges + loop,
        "long against short": [noisy(1500, 50), (tokens(3000, 30), [1]), ([1, 1], tokens(3000, 3))],
    }


def _large() -> dict[str, list[Pair]]:
    rng = np.random.default_rng(8)
    short = rng.integers(0, 5000, (20_000, 2, 40)).tolist()
    long = rng.integers(0, 200, (64, 2, 4000)).tolist()
    return {
        "20,000 pairs of 40 words": [(one, other) for one, other in short],
        "64 pairs of 4,000 words": [(one, other) for one, other in long],
    }


def flattened(pairs: Sequence[Pair]) -> Sides:
    """Return references and hypotheses as the kernels take them: tokens and offsets of each."""
    sides: list[npt.NDArray[Any]] = []
    for side in (0, 1):
        sides.append(np.array([token for pair in pairs for token in pair[side]], dtype=np.int32))
        sides.append(np.cumsum([0, *(len(pair[side]) for pair in pairs)], dtype=np.int64))
    return sides[0], sides[1], sides[2], sides[3]


def _counts(name: str, sides: Sides, counts: Any, distances: Any) -> Line:
    expected = edit_counts(*sides)
    unlike = int((np.asarray(counts) != expected).any(axis=1).sum())
    unlike += int((np.asarray(distances) != edit_distance_batch(*sides)).sum())
    figure = f"{unlike} of {len(expected)} pairs differ"
    return judged(_CHECK, name, unlike == 0, figure, "must be equal", unlike=unlike, pairs=len(expected))


def _speed(name: str, sides: Sides, on_device: Callable[..., Any]) -> Line:
    seconds = {}
    counts = {}
    for place, function in (("processor", edit_counts), ("device", on_device)):
        function(*sides)
        times = []
        for _ in range(3):
            started = time.perf_counter()
            counts[place] = function(*sides)
            times.append(time.perf_counter() - started)
        seconds[place] = min(times)
    is_right = np.array_equal(counts["processor"], counts["device"])
    ratio = seconds["processor"] / seconds["device"]
    figure = f"{1000 * seconds['device']:.1f} ms, {ratio:.2f} x the processor"
    return judged(_CHECK, name, is_right, figure, "must be equal", ratio=ratio, seconds=seconds)


def _simulated(bench: Bench) -> Line:
    """Count some pairs in numba's simulator of a device, which is for a process of its own."""
    # the simulator is slow: every tenth pair, and the beginnings of both sides
    chosen = [pair for found in corpora(1).values() for pair in found[::10]]
    pairs = [(one[:12], other[:12]) for one, other in chosen]
    sides = flattened(pairs)
    paths = [str(bench.scratch / f"side{place}.npy") for place in range(4)]
    for path, side in zip(paths, sides, strict=True):
        np.save(path, side)
    out = bench.scratch / "counts.npy"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-c", _SIMULATED, str(out), *paths]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"the simulator ended with {done.returncode}")
    counts = np.load(out)
    return _counts("small pairs in the simulator", sides, counts, counts[:, :3].sum(axis=1))
