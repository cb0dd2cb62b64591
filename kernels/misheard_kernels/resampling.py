"""The bootstrap's draws and sums: the same numbers on any number of threads and on any machine.

The generator has no state. The index of draw `d` of resample `r` is a function of (seed, r, d) alone:

    key(seed, r)     = mix(mix(seed + GOLDEN) + (r + 1) * GOLDEN)
    word(seed, r, p) = mix(key(seed, r) + (p + 1) * GOLDEN)
    index(seed, r, d) = (half * units) >> 32

in arithmetic modulo 2**64, where `mix` is the finalizer of splitmix64 (Steele, Lea and Flood 2014) and `half`
is the low 32 bits of word d // 2 for even d, the high 32 bits for odd d. The multiplication gives each unit
floor or ceil of 2**32 / units of the 2**32 halves, so a unit's probability is off by at most one part in
2**32 / units: below 0.03 % for a million units, far below the bootstrap's own noise.

Sums of integer columns are exact. A sum of a fractional column adds the drawn rows in draw order, starting
from 0, which fixes it to the bit. Both implementations do the same: numpy for small inputs, so that a small
report never pays for importing numba, and compiled parallel loops (`resampling_parallel`) for large ones.

On request, where at least 2**14 units have integer columns only and few distinct rows, the samples are made
of counts per distinct row instead, from the same words in another way: see `resampling_groups`. They then
depend on the rows as well.
"""

import sys

import numpy as np
import numpy.typing as npt

from misheard_kernels.loading import compiled_pays
from misheard_kernels.resampling_groups import group_units
from misheard_kernels.resampling_packing import IntArray, PackedColumns, pack_columns, split_columns

FloatArray = npt.NDArray[np.float64]
UintArray = npt.NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
MASK_32 = 0xFFFFFFFF

MAX_UNITS = 2**24

_COMPILED = "misheard_kernels.resampling_parallel"
_CHUNK_ELEMENTS = 1 << 17


def resample_sums(totals: FloatArray, resamples: int, seed: int, *, group_alike: bool = False) -> FloatArray:
    """Return the column sums of `resamples` samples of units drawn with replacement.

    All columns of one call see the same samples. The draws depend on seed and G alone, so that columns summed
    in one call or in several see the same samples, unless `group_alike` takes effect.

    Args:
        totals: float64[G, K], the sums of each unit; 1 <= G <= 2**24.
        resamples: how many samples R of G draws each.
        seed: 0 <= seed < 2**64.
        group_alike: count how often each distinct row is drawn where that is quicker. The samples are as
            random, but depend on the rows: for columns that no other call has to agree with.

    Returns:
        float64[R, K], in resample order.
    """
    totals = np.ascontiguousarray(totals, dtype=np.float64)
    _check(totals, resamples, seed)
    columns = split_columns(totals)
    groups = group_units(columns.values) if group_alike and not columns.fractional.size else None
    if groups is not None:
        from misheard_kernels.resampling_parallel import group_sums

        return columns.join(group_sums(groups, resamples, seed), np.empty((resamples, 0)))
    packed = pack_columns(columns.values)
    if _COMPILED in sys.modules or compiled_pays(_numpy_seconds(packed, columns.fractional, resamples)):
        from misheard_kernels.resampling_parallel import unit_sums

        return columns.join(*unit_sums(packed, columns.fractional, resamples, seed))
    return columns.join(*unit_sums_numpy(packed, columns.fractional, resamples, seed))


def _numpy_seconds(packed: PackedColumns, fractional: FloatArray, resamples: int) -> float:
    """Return about how long `unit_sums_numpy` takes. Measured."""
    units, columns = fractional.shape
    nanoseconds = 4.0 + 1.5 * len(packed.words) + (20.0 + 0.5 * columns if columns else 0.0)
    return float(resamples * units * nanoseconds * 1e-9)


def unit_sums_numpy(
    packed: PackedColumns, fractional: FloatArray, resamples: int, seed: int
) -> tuple[IntArray, FloatArray]:
    """Return the sums over R samples of packed columns, int64[R, I], and of float64[G, F], float64[R, F]."""
    units, columns = fractional.shape
    whole = np.zeros((len(packed.word), resamples), dtype=np.int64)
    sums = np.zeros((resamples, columns))
    chunk = max(1, _CHUNK_ELEMENTS // max(columns, units))
    for start in range(0, resamples, chunk):
        stop = min(resamples, start + chunk)
        indices = draw_indices(units, start, stop, seed)
        for first in range(0, units, packed.block):
            drawn = indices[first : first + packed.block]
            if packed.words.size:
                words = np.stack([word[drawn].sum(axis=0) for word in packed.words])
                whole[:, start:stop] += packed.take_apart(words)
        if columns:
            for draw in range(units):
                sums[start:stop] += fractional[indices[draw]]
    return whole.T, sums


def draw_indices(units: int, start: int, stop: int, seed: int) -> npt.NDArray[np.intp]:
    """Return the drawn unit of each draw of the resamples `start` to `stop`: intp[units, stop - start]."""
    keys = _mix(_mix(_words([seed]) + _words([GOLDEN])) + _arange(start + 1, stop + 1) * _words([GOLDEN]))
    pairs = (units + 1) // 2
    words = _mix(keys[np.newaxis, :] + _arange(1, pairs + 1)[:, np.newaxis] * _words([GOLDEN]))
    halves = np.empty((2 * pairs, stop - start), dtype=np.uint64)
    halves[0::2] = words & np.uint64(MASK_32)
    halves[1::2] = words >> np.uint64(32)
    return ((halves[:units] * np.uint64(units)) >> np.uint64(32)).astype(np.intp)


def _mix(words: UintArray) -> UintArray:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(MIX_1)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(MIX_2)
    return words ^ (words >> np.uint64(31))


def _words(values: list[int]) -> UintArray:
    # arrays wrap around silently; numpy's scalars would warn
    return np.array(values, dtype=np.uint64)


def _arange(start: int, stop: int) -> UintArray:
    return np.arange(start, stop, dtype=np.uint64)


def _check(totals: FloatArray, resamples: int, seed: int) -> None:
    if totals.ndim != 2 or not 1 <= totals.shape[0] <= MAX_UNITS:
        raise ValueError(f"totals must be [units, columns] with 1 to {MAX_UNITS} units, not {totals.shape}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be in [0, 2**64), not {seed}")
