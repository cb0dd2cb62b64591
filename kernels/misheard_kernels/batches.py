"""Many pairs on several threads; importing it imports numba.

Threads are Python's, which the compiled code leaves running; numba's own parallel loops would bring a
threading layer that neither survives a fork nor, without OpenMP or TBB, two callers at once. Every pair is
worked out alone, so that results do not depend on the number of threads.
"""

import itertools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from misheard_kernels import bit_parallel
from misheard_kernels.bit_parallel import IntArray, Operations, TokenArray
from misheard_kernels.conventions import SUBSTITUTION
from misheard_kernels.edit_distance_numpy import unpack

_SHARES_PER_THREAD = 4
_LEAST_SHARE = 4_000_000
_LEAST_SCLITE_SHARE = 200_000
"""Cells for which another thread is not worth starting."""

_IN_LANES = (bit_parallel.DISTANCE, bit_parallel.CANONICAL)
_LANES_CELLS = 250_000_000
"""Cells, long pairs aside, from which `misheard_kernels.lanes` saves the 10 ms that loading it takes."""

_LANES_PAIRS = 1024
"""Pairs of which those of similar lengths go together; so few that their tokens stay in cache meanwhile."""

_cells_so_far = 0

_MOST_NUMBERS = 1 << 21
"""Tokens that may index a table directly; code points are fewer."""


def count_batch(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    convention: str = "canonical",
    threads: int | None = None,
) -> IntArray:
    """Return what `misheard_kernels.edit_counts` returns, for arrays that it has checked."""
    what = bit_parallel.CANONICAL
    if convention != "canonical":
        packed = align_batch(ref_flat, ref_offsets, hyp_flat, hyp_offsets, convention, threads)[0]
    else:
        packed, _ = _run(ref_flat, ref_offsets, hyp_flat, hyp_offsets, what, threads)
    return unpack(packed, np.diff(ref_offsets), np.diff(hyp_offsets))


def distance_batch(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    threads: int | None = None,
) -> IntArray:
    """Return what `misheard_kernels.edit_distance_batch` returns, for arrays that it has checked."""
    return _run(ref_flat, ref_offsets, hyp_flat, hyp_offsets, bit_parallel.DISTANCE, threads)[0] >> 32


def align_batch(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    convention: str,
    threads: int | None = None,
) -> tuple[IntArray, Operations, IntArray]:
    """Return `errors << 32 | substitutions` of each pair, all operations, and how many each pair has."""
    slots = _slots(ref_offsets, hyp_offsets)
    if convention == "sclite":
        from misheard_kernels.weighted import align_range

        operations = np.full(slots[-1], -1, np.int8)
        packed = np.empty(len(ref_offsets) - 1, np.int64)

        def fill(start: int, stop: int) -> None:
            align_range(ref_flat, ref_offsets, hyp_flat, hyp_offsets, start, stop, packed, slots, operations)

        _share_out(fill, ref_offsets, hyp_offsets, threads, _LEAST_SCLITE_SHARE)
    else:
        what = bit_parallel.CANONICAL_PATH if convention == "canonical" else bit_parallel.RAPIDFUZZ_PATH
        packed, operations = _run(ref_flat, ref_offsets, hyp_flat, hyp_offsets, what, threads)
    written = operations >= 0
    ends = np.append(0, np.cumsum(written))[slots]
    return packed, operations[written], np.diff(ends)


