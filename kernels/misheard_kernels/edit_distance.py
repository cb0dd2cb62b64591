"""Canonical edit counts of many pairs of token sequences.

The distance is unit-cost Levenshtein. Among the alignments with the fewest edits E, the canonical counts are
those with the fewest substitutions S. Both are found by minimising the single integer `E << 32 | S`: a match
adds nothing, a substitution 2**32 + 1, a deletion or insertion 2**32. With m reference and n hypothesis
tokens, D + I = E - S and D - I = m - n give the other two without a traceback, and hits = m - S - D.

Two implementations give the same counts: numpy alone for small inputs, so that scoring a demo never pays for
importing and compiling numba, and compiled loops (`edit_distance_parallel`) for large ones.
"""

import numpy as np
import numpy.typing as npt

from misheard_kernels.edit_distance_numpy import edit_counts_numpy, estimated_cells

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]

NUMPY_MAX_CELLS = 40_000_000
"""Up to this much estimated work numpy is quicker than importing numba and loading the compiled loops."""


def edit_counts(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    *,
    threads: int | None = None,
) -> IntArray:
    """Return substitutions, deletions, insertions and hits of each (reference, hypothesis) pair: int64[n, 4].

    Args:
        ref_flat: int32, the tokens of all references, one after the other. Tokens are compared for equality
            only.
        ref_offsets: int64[n + 1], ascending; reference i is `ref_flat[ref_offsets[i]:ref_offsets[i + 1]]`.
        hyp_flat: as `ref_flat`, for the hypotheses.
        hyp_offsets: as `ref_offsets`, for the hypotheses.
        threads: threads of the compiled path; every processor available where None. The counts do not
            depend on it.

    Raises:
        TypeError: an array of another kind than integers.
        ValueError: offsets that are no offsets of their array, or that describe different numbers of pairs.
    """
    ref = _flat("ref_flat", ref_flat)
    hyp = _flat("hyp_flat", hyp_flat)
    ref_ends = _offsets("ref_offsets", ref_offsets, len(ref))
    hyp_ends = _offsets("hyp_offsets", hyp_offsets, len(hyp))
    if len(ref_ends) != len(hyp_ends):
        raise ValueError(f"{len(ref_ends) - 1} references but {len(hyp_ends) - 1} hypotheses")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if estimated_cells(np.diff(ref_ends), np.diff(hyp_ends)) <= NUMPY_MAX_CELLS:
        return edit_counts_numpy(ref, ref_ends, hyp, hyp_ends)
    from misheard_kernels.edit_distance_parallel import edit_counts_parallel

    return edit_counts_parallel(ref, ref_ends, hyp, hyp_ends, threads)


def _flat(name: str, array: TokenArray) -> TokenArray:
    if array.ndim != 1 or array.dtype != np.int32:
        raise TypeError(f"{name} must be a one-dimensional int32 array, not {array.dtype}{list(array.shape)}")
    return np.ascontiguousarray(array)


def _offsets(name: str, array: IntArray, tokens: int) -> IntArray:
    if array.ndim != 1 or array.dtype != np.int64:
        raise TypeError(f"{name} must be a one-dimensional int64 array, not {array.dtype}{list(array.shape)}")
    if len(array) == 0 or array[0] < 0 or array[-1] > tokens or np.any(np.diff(array) < 0):
        raise ValueError(f"{name} must ascend from at least 0 to at most {tokens}, the number of tokens")
    return np.ascontiguousarray(array)
