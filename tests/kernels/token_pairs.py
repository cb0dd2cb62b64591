"""Pairs of token sequences for the tests of the kernels."""

from collections.abc import Sequence

import numpy as np

Pair = tuple[Sequence[int], Sequence[int]]


def arrays(pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    sides = []
    for side in (0, 1):
        flat = [token for pair in pairs for token in pair[side]]
        sides.append(np.array(flat, dtype=np.int32))
        sides.append(np.cumsum([0, *(len(pair[side]) for pair in pairs)], dtype=np.int64))
    return tuple(sides)


def random_pairs(seed: int, count: int, longest: int, vocabulary: int) -> list[Pair]:
    rng = np.random.default_rng(seed)

    def tokens() -> list[int]:
        return rng.integers(0, vocabulary, rng.integers(0, longest + 1)).tolist()

    return [(tokens(), tokens()) for _ in range(count)]


def noisy_pairs(seed: int, count: int, length: int, vocabulary: int, loop: int = 12) -> list[Pair]:
    """Pairs as recognition makes them: a copy with tokens replaced, dropped or said up to `loop` times."""
    rng = np.random.default_rng(seed)
    pairs: list[Pair] = []
    for _ in range(count):
        ref = rng.integers(0, vocabulary, rng.integers(1, length)).tolist()
        hyp: list[int] = []
        for token in ref:
            kind = rng.random()
            if kind < 0.85:
                hyp.append(token)
            elif kind < 0.91:
                hyp.append(int(rng.integers(0, vocabulary)))
            elif kind < 0.95:
                hyp += [token] * int(rng.integers(2, loop + 1))
        pairs.append((ref, hyp))
    return pairs


CORPORA = {
    "short, few symbols": random_pairs(1, 2000, 8, 2),
    "unrelated": random_pairs(2, 300, 60, 3),
    "many symbols": random_pairs(3, 300, 40, 1000),
    "noisy words": noisy_pairs(4, 500, 30, 2000),
    "noisy characters": noisy_pairs(5, 200, 200, 26),
}
