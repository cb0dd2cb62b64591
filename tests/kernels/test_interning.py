"""Words of texts as numbers, against `str.split` and a dictionary."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.text import interning as text_interning
from misheard.text.interning import char_pairs, word_pairs
from misheard_kernels import interning

SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]


def encoded(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    text = "".join(f"{text}\u2003" for text in texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, "<u4"), np.cumsum([0, *(len(text) + 1 for text in texts)], dtype=np.int64)


def numbered(texts: list[str]) -> tuple[list[int], list[int]]:
    numbers: dict[str, int] = {}
    words = [text.split() for text in texts]
    ids = [numbers.setdefault(word, len(numbers)) for row in words for word in row]
    return ids, np.cumsum([0, *map(len, words)]).tolist()


def interned(texts: list[str], threads: int | None = None) -> tuple[list[int], list[int]]:
    ids, offsets = interning.intern_words(*encoded(texts), threads=threads)
    assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)
    return ids.tolist(), offsets.tolist()


def random_texts(seed: int, count: int, vocabulary: int) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"w{number:x}" * (1 + number % 3) for number in range(vocabulary)]
    return [
        " ".join(words[w] for w in rng.integers(0, vocabulary, rng.integers(0, 30))) for _ in range(count)
    ]


def test_white_space_is_that_of_str_split():
    texts = [f"a{chr(code)}b" for code in range(0x3100)] + ["x", *SPACES, "".join(SPACES), " a  b ", ""]
    texts += ["a\ufeffb", "a\u200bb", "a\U0001f600b", "a\U0010ffffb", "\udc80 \ud800", "\udc80\ud800"]
    texts += ["\0a a \0\0a a\0 \0 \0\0", "\xff\xe1 \xe1 \u0100\xe1", "abcdefg abcdefgh bcdefgh xbcdefgh"]
    texts += [f"{'y' * n}{end}" for n in (6, 7, 8, 11, 12, 13, 14, 40) for end in "abÿ字\u0161"]
    texts += [
        "".join(chr(0x905 + (n * step) % 40) for step in range(length))
        for n in range(9)
        for length in range(1, 20)
    ]
    assert interned(texts) == numbered(texts)


def test_the_end_of_a_text_ends_a_word():
    assert interned(["a", "b", "ab", "", "a"]) == ([0, 1, 2, 0], [0, 1, 2, 3, 3, 4])


@pytest.mark.parametrize("vocabulary", [3, 500, 60_000])
def test_numbers_do_not_depend_on_threads(monkeypatch, vocabulary):
    monkeypatch.setattr(interning, "_LEAST_SHARE", 1000)
    texts = random_texts(vocabulary, 8000, vocabulary)
    expected = numbered(texts)
    for threads in (1, 2, 3, 7):
        assert interned(texts, threads) == expected


def words_with_one_hash() -> tuple[str, str]:
    """Two words of four characters, found by sorting: the kernel's hash of both is the same 64 bits.

    Their characters differ in more than the lowest byte, so that they are looked up by their hash.
    """
    rng = np.random.default_rng(4)
    starts = rng.integers(0x10000, 0x110000, (3, 1 << 24)).astype(np.uint64)
    mixed = np.zeros(1 << 24, np.uint64)
    for codes in starts:
        mixed = (mixed ^ codes) * np.uint64(0x9E3779B97F4A7C15)
    order = np.argsort(mixed)
    close = np.flatnonzero(np.diff(mixed[order] >> np.uint64(21)) == 0)
    for pair in zip(order[close], order[close + 1], strict=True):
        last = [0x4E00, 0x4E00 ^ int(mixed[pair[0]] ^ mixed[pair[1]])]
        if 0xE000 < last[1] <= sys.maxunicode:
            words = [
                "".join(map(chr, [*starts[:, n].tolist(), end])) for n, end in zip(pair, last, strict=True)
            ]
            return words[0], words[1]
    raise AssertionError("no such words: look with another seed")


def test_a_hash_only_picks_the_slot():
    one, other = words_with_one_hash()

    def hashed(word: str) -> int:
        mixed = 0
        for character in word:
            mixed = (mixed ^ ord(character)) * 0x9E3779B97F4A7C15 % 2**64
        return mixed

    assert one != other
    assert hashed(one) == hashed(other)
    assert interned([f"{one} {other} {one}"]) == ([0, 1, 0], [0, 3])


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from(["a", "b", "é", "字", "\u3000", " ", "\x1c", "\ud800"]), max_size=9)))
def test_any_texts_give_the_words_of_str_split(texts):
    assert interned(texts) == numbered(texts)
    text, starts = encoded(texts)
    cuts = starts[[len(texts) // 3, len(texts) // 2]]
    bare, offsets = interning.bare_code_points(np.split(text, cuts), starts)
    kept = ["".join(text.split()) for text in texts]
    assert bare.tolist() == [ord(character) for text in kept for character in text]
    assert offsets.tolist() == np.cumsum([0, *map(len, kept)]).tolist()


@pytest.mark.parametrize("encode", [word_pairs, char_pairs])
def test_the_choice_of_a_path_changes_nothing(monkeypatch, encode):
    references, hypotheses = random_texts(1, 200, 90), random_texts(2, 200, 90)
    references[3] = "\u2003नेनु\x1fबडि\udfff "
    found = []
    for compile_it in (True, False):
        monkeypatch.setattr(text_interning, "compiled_pays", lambda seconds, answer=compile_it: answer)
        pairs = encode(references, hypotheses)
        sides = (pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
        assert [side.dtype for side in sides] == [np.int32, np.int64, np.int32, np.int64]
        found.append([side.tolist() for side in sides])
    assert found[0] == found[1]


@pytest.mark.parametrize("encode", [word_pairs, char_pairs])
def test_texts_are_encoded_piece_by_piece(monkeypatch, encode):
    references, hypotheses = random_texts(5, 900, 300), random_texts(6, 900, 300)
    found = []
    for piece in (1, 7, 400, 5000):
        monkeypatch.setattr(text_interning, "_PIECE", piece)
        monkeypatch.setattr(text_interning, "compiled_pays", lambda seconds: True)
        pairs = encode(references, hypotheses)
        found.append([side.tolist() for side in (pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat)])
    assert found[1:] == found[:1] * 3


def test_a_huge_vocabulary_is_numbered():
    texts = [" ".join(map(str, range(start, start + 1000))) for start in range(0, 1_200_000, 1000)]
    ids, _ = interning.intern_words(*encoded(texts))
    assert np.array_equal(ids, np.arange(1_200_000))
