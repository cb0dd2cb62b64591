"""Choosing units so that every stratum gives the same share of its items: a seeded local search.

Whole sessions rarely divide evenly. Each search starts from a seeded random choice of about the right size
and adds, removes and exchanges units while that brings the counts per stratum nearer to their targets. The
best of several searches counts: one alone can end where only exchanging several units at once would help.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_MAX_SWEEPS = 200
_MOST_STARTS, _LEAST_STARTS, _UNITS_TO_LOOK_AT = 64, 2, 20_000
_OUT_OF_BOUNDS = 1e6
"""What an item above or below the bounds costs, against about 1 for a stratum that misses by its target."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a choice should add up to.

    Attributes:
        items: wished-for number of items per stratum, float64[strata]; stratum 0 is all items.
        lowest, highest: bounds of the number of all items.
    """

    items: FloatArray
    lowest: float
    highest: float


def seeded_order(names: Sequence[str], seed: int, purpose: str) -> list[str]:
    """Return names in an order that depends on seed, purpose and names alone, not on the order given."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{purpose}:{name}".encode()).digest())


def choose_units(
    counts: Mapping[str, Sequence[int]], target: Target, seed: int, purpose: str
) -> tuple[str, ...]:
    """Choose units whose counts come near a target, within its bounds where whole units can be.

    `counts` gives, per unit, its items in every stratum; stratum 0 is all its items. The random start and the
    order of moves depend on seed and purpose.
    """
    order = seeded_order(list(counts), seed, purpose)
    if not order:
        return ()
    vectors, kinds = np.unique(
        np.array([counts[name] for name in order], dtype=np.int64), axis=0, return_inverse=True
    )
    kinds = kinds.reshape(-1)
    available = np.bincount(kinds, minlength=len(vectors))
    starts = min(_MOST_STARTS, max(_LEAST_STARTS, _UNITS_TO_LOOK_AT // len(order)))
    best = min(
        (
            _searched(vectors, available, target, np.roll(kinds, start * len(order) // starts))
            for start in range(starts)
        ),
        key=_Search.cost,
    )
    left = best.chosen.copy()
    chosen = []
    for name, kind in zip(order, kinds.tolist(), strict=True):
        if left[kind]:
            left[kind] -= 1
            chosen.append(name)
    return tuple(chosen)


def _searched(vectors: IntArray, available: IntArray, target: Target, kinds: IntArray) -> "_Search":
    search = _Search(vectors, available, target)
    search.fill(kinds)
    search.improve(list(dict.fromkeys(kinds.tolist())))
    return search


class _Search:
    """How many units of each kind are chosen; units with equal counts are of one kind."""

    def __init__(self, vectors: IntArray, available: IntArray, target: Target) -> None:
        self.chosen = np.zeros(len(vectors), dtype=np.int64)
        self._vectors, self._available, self._target = vectors, available, target
        self._sums = np.zeros(vectors.shape[1], dtype=np.int64)
        self._weights = 1.0 / np.maximum(target.items, 0.5)

    def fill(self, kinds: IntArray) -> None:
        """Take units in order while that brings the number of items nearer to its target."""
        wished, highest = float(self._target.items[0]), self._target.highest
        items = 0
        for kind, size in zip(kinds.tolist(), self._vectors[kinds, 0].tolist(), strict=True):
            if abs(items + size - wished) < abs(items - wished) and items + size <= highest:
                items += size
                self._move(kind, 1)

    def improve(self, order: Sequence[int]) -> None:
        """Move units while that lowers the cost, kind by kind in the order given."""
        for _ in range(_MAX_SWEEPS):
            if not any([self._try_add(), *(self._try_release(kind) for kind in order)]):
                return

    def cost(self) -> float:
        """Return how far the choice is from the target."""
        return float(self._cost(self._sums[None])[0])

    def _try_add(self) -> bool:
        free = np.flatnonzero(self.chosen < self._available)
        return self._try(-1, free, self._sums + self._vectors[free])

    def _try_release(self, kind: int) -> bool:
        """Remove a unit of a kind, or exchange it for one of another."""
        if not self.chosen[kind]:
            return False
        others = self.chosen < self._available
        others[kind] = False
        free = np.flatnonzero(others)
        rest = self._sums - self._vectors[kind]
        return self._try(kind, free, np.vstack([rest + self._vectors[free], rest]))

    def _try(self, released: int, taken: IntArray, sums: IntArray) -> bool:
        """Make the best move if it lowers the cost; the last row of `sums` may stand for taking nothing."""
        if not len(sums):
            return False
        costs = self._cost(sums)
        best = int(np.argmin(costs))
        if costs[best] >= self.cost():
            return False
        if released >= 0:
            self._move(released, -1)
        if best < len(taken):
            self._move(int(taken[best]), 1)
        return True

    def _move(self, kind: int, step: int) -> None:
        self.chosen[kind] += step
        self._sums = self._sums + step * self._vectors[kind]

    def _cost(self, sums: IntArray) -> FloatArray:
        """Return float64[moves]. Strata are added one by one, so that every machine rounds alike."""
        cost: FloatArray = np.zeros(len(sums))
        for stratum, wished in enumerate(self._target.items.tolist()):
            cost += self._weights[stratum] * (sums[:, stratum] - wished) ** 2
        above = np.maximum(sums[:, 0] - self._target.highest, 0)
        below = np.maximum(self._target.lowest - sums[:, 0], 0)
        cost += _OUT_OF_BOUNDS * (above + below)
        return cost
