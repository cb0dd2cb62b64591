"""The bootstrap's draws and sums: the same numbers on any number of threads and on any machine.

The generator has no state. The index of draw `d` of resample `r` is a function of (seed, r, d) alone:

    key(seed, r)     = mix(mix(seed + GOLDEN) + (r + 1) * GOLDEN)
    word(seed, r, p) = mix(key(seed, r) + (p + 1) * GOLDEN)
    index(seed, r, d) = (half * units) >> 32

in arithmetic modulo 2**64, where `mix` is the finalizer of splitmix64 (Steele, Lea and Flood 2014) and `half`
is the low 32 bits of word d // 2 for even d, the high 32 bits for odd d. The multiplication gives each unit
floor or ceil of 2**32 / units of the 2**32 halves, so a unit's probability is off by at most one part in
2**32 / units: below 0.03 % for a million units, far below the bootstrap's own noise.

A sum adds the drawn rows in draw order, starting from 0. That fixes the result to the bit for fractional
columns too, and both implementations do it: numpy for small inputs, so that a small report never pays for
importing numba, and a compiled parallel loop (`resampling_parallel`) for large ones.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
UintArray = npt.NDArray[np.uint64]

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
MASK_32 = 0xFFFFFFFF

MAX_UNITS = 2**24
NUMPY_MAX_WORK = 150_000_000
"""Up to this much work numpy is quicker than importing numba and loading the compiled loop. Measured: a draw
costs about as much as eight additions."""

_CHUNK_ELEMENTS = 1 << 17


def resample_sums(totals: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Return the column sums of `resamples` samples of units drawn with replacement.

    Args:
        totals: float64[G, K], the sums of each unit; 1 <= G <= 2**24.
        resamples: how many samples R of G draws each.
        seed: 0 <= seed < 2**64. The draws depend on seed and G alone, so that columns summed in one call or
            in several see the same samples.

    Returns:
        float64[R, K], in resample order.
    """
    totals = np.ascontiguousarray(totals, dtype=np.float64)
    _check(totals, resamples, seed)
    units, columns = totals.shape
    if resamples * units * (columns + 8) <= NUMPY_MAX_WORK:
        return resample_sums_numpy(totals, resamples, seed)
    from misheard_kernels.resampling_parallel import resample_sums_parallel

    return resample_sums_parallel(totals, resamples, seed)


def resample_sums_numpy(totals: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Return what `resample_sums` returns, with numpy alone."""
    units, columns = totals.shape
    out = np.zeros((resamples, columns))
    chunk = max(1, _CHUNK_ELEMENTS // max(columns, units, 1))
    for start in range(0, resamples, chunk):
        stop = min(resamples, start + chunk)
        indices = draw_indices(units, start, stop, seed)
        for draw in range(units):
            out[start:stop] += totals[indices[draw]]
    return out


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
