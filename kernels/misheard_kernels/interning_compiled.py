"""Words of many texts as numbers, found in one pass over their code points; importing it imports numba.

White space is what `str.isspace` says. A word is looked up by a hash in an open-addressing table, which only
picks the slot: words are compared code point by code point.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint64

from misheard_kernels.compilation import compiled, internal

CodePoints = npt.NDArray[np.uint32]
IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]

_FIRST_CAPACITY = 1 << 15

_TEXT = types.Array(types.uint32, 1, "C", readonly=True)
_BOUNDS = types.Array(types.int64, 1, "C", readonly=True)
_WORDS = types.int64[:, ::1]


@internal
def _is_space(code: int) -> Any:
    if code < 0x85:
        return code == 0x20 or 0x09 <= code <= 0x0D or 0x1C <= code <= 0x1F
    if code < 0x1680:
        return code == 0x85 or code == 0xA0
    return (
        code == 0x1680
        or 0x2000 <= code <= 0x200A
        or code == 0x2028
        or code == 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x3000
    )


@internal
def _slot_of(text: CodePoints, start: int, length: int, key: int, words: IntArray, slots: TokenArray) -> Any:
    """Return the slot of a word, or the empty one that it would take."""
    mask = len(slots) - 1
    slot = int64(uint64(key) >> uint64(20)) & mask
    while slots[slot] >= 0:
        word = slots[slot]
        if words[word, 2] == key and words[word, 1] == length:
            other, same = words[word, 0], 0
            while same < length and text[other + same] == text[start + same]:
                same += 1
            if same == length:
                return slot
        slot = (slot + 1) & mask
    return slot


@internal
def _grown(words: IntArray, count: int) -> Any:
    """Return room for twice as many words, and their table."""
    more = np.empty((2 * len(words), 3), np.int64)
    more[:count] = words[:count]
    slots = np.full(4 * len(words), -1, np.int32)
    mask = len(slots) - 1
    for word in range(count):
        slot = int64(uint64(more[word, 2]) >> uint64(20)) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
    return more, slots


@compiled(_WORDS(_TEXT, _BOUNDS, int64, int64, types.int32[::1], types.int64[::1]))
def intern_range(
    text: CodePoints, bounds: IntArray, first: int, last: int, ids: TokenArray, counts: IntArray
) -> Any:
    """Give numbers to the words of the texts from `first` to `last`, in the order of first occurrence.

    Text k is `text[bounds[k]:bounds[k + 1]]`; its number of words goes to `counts[k]`. The numbers of all
    words, one text after the other, go to `ids`. Returns start, length and hash of each distinct word:
    int64[V, 3].
    """
    words = np.empty((_FIRST_CAPACITY // 2, 3), np.int64)
    slots = np.full(_FIRST_CAPACITY, -1, np.int32)
    distinct, written = 0, 0
    for k in range(first, last):
        at, stop = bounds[k], bounds[k + 1]
        before = written
        while at < stop:
            if _is_space(text[at]):
                at += 1
                continue
            start = at
            mixed = uint64(0)
            while at < stop and not _is_space(text[at]):
                mixed = (mixed ^ uint64(text[at])) * uint64(0x9E3779B97F4A7C15)
                at += 1
            key, length = int64(mixed ^ (mixed >> uint64(32))), at - start
            slot = _slot_of(text, start, length, key, words, slots)
            if slots[slot] < 0:
                slots[slot] = distinct
                words[distinct, 0] = start
                words[distinct, 1] = length
                words[distinct, 2] = key
                distinct += 1
                ids[written] = distinct - 1
                if distinct == len(words):
                    words, slots = _grown(words, distinct)
            else:
                ids[written] = slots[slot]
            written += 1
        counts[k] = written - before
    return words[:distinct].copy()


@compiled(types.int32[::1](_TEXT, _WORDS))
def merge_words(text: CodePoints, words: IntArray) -> Any:
    """Return the number of each of the words, int32[V], from 0 in the order of their first occurrence."""
    merged = np.empty((_FIRST_CAPACITY // 2, 3), np.int64)
    slots = np.full(_FIRST_CAPACITY, -1, np.int32)
    numbers = np.empty(len(words), np.int32)
    distinct = 0
    for word in range(len(words)):
        slot = _slot_of(text, words[word, 0], words[word, 1], words[word, 2], merged, slots)
        if slots[slot] < 0:
            slots[slot] = distinct
            merged[distinct] = words[word]
            distinct += 1
            numbers[word] = distinct - 1
            if distinct == len(merged):
                merged, slots = _grown(merged, distinct)
        else:
            numbers[word] = slots[slot]
    return numbers


@compiled(int64(_TEXT, _BOUNDS, types.int32[::1], types.int64[::1]))
def strip_spaces(text: CodePoints, bounds: IntArray, bare: TokenArray, counts: IntArray) -> Any:
    """Copy the code points that are no white space to `bare`, with counts of each text; return how many."""
    written = 0
    for k in range(len(bounds) - 1):
        before = written
        for at in range(bounds[k], bounds[k + 1]):
            if not _is_space(text[at]):
                bare[written] = text[at]
                written += 1
        counts[k] = written - before
    return written
