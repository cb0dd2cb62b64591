"""Integer columns side by side in 64-bit words, so that one addition serves several columns.

A field of a word is wide enough for the sum of `block` rows; sums are taken apart after that many. Integers
add up exactly, so that packing changes no result.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]

MAX_INTEGER = 2.0**29
"""Sums of 2**24 such integers are exact in float64."""

WORD_BITS = 64
MAX_BLOCK_BITS = 11
_SMALLEST_BLOCK_BITS = 3
_TAKING_APART = 3
"""What taking one field out of a sum costs, in additions of a word. Measured."""


@dataclass(frozen=True, slots=True)
class PackedColumns:
    """K integer columns of G units in W words each.

    Attributes:
        words: uint64[W, G].
        word: int64[K], the word that holds each column.
        shift: uint64[K], how far up its field begins.
        mask: uint64[K], the field's width as ones.
        block: how many rows may be added up before the sums are taken apart; even.
    """

    words: WordArray
    word: IntArray
    shift: WordArray
    mask: WordArray
    block: int

    def take_apart(self, sums: WordArray) -> IntArray:
        """Return the column sums that sums of up to `block` words stand for: [W, ...] to int64[K, ...]."""
        wide = (len(self.word),) + (1,) * (sums.ndim - 1)
        return ((sums[self.word] >> self.shift.reshape(wide)) & self.mask.reshape(wide)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SplitColumns:
    """Unit totals, integer columns apart from fractional ones.

    Attributes:
        whole: bool[K], which columns hold nothing but integers of at most MAX_INTEGER.
        minimum: int64[I], of each integer column.
        values: int64[G, I], the integer columns less their minima.
        fractional: float64[G, K - I], C-contiguous.
    """

    whole: npt.NDArray[np.bool_]
    minimum: IntArray
    values: IntArray
    fractional: FloatArray

    def join(self, whole: IntArray, fractional: FloatArray) -> FloatArray:
        """Return sums of G rows, float64[R, K], from int64[R, I] of `values` and float64[R, K - I].

        `whole` is written over: new memory for many sums costs more than adding to them.
        """
        whole += len(self.values) * self.minimum
        if self.whole.all():
            return whole.astype(np.float64)
        out = np.empty((len(whole), len(self.whole)))
        out[:, self.whole] = whole
        out[:, ~self.whole] = fractional
        return out


def split_columns(totals: FloatArray) -> SplitColumns:
    """Split the columns of float64[G, K]."""
    small = np.abs(totals).max(axis=0) <= MAX_INTEGER  # NaN is not
    whole = small & (totals == np.rint(totals)).all(axis=0)
    integers = totals[:, whole].astype(np.int64)
    minimum = integers.min(axis=0)
    return SplitColumns(whole, minimum, integers - minimum, np.ascontiguousarray(totals[:, ~whole]))


def value_bits(values: IntArray) -> list[int]:
    """Return how many bits each column of non-negative int64[G, K] needs, at least 1."""
    return [max(1, int(largest).bit_length()) for largest in values.max(axis=0)]


def pack_columns(values: IntArray) -> PackedColumns:
    """Pack the columns of non-negative int64[G, K], at most 2 * MAX_INTEGER; K may be 0."""
    bits = value_bits(values)
    spare = min(
        range(_SMALLEST_BLOCK_BITS, MAX_BLOCK_BITS + 1), key=lambda spare: (_cost(bits, spare), -spare)
    )
    places = _places(bits, spare)
    words = np.zeros((places[-1][0] + 1 if places else 0, len(values)), dtype=np.uint64)
    for column, (word, shift) in enumerate(places):
        words[word] |= values[:, column].astype(np.uint64) << np.uint64(shift)
    return PackedColumns(
        words=words,
        word=np.array([word for word, _ in places], dtype=np.int64),
        shift=np.array([shift for _, shift in places], dtype=np.uint64),
        mask=np.array([(1 << width + spare) - 1 for width in bits], dtype=np.uint64),
        block=1 << spare,
    )


def _places(bits: list[int], spare: int) -> list[tuple[int, int]]:
    """Return the word and the shift of each column's field, filling one word after the other."""
    places = []
    word = used = 0
    for width in bits:
        if used + width + spare > WORD_BITS:
            word, used = word + 1, 0
        places.append((word, used))
        used += width + spare
    return places


def _cost(bits: list[int], spare: int) -> float:
    words = _places(bits, spare)[-1][0] + 1 if bits else 0
    return words + _TAKING_APART * len(bits) / (1 << spare)