def _run(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    what: int,
    threads: int | None,
) -> tuple[IntArray, Operations]:
    slots = _slots(ref_offsets, hyp_offsets)
    operations = np.full(slots[-1] if what >= bit_parallel.CANONICAL_PATH else 0, -1, np.int8)
    packed = np.full(len(ref_offsets) - 1, bit_parallel.OPEN, np.int64)

    numbers = _numbers(ref_flat, hyp_flat)
    symbols = numbers or 1 + int(np.diff(ref_offsets).max(initial=0))
    side_by_side = numbers > 0 and what in _IN_LANES and _lanes_pay(ref_offsets, hyp_offsets)

    def fill(start: int, stop: int) -> None:
        # numpy's zeros take no memory until they are touched
        masks = np.zeros((symbols, 2), np.uint64)
        if side_by_side:
            from misheard_kernels.lanes import count_range

            for first in range(start, stop, _LANES_PAIRS):
                count_range(
                    ref_flat, ref_offsets, hyp_flat, hyp_offsets, first, min(first + _LANES_PAIRS, stop),
                    what == bit_parallel.CANONICAL, masks, packed,
                )  # fmt: skip
        bit_parallel.align_range(
            ref_flat, ref_offsets, hyp_flat, hyp_offsets, start, stop, what, masks, numbers > 0, packed,
            slots, operations,
        )  # fmt: skip
        for pair in start + np.flatnonzero(packed[start:stop] == bit_parallel.TOO_LONG):
            ref = ref_flat[ref_offsets[pair] : ref_offsets[pair + 1]]
            hyp = hyp_flat[hyp_offsets[pair] : hyp_offsets[pair + 1]]
            packed[pair] = _long(ref, hyp, what, operations[slots[pair] : slots[pair + 1]])

    _share_out(fill, ref_offsets, hyp_offsets, threads, _LEAST_SHARE)
    return packed, operations


def _lanes_pay(ref_offsets: IntArray, hyp_offsets: IntArray) -> bool:
    """Return whether to count pairs side by side, which changes no number."""
    global _cells_so_far
    if "misheard_kernels.lanes" in sys.modules:
        return True
    cells = np.diff(ref_offsets) * np.diff(hyp_offsets)
    _cells_so_far += int(cells[cells <= bit_parallel.LONG_PAIR].sum())
    return _cells_so_far > _LANES_CELLS


def _long(ref: TokenArray, hyp: TokenArray, what: int, slot: Operations) -> int:
    from misheard_kernels import long_pairs

    if what == bit_parallel.DISTANCE:
        return long_pairs.long_distance(ref, hyp) << 32
    if what == bit_parallel.CANONICAL:
        errors, substitutions = long_pairs.long_counts(ref, hyp)
        return errors << 32 | substitutions
    find = long_pairs.long_path if what == bit_parallel.CANONICAL_PATH else long_pairs.rapidfuzz_path
    path = find(ref, hyp)
    slot[: len(path)] = path
    slot[len(path) :] = -1
    return int(np.count_nonzero(path)) << 32 | int(np.count_nonzero(path == SUBSTITUTION))


def _numbers(ref_flat: TokenArray, hyp_flat: TokenArray) -> int:
    """Return one more than the largest token where all are small numbers from 0, else 0."""
    # negative numbers are large ones without a sign
    largest = max(int(flat.view(np.uint32).max(initial=0)) for flat in (ref_flat, hyp_flat))
    return largest + 1 if largest < _MOST_NUMBERS else 0


def _slots(ref_offsets: IntArray, hyp_offsets: IntArray) -> IntArray:
    slots = np.zeros(len(ref_offsets), np.int64)
    np.cumsum(np.diff(ref_offsets) + np.diff(hyp_offsets), out=slots[1:])
    return slots


def _share_out(
    fill: Callable[[int, int], None],
    ref_offsets: IntArray,
    hyp_offsets: IntArray,
    threads: int | None,
    least: int,
) -> None:
    """Call `fill` for ranges of pairs of about the same number of cells that together are all pairs."""
    workers = threads or available_processors()
    cells = np.diff(ref_offsets).astype(np.float64) * np.diff(hyp_offsets) + 1.0
    work = np.cumsum(np.append(0.0, cells))
    workers = max(1, min(workers, int(work[-1] // least)))
    if workers == 1:
        fill(0, len(cells))
        return
    cuts = np.searchsorted(work, np.linspace(0.0, work[-1], workers * _SHARES_PER_THREAD + 1)[1:-1])
    edges = [0, *cuts.tolist(), len(cells)]
    shares = [(start, stop) for start, stop in itertools.pairwise(edges) if start < stop]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda share: fill(*share), shares))


def available_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
