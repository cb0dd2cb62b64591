"""Edit counts and distances of many pairs of token sequences.

Among the alignments with the fewest errors E, the canonical counts are those with the fewest substitutions S.
With m reference and n hypothesis tokens, D + I = E - S and D - I = m - n give the other two, and
hits = m - S - D. `misheard_kernels.conventions` has the other ways to count.

Several implementations give the same counts: without numba for small inputs, so that scoring a demo never
pays for importing and compiling it (`edit_distance_numpy`, `small_inputs`), and compiled loops (`batches`)
for large ones; `misheard_kernels.loading` decides.
"""

import numpy as np

from misheard_kernels.arrays import IntArray, TokenArray, checked_pairs, split
from misheard_kernels.conventions import check_convention
from misheard_kernels.edit_distance_numpy import edit_counts_numpy, estimated_cells
from misheard_kernels.loading import compiled_loaded, compiled_pays
from misheard_kernels.small_inputs import count_edits

_NUMPY_SECONDS = 1.2e-8
"""What the numpy path takes for a cell."""

_TOKEN_SECONDS = 1.3e-6
_BIT_SECONDS = 2e-9
_SCLITE_SECONDS = 1.2e-7
"""What Python takes for a token, for a cell as a bit, and for a cell at sclite's costs."""

_PYTHON_MAX_CELLS = 4_000_000
"""rapidfuzz divides longer pairs, which only the compiled kernels do."""


def edit_counts(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    *,
    costs: str = "unit",
    ties: str = "canonical",
    threads: int | None = None,
) -> IntArray:
    """Return substitutions, deletions, insertions and hits of each (reference, hypothesis) pair: int64[n, 4].

    Args:
        ref_flat: int32, the tokens of all references, one after the other. Tokens are compared for equality
            only.
        ref_offsets: int64[n + 1], ascending; reference i is `ref_flat[ref_offsets[i]:ref_offsets[i + 1]]`.
        hyp_flat: as `ref_flat`, for the hypotheses.
        hyp_offsets: as `ref_offsets`, for the hypotheses.
        costs: `unit`, or `sclite` for a substitution of 4 and a deletion or insertion of 3.
        ties: `canonical`, or, at unit costs, `jiwer` or `rapidfuzz`; see `misheard_kernels.conventions`.
        threads: threads of the compiled path; every processor available where None. The counts do not
            depend on it.

    Raises:
        TypeError: an array of another kind than integers.
        ValueError: offsets that are no offsets of their array, or that describe different numbers of pairs;
        an
            unknown convention.
    """
    convention = check_convention(costs, ties)
    pairs = checked_pairs(ref_flat, ref_offsets, hyp_flat, hyp_offsets, threads)
    ref, ref_ends, hyp, hyp_ends = pairs
    if convention == "canonical":
        if _numpy_suffices(ref_ends, hyp_ends):
            return edit_counts_numpy(*pairs)
    elif is_small(ref_ends, hyp_ends, costs):
        texts = zip(split(ref, ref_ends), split(hyp, hyp_ends), strict=True)
        rows = [count_edits(reference, hypothesis, costs=costs, ties=ties) for reference, hypothesis in texts]
        return np.array(rows, np.int64).reshape(-1, 4)
    from misheard_kernels.batches import count_batch

    return count_batch(*pairs, convention, threads)


def edit_distance_batch(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    *,
    threads: int | None = None,
) -> IntArray:
    """Return the Levenshtein distance of each pair: int64[n]. Arguments and errors as `edit_counts`."""
    pairs = checked_pairs(ref_flat, ref_offsets, hyp_flat, hyp_offsets, threads)
    if _numpy_suffices(pairs[1], pairs[3]):
        distances: IntArray = edit_counts_numpy(*pairs)[:, :3].sum(axis=1)
        return distances
    from misheard_kernels.batches import distance_batch

    return distance_batch(*pairs, threads)


def _numpy_suffices(ref_offsets: IntArray, hyp_offsets: IntArray) -> bool:
    if compiled_loaded():
        return False
    cells = estimated_cells(np.diff(ref_offsets), np.diff(hyp_offsets))
    return not compiled_pays(_NUMPY_SECONDS * cells)


def is_small(ref_offsets: IntArray, hyp_offsets: IntArray, costs: str) -> bool:
    """Return whether to leave the compiled kernels alone and use `misheard_kernels.small_inputs`."""
    cells = np.diff(ref_offsets) * np.diff(hyp_offsets)
    if cells.max(initial=0) > _PYTHON_MAX_CELLS:
        return False
    tokens = ref_offsets[-1] - ref_offsets[0] + hyp_offsets[-1] - hyp_offsets[0]
    seconds = tokens * _TOKEN_SECONDS + cells.sum() * (_SCLITE_SECONDS if costs == "sclite" else _BIT_SECONDS)
    return not compiled_pays(float(seconds))
