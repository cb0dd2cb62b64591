"""Alignments of token sequences: which reference token stands against which hypothesis token.

`misheard_kernels.conventions` says which alignment is taken. Memory grows with the length of a pair, not with
the
product of both lengths: a pair of 20,000 tokens each needs less than 100 MB. Small inputs do without numba.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard_kernels.arrays import IntArray, TokenArray, checked_pairs, split
from misheard_kernels.conventions import (
    DELETION,
    INSERTION,
    MATCH,
    SUBSTITUTION,
    check_convention,
)
from misheard_kernels.edit_distance import is_small
from misheard_kernels.small_inputs import edit_operations

__all__ = [
    "DELETION",
    "INSERTION",
    "MATCH",
    "SUBSTITUTION",
    "AlignedPairs",
    "Alignment",
    "align",
    "align_pairs",
]

Operations = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Alignment:
    """One pair, step by step.

    Attributes:
        operations: int8[L]: MATCH, SUBSTITUTION, DELETION or INSERTION.
        reference_index: int32[L], position of the reference token, -1 for an insertion.
        hypothesis_index: int32[L], position of the hypothesis token, -1 for a deletion.
    """

    operations: Operations
    reference_index: TokenArray
    hypothesis_index: TokenArray

    def counts(self) -> tuple[int, int, int, int]:
        """Return substitutions, deletions, insertions and hits."""
        hits, substitutions, deletions, insertions = np.bincount(self.operations, minlength=4).tolist()
        return substitutions, deletions, insertions, hits


@dataclass(frozen=True, slots=True)
class AlignedPairs:
    """n pairs.

    Attributes:
        operations: int8, the operations of all pairs, one after the other.
        offsets: int64[n + 1]; pair i has `operations[offsets[i]:offsets[i + 1]]`.
    """

    operations: Operations
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pair(self, index: int) -> Alignment:
        """Return the alignment of one pair. Raises IndexError where there is no such pair."""
        if not 0 <= index < len(self):
            raise IndexError(f"pair {index} of {len(self)}")
        return _alignment(self.operations[self.offsets[index] : self.offsets[index + 1]])


def align(
    reference: TokenArray, hypothesis: TokenArray, *, costs: str = "unit", ties: str = "canonical"
) -> Alignment:
    """Return the alignment of one pair of int32 arrays.

    `costs` and `ties` are those of `misheard_kernels.edit_counts`, whose counts the alignment has. Raises
    what that raises.
    """
    ends = [np.array([0, len(side)], np.int64) for side in (reference, hypothesis)]
    return align_pairs(reference, ends[0], hypothesis, ends[1], costs=costs, ties=ties).pair(0)


def align_pairs(
    ref_flat: TokenArray,
    ref_offsets: IntArray,
    hyp_flat: TokenArray,
    hyp_offsets: IntArray,
    *,
    costs: str = "unit",
    ties: str = "canonical",
    threads: int | None = None,
) -> AlignedPairs:
    """Return the alignments of many pairs; arguments and errors are those of `edit_counts`."""
    convention = check_convention(costs, ties)
    pairs = checked_pairs(ref_flat, ref_offsets, hyp_flat, hyp_offsets, threads)
    ref, ref_ends, hyp, hyp_ends = pairs
    if is_small(ref_ends, hyp_ends, costs):
        texts = zip(split(ref, ref_ends), split(hyp, hyp_ends), strict=True)
        paths = [
            edit_operations(reference, hypothesis, costs=costs, ties=ties) for reference, hypothesis in texts
        ]
        operations = np.frombuffer(b"".join(paths), np.int8)
        lengths = np.fromiter(map(len, paths), np.int64, len(paths))
    else:
        from misheard_kernels.batches import align_batch

        operations, lengths = align_batch(*pairs, convention, threads)[1:]
    offsets = np.zeros(len(ref_ends), np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return AlignedPairs(operations, offsets)


def _alignment(operations: Operations) -> Alignment:
    return Alignment(operations, _index(operations != INSERTION), _index(operations != DELETION))


def _index(present: npt.NDArray[np.bool_]) -> TokenArray:
    index = np.cumsum(present, dtype=np.int32) - np.int32(1)
    index[~present] = -1
    return index
