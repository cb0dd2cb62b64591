"""Words of many texts as numbers, found in one pass over their code points; importing it imports numba.

White space is what `str.isspace` says. Words are looked up in an open-addressing table. The key of a word has
128 bits. Where up to 13 code points differ in their lowest byte alone, as those of most scripts do, the key
is
made of these bytes, the rest of a code point, and the length: it is the word. The key of other words is a
hash, which only picks the slot: such words are compared code point by code point.

Where words end is as good as random to a processor, which pays for every branch that it guesses wrong. White
space is therefore found block by block, without branches, before the words are looked up.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, types, uint64

from misheard_kernels.compilation import compiled, internal

CodePoints = npt.NDArray[np.uint32]
IntArray = npt.NDArray[np.int64]
TokenArray = npt.NDArray[np.int32]
Bits = npt.NDArray[np.uint64]

_BLOCK = 1 << 12
_FIRST_ROOM = 1 << 14
_PACKED_LENGTH = 13
_FACTOR = 0x9E3779B97F4A7C15
_LATIN_SPACES = np.array([chr(code).isspace() for code in range(0x100)])

# columns of a distinct word
_LOW, _HIGH, _START, _LENGTH = range(4)

_TEXT = types.Array(types.uint32, 1, "C", readonly=True)
_BOUNDS = types.Array(types.int64, 1, "C", readonly=True)
_WORDS = types.int64[:, ::1]


@internal
def _is_space(code: int) -> Any:
    if code < 0x100:
        return _LATIN_SPACES[np.uint64(code)]
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
def _find_spaces(text: CodePoints, first: int, last: int, past: Bits, ends: IntArray, spaces: Bits) -> Any:
    """Note where white space is in a block, with what is before it; return how much there is.

    `past` and each row of `spaces`: the lowest bytes of the last eight code points, of the eight before them,
    and one bit for each of the last code points that differs from the one before it in more than that byte.
    """
    found = 0
    low, high, differs = past[0], past[1], past[2]
    page = text[max(0, first - 1)] >> 8
    at = first
    for code in text[first:last]:
        ends[found] = at
        spaces[found, 0] = low
        spaces[found, 1] = high
        spaces[found, 2] = differs
        found += int64(_is_space(code))
        high = (high << uint64(8)) | (low >> uint64(56))
        low = (low << uint64(8)) | (uint64(code) & uint64(255))
        differs = (differs << uint64(1)) | uint64(code >> 8 != page)
        page = code >> 8
        at += 1
    past[0], past[1], past[2] = low, high, differs
    return found


@internal
def _key(text: CodePoints, start: int, length: int, low: int, high: int, differs: int) -> Any:
    """Return the key of a word from what is noted of its end; the lowest four bits are 0 for a hash."""
    if length <= _PACKED_LENGTH and not differs & ((uint64(1) << uint64(length - 1)) - uint64(1)):
        rest = (uint64(text[start] >> 8) << uint64(4)) | uint64(length)
        if length <= 8:
            return int64(low & (~uint64(0) >> uint64(64 - 8 * length))), int64(rest)
        high &= (uint64(1) << uint64(8 * length - 64)) - uint64(1)
        return int64(low), int64((high << uint64(17)) | rest)
    mixed = uint64(0)
    for at in range(start, start + length):
        mixed = (mixed ^ uint64(text[at])) * uint64(_FACTOR)
    return int64(mixed), int64(length) << 4


@internal
def _first_slot(low: int, high: int, mask: int) -> Any:
    mixed = (uint64(low) ^ (uint64(high) * uint64(_FACTOR))) * uint64(_FACTOR)
    return int64(mixed >> uint64(32)) & mask


@internal
def _number_of(
    text: CodePoints,
    start: int,
    length: int,
    low: int,
    high: int,
    words: IntArray,
    slots: TokenArray,
    distinct: int,
) -> Any:
    """Return the number of a word; a new word is added under the number `distinct`, of the words so far."""
    mask = len(slots) - 1
    slot = _first_slot(low, high, mask)
    while slots[slot] >= 0:
        word = int64(slots[slot])
        if words[word, _LOW] == low and words[word, _HIGH] == high:
            if high & 15:
                return word
            other, same = words[word, _START], 0
            while same < length and text[other + same] == text[start + same]:
                same += 1
            if same == length:
                return word
        slot = (slot + 1) & mask
    slots[slot] = distinct
    words[distinct, _LOW] = low
    words[distinct, _HIGH] = high
    words[distinct, _START] = start
    words[distinct, _LENGTH] = length
    return int64(distinct)


@internal
def _number_block(
    text: CodePoints, starts: IntArray, ends: IntArray, spaces: Bits, state: IntArray,
    ids: TokenArray, counts: IntArray, words: IntArray, slots: TokenArray,
) -> None:  # fmt: skip
    """Give numbers to the words that end in a block.

    The state is kept from block to block: the text, where the next word starts, the words written, those
    written before the text, and the distinct ones.
    """
    k, start, written, before, distinct = state[0], state[1], state[2], state[3], state[4]
    for n in range(len(ends)):
        end = ends[n]
        if end > start:
            low, high = _key(text, start, end - start, spaces[n, 0], spaces[n, 1], spaces[n, 2])
            number = _number_of(text, start, end - start, low, high, words, slots, distinct)
            distinct += number == distinct
            ids[written] = number
            written += 1
        start = end + 1
        if start == starts[k + 1]:
            counts[k] = written - before
            before = written
            k += 1
    state[0], state[1], state[2], state[3], state[4] = k, start, written, before, distinct


@internal
def _grown(words: IntArray, count: int, room: int) -> Any:
    """Return room for at least so many words, and their table."""
    capacity = len(words)
    while capacity < room:
        capacity *= 2
    more = np.empty((capacity, 4), np.int64)
    more[:count] = words[:count]
    slots = np.full(2 * capacity, -1, np.int32)
    mask = len(slots) - 1
    for word in range(count):
        slot = _first_slot(more[word, _LOW], more[word, _HIGH], mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
    return more, slots


@compiled(_WORDS(_TEXT, _BOUNDS, int64, int64, types.int32[::1], types.int64[::1]))
def intern_range(
    text: CodePoints, starts: IntArray, first: int, last: int, ids: TokenArray, counts: IntArray
) -> Any:
    """Give numbers to the words of the texts from `first` to `last`, in the order of first occurrence.

    Text k is `text[starts[k]:starts[k + 1]]` and ends with white space; its number of words goes to
    `counts[k]`. The numbers of all words, one text after the other, go to `ids`. Returns the distinct words
    for `merge_words`: int64[V, 4].
    """
    words, slots = _grown(np.empty((_FIRST_ROOM, 4), np.int64), 0, 0)
    ends, spaces = np.empty(_BLOCK, np.int64), np.empty((_BLOCK, 3), np.uint64)
    past = np.zeros(3, np.uint64)
    state = np.zeros(5, np.int64)
    state[0], state[1] = first, starts[first]
    for begin in range(starts[first], starts[last], _BLOCK):
        stop = min(begin + _BLOCK, starts[last])
        found = _find_spaces(text, begin, stop, past, ends, spaces)
        if state[4] + found > len(words):
            words, slots = _grown(words, state[4], state[4] + found)
        _number_block(text, starts, ends[:found], spaces, state, ids, counts, words, slots)
    return words[: state[4]].copy()


@compiled(types.int32[::1](_TEXT, _WORDS))
def merge_words(text: CodePoints, words: IntArray) -> Any:
    """Return the number of each of the words, int32[V], from 0 in the order of their first occurrence."""
    merged, slots = _grown(np.empty((_FIRST_ROOM, 4), np.int64), 0, len(words))
    numbers = np.empty(len(words), np.int32)
    distinct = int64(0)
    for word in range(len(words)):
        low, high, start, length = words[word]
        number = _number_of(text, start, length, low, high, merged, slots, distinct)
        distinct += number == distinct
        numbers[word] = number
    return numbers


@compiled(int64(_TEXT, _BOUNDS, types.int32[::1], types.int64[::1]))
def strip_spaces(text: CodePoints, starts: IntArray, bare: TokenArray, counts: IntArray) -> Any:
    """Copy the code points that are no white space to `bare`, with counts of each text; return how many."""
    written = np.uint64(0)  # unsigned, because numba looks whether other indices are negative
    for k in range(len(starts) - 1):
        before = written
        for code in text[starts[k] : starts[k + 1]]:
            bare[written] = code
            written += np.uint64(not _is_space(code))
        counts[k] = written - before
    return int64(written)
