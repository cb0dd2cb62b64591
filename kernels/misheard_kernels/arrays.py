"""Checks of the arrays that the batch functions take."""

import itertools
from typing import Any, cast

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]


def checked_pairs(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    threads: int | None,
) -> tuple[TokenArray, IntArray, TokenArray, IntArray]:
    """Return contiguous arrays of n pairs. Raises what `misheard_kernels.edit_counts` raises."""
    ref, hyp = _flat("ref_flat", ref_flat), _flat("hyp_flat", hyp_flat)
    ref_ends = _offsets("ref_offsets", ref_offsets, len(ref))
    hyp_ends = _offsets("hyp_offsets", hyp_offsets, len(hyp))
    if len(ref_ends) != len(hyp_ends):
        raise ValueError(f"{len(ref_ends) - 1} references but {len(hyp_ends) - 1} hypotheses")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return ref, ref_ends, hyp, hyp_ends


def split(flat: TokenArray, offsets: IntArray) -> list[list[int]]:
    """Return the sequences as lists."""
    tokens = cast(list[int], flat.tolist())
    ends = offsets.tolist()
    return [tokens[start:stop] for start, stop in itertools.pairwise(ends)]


def _flat(name: str, array: TokenArray) -> TokenArray:
    if array.ndim != 1 or array.dtype != np.int32:
        raise TypeError(f"{name} must be a one-dimensional int32 array, not {array.dtype}{list(array.shape)}")
    return np.ascontiguousarray(array)


def _offsets(name: str, array: npt.NDArray[Any], tokens: int) -> IntArray:
    if array.ndim != 1 or array.dtype != np.int64:
        raise TypeError(f"{name} must be a one-dimensional int64 array, not {array.dtype}{list(array.shape)}")
    if len(array) == 0 or array[0] < 0 or array[-1] > tokens or np.any(np.diff(array) < 0):
        raise ValueError(f"{name} must ascend from at least 0 to at most {tokens}, the number of tokens")
    return np.ascontiguousarray(array)
