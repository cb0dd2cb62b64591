"""Tokenisers and the ids that kernels work on."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.text.interning import char_pairs, token_pairs, word_pairs
from misheard.text.tokenisers import CHARS, WORDS, chars, words

TEXTS = st.lists(st.tuples(*[st.text(st.characters(exclude_categories=()), max_size=12)] * 2), max_size=5)


@pytest.mark.parametrize(
    ("text", "expected_words", "expected_chars"),
    [
        ("", [], []),
        ("  a \t b\n", ["a", "b"], ["a", "b"]),
        ("a\x1fb\u2028c\x85d", ["a", "b", "c", "d"], ["a", "b", "c", "d"]),
        ("a\u200bb", ["a\u200bb"], ["a", "\u200b", "b"]),
        ("cafe\u0301 é", ["cafe\u0301", "é"], ["c", "a", "f", "e", "\u0301", "é"]),
        ("దా", ["దా"], ["ద", "ా"]),
        ("😀 \ud800", ["😀", "\ud800"], ["😀", "\ud800"]),
    ],
)
def test_tokenisers(text, expected_words, expected_chars):
    assert words(text) == WORDS.split(text) == expected_words
    assert chars(text) == CHARS.split(text) == expected_chars


def lists(flat: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    return [flat[start:stop].tolist() for start, stop in pairwise(offsets)]


@pytest.mark.parametrize(("encode", "split"), [(word_pairs, words), (char_pairs, chars)])
@given(pairs=TEXTS)
def test_ids_are_equal_exactly_where_tokens_are(encode, split, pairs):
    references, hypotheses = [first for first, _ in pairs], [second for _, second in pairs]
    found = encode(references, hypotheses)
    assert (found.ref_flat.dtype, found.ref_offsets.dtype) == (np.int32, np.int64)
    ids = lists(found.ref_flat, found.ref_offsets) + lists(found.hyp_flat, found.hyp_offsets)
    tokens = [split(text) for text in references + hypotheses]
    assert [len(one) for one in ids] == [len(one) for one in tokens]
    both = {(a, b) for one, other in zip(ids, tokens, strict=True) for a, b in zip(one, other, strict=True)}
    assert len(both) == len({a for a, _ in both}) == len({b for _, b in both})


def test_a_character_is_its_code_point():
    found = char_pairs(["a 😀\ud800"], ["é"])
    assert found.ref_flat.tolist() == [0x61, 0x1F600, 0xD800]
    assert found.hyp_flat.tolist() == [0xE9]


@pytest.mark.parametrize("encode", [word_pairs, char_pairs, token_pairs])
def test_lists_of_other_lengths_are_refused(encode):
    with pytest.raises(ValueError, match="2 references but 1 hypotheses"):
        encode(["a", "b"], ["a"])
