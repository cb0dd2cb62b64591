"""The sign-flip test: which differences chance alone makes when nobody knows which system is which.

The null says that the two systems may be swapped unit by unit without anything changing. For rates with one
denominator on both sides, swapping a unit flips the sign of its difference.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import FloatArray
from misheard.stats.rounding import settle

SAMPLES = 10_000
MAX_EXACT_UNITS = 14
"""Up to this many units that differ, every assignment is tried: 2**13, for swapping all of them changes
nothing."""

MAX_BLOCKS = 256
"""More units than this are swapped in so many blocks, which the null allows too; next to no power is lost."""

_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

_TIE = 1e-9
"""Differences within this share of the observed one count as equal to it: fractions may round differently."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """What the test says.

    Attributes:
        p: share of assignments with a difference of at least the observed size, two-sided. Where assignments
            are sampled the observed one counts among them, so that p is never 0.
        exact: whether every assignment was tried.
        assignments: how many were.
        undefined: assignments in which a rate was undefined; they count as at least as large.
    """

    p: float
    exact: bool
    assignments: int
    undefined: int


@dataclass(frozen=True, slots=True)
class Swaps:
    """Sums of both systems under every tried assignment, shared by all rates made from them.

    Attributes:
        a, b: float64[R, K]; the first row is as observed.
        exact: whether the R assignments are all there are.
    """

    a: FloatArray
    b: FloatArray
    exact: bool


def sign_flip(
    a: FloatArray,
    b: FloatArray,
    rate: Callable[[FloatArray], FloatArray],
    *,
    seed: int,
    samples: int = SAMPLES,
) -> SignFlip | None:
    """Test whether rate(B) and rate(A) differ; None where the observed difference is undefined.

    Args:
        a: float64[G, K], the unit totals of system A.
        b: float64[G, K], those of system B, unit by unit.
        rate: from sums, [..., K], to rates, [...].
        seed: of the sampled assignments.
        samples: how many assignments are sampled where there are too many to try all.
    """
    return swap_test(swap_units(a, b, seed=seed, samples=samples), rate)


def swap_units(a: FloatArray, b: FloatArray, *, seed: int, samples: int = SAMPLES) -> Swaps:
    """Return the sums of both systems under every assignment, or under sampled ones and the observed one.

    Sums are exact in fixed point, 52 bits a column, so that no number of threads changes them.
    """
    differences = _as_blocks((b - a)[(a != b).any(axis=1)])
    total = _exact_product(np.ones((1, 2 * len(a))), np.concatenate([a, b]))
    units = len(differences)
    exact = units <= MAX_EXACT_UNITS
    signs = _all_signs(units) if exact else _drawn_signs(units, seed, samples)
    moved = _exact_product(signs, differences)
    return Swaps((total - moved) / 2.0, (total + moved) / 2.0, exact)


def swap_test(swaps: Swaps, rate: Callable[[FloatArray], FloatArray]) -> SignFlip | None:
    """Return the test of one rate; see `sign_flip`."""
    a = rate(swaps.a)
    sizes = np.abs(settle(rate(swaps.b), a) - a)
    observed = sizes[0]
    if not np.isfinite(observed):
        return None
    undefined = int(np.count_nonzero(~np.isfinite(sizes)))
    extreme = int(np.count_nonzero(sizes >= observed * (1.0 - _TIE))) + undefined
    return SignFlip(extreme / sizes.size, swaps.exact, sizes.size, undefined)


def _as_blocks(differences: FloatArray) -> FloatArray:
    if len(differences) <= MAX_BLOCKS:
        return differences
    rest = -len(differences) % MAX_BLOCKS
    padded = np.pad(differences, ((0, rest), (0, 0)))
    blocks: FloatArray = np.add.reduce(padded.reshape(-1, MAX_BLOCKS, differences.shape[1]), axis=0)
    return blocks


def _all_signs(units: int) -> FloatArray:
    """Return every assignment that keeps the last unit, the observed one first: float64[R, G]."""
    numbers = np.arange(2 ** max(units - 1, 0))[:, np.newaxis]
    signs: FloatArray = 1.0 - 2.0 * ((numbers >> np.arange(units)) & 1).astype(np.float64)
    return signs


@lru_cache(maxsize=4)
def _drawn_signs(units: int, seed: int, samples: int) -> FloatArray:
    """Return the observed assignment and then fair random ones: float64[1 + samples, G].

    The generator has no state: sample r takes its signs from the bits of words r * W to (r + 1) * W - 1 of
    splitmix64 (Steele, Lea and Flood 2014), W = ceil(G / 64), lowest bit first.
    """
    words = -(-units // 64)
    numbers = np.arange(1, samples * words + 1, dtype=np.uint64)
    drawn = _mix(numbers * np.uint64(_GOLDEN) + _mix(np.array([seed], dtype=np.uint64)))
    octets = drawn.astype("<u8").view(np.uint8).reshape(samples, 8 * words)
    bits = np.unpackbits(octets, axis=1, count=units, bitorder="little")
    signs = np.concatenate([np.ones((1, units)), 1.0 - 2.0 * bits])
    signs.flags.writeable = False
    return signs


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_MIX_1)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_MIX_2)
    return words ^ (words >> np.uint64(31))


def _exact_product(signs: FloatArray, differences: FloatArray) -> FloatArray:
    """Return signs @ differences, float64[R, K], exactly for values rounded to multiples of a power of two.

    No partial sum of a column's multiples passes 2**53, so that every order of adding them gives the same.
    """
    largest = np.abs(differences).sum(axis=0)
    _, exponents = np.frexp(np.where(largest > 0, largest, 1.0))
    shifts = 52 - exponents
    whole = np.rint(np.ldexp(differences, shifts))
    moved: FloatArray = np.ldexp(signs @ whole, -shifts)
    return moved
