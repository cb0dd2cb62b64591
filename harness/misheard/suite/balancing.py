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
_MOST_STARTS, _LEAST_STARTS, _UNITS_TO_LOOK_AT = 16, 1, 20_000
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
        key=lambda search: search.cost,
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
    """How many units of each kind are chosen; units with equal counts are of one kind.

    The last kind is of no items, and there is always another unit of it: taking one is taking nothing.
    """

    def __init__(self, vectors: IntArray, available: IntArray, target: Target) -> None:
        kinds, strata = vectors.shape
        self._nothing = kinds
        self._counts: FloatArray = np.zeros((strata, kinds + 1))
        self._counts[:, :kinds] = vectors.T
        self._left = np.append(available, np.iinfo(np.int64).max)
        self.chosen = np.zeros(kinds + 1, dtype=np.int64)
        self._wished = target.items[:, None]
        self._weights = 1.0 / np.maximum(self._wished, 0.5)
        self._lowest, self._highest = target.lowest, target.highest
        self._sums: FloatArray = np.zeros((strata, 1))
        self.cost = float(self._costs(self._sums)[0])

    def fill(self, kinds: IntArray) -> None:
        """Take units in order while that brings the number of items nearer to its target."""
        wished, items = float(self._wished[0, 0]), 0.0
        for kind, size in zip(kinds.tolist(), self._counts[0, kinds].tolist(), strict=True):
            if abs(items + size - wished) < abs(items - wished) and items + size <= self._highest:
                items += size
                self._move(kind, 1)
        self.cost = float(self._costs(self._sums)[0])

    def improve(self, order: Sequence[int]) -> None:
        """Move units while that lowers the cost, kind by kind in the order given."""
        for _ in range(_MAX_SWEEPS):
            if not sum(self._exchange(kind) for kind in (self._nothing, *order)):
                return

    def _exchange(self, released: int) -> bool:
        """Exchange a unit of a kind for the best of any, if that lowers the cost."""
        if released != self._nothing and not self.chosen[released]:
            return False
        costs = self._costs(self._sums - self._counts[:, released, None] + self._counts)
        costs[self._left == 0] = np.inf
        best = int(np.argmin(costs))
        if costs[best] >= self.cost:
            return False
        self._move(released, -1)
        self._move(best, 1)
        self.cost = float(costs[best])
        return True

    def _move(self, kind: int, step: int) -> None:
        if kind != self._nothing:
            self.chosen[kind] += step
            self._left[kind] -= step
            self._sums = self._sums + step * self._counts[:, kind, None]

    def _costs(self, sums: FloatArray) -> FloatArray:
        """Return float64[moves] of sums[strata, moves]; strata are added in order, so that machines agree."""
        costs: FloatArray = np.add.reduce(self._weights * (sums - self._wished) ** 2, axis=0)
        above = np.maximum(sums[0] - self._highest, 0)
        below = np.maximum(self._lowest - sums[0], 0)
        costs += _OUT_OF_BOUNDS * (above + below)
        return costs
