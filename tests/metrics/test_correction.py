"""Correction metrics: known cases, invariants, and the definition read slowly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_definitions import best_alignments, canonical, corrections, hits

from misheard.metrics.correction import CorrectionCounts, TokenChange, correction_counts, token_change

# reference, raw, corrected; then raw correct tokens and errors, modifications, improvements, damage, added
CASES = [
    ("an error put right", "a b c", "a x c", "a b c", (2, 1, 1, 1, 0, 0)),
    ("nothing wrong, nothing done", "a b c", "a b c", "a b c", (3, 0, 0, 0, 0, 0)),
    ("removing an insertion is an improvement", "a b", "a uh b", "a b", (2, 1, 1, 1, 0, 0)),
    ("a wrong word for a wrong word, and damage", "a b c d", "a x c d", "a y z d", (3, 1, 2, 0, 1, 0)),
    ("latte becomes coffee", "我 想 喝 latte", "我 想 喝 latte", "我 想 喝 coffee", (4, 0, 1, 0, 1, 0)),
    ("a missing word put in", "a b c", "a c", "a b c", (2, 1, 1, 1, 0, 0)),
    ("a right word taken out", "a b c", "a b c", "a c", (3, 0, 1, 0, 1, 0)),
    ("a word made up", "a b", "a b", "a b c", (2, 0, 1, 0, 0, 1)),
    ("errors left alone", "a b c", "a x c", "a x c", (2, 1, 0, 0, 0, 0)),
    ("one of two insertions removed", "x", "a b", "b", (0, 2, 1, 1, 0, 0)),
    ("everything removed", "a b", "a x", "", (1, 1, 2, 0, 1, 0)),
    ("heard where nothing was said", "", "uh", "", (0, 1, 1, 1, 0, 0)),
    ("nothing at all", "", "", "", (0, 0, 0, 0, 0, 0)),
]


@pytest.mark.parametrize(
    ("reference", "raw", "corrected", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_known_cases(reference, raw, corrected, expected):
    found = correction_counts(reference.split(), raw.split(), corrected.split())
    assert found == CorrectionCounts(*expected)


def test_rates_are_made_from_sums_and_none_where_undefined():
    assert CorrectionCounts().precision is CorrectionCounts().recall is None
    assert CorrectionCounts().over_correction_rate is None
    total = CorrectionCounts(4, 1, 2, 1, 1, 0) + CorrectionCounts(4, 3, 2, 2, 0, 0)
    assert (total.over_correction_rate, total.precision, total.recall) == (1 / 8, 3 / 4, 3 / 4)


def test_token_change_of_the_embedded_words():
    assert token_change(["iphone", "case"], ["phone", "case"]) == TokenChange(1, 2, 2)
    assert token_change(["iphone", "case"], ["phone", "case"]).rate == 0.5
    assert token_change([], []).rate is None
    assert (TokenChange(1, 2, 2) + TokenChange(2, 0, 2)).rate == 3 / 4


def test_a_long_text_that_was_left_as_it_is_has_its_own_errors():
    reference = ["a", "b"] * 40_000
    assert correction_counts(reference, reference[1:], reference[1:]) == CorrectionCounts(79_999, 1)


tokens = st.lists(st.sampled_from("abc"), max_size=8)


@settings(deadline=None)
@given(tokens, tokens, tokens)
def test_shares_stay_within_one_and_counts_agree_with_the_error_counts(reference, raw, corrected):
    found = correction_counts(reference, raw, corrected)
    assert found.improvements <= min(found.modifications, found.raw_error_tokens)
    assert found.over_corrections <= min(found.modifications, found.raw_correct_tokens)
    assert found.improvements + found.over_corrections + found.added_errors <= found.modifications
    assert found.raw_error_tokens == canonical(reference, raw)[0]
    assert found.raw_correct_tokens == hits(reference, raw)
    assert found.modifications == canonical(raw, corrected)[0]
    for rate in (found.precision, found.recall, found.over_correction_rate):
        assert rate is None or 0 <= rate <= 1
    change = token_change(raw, corrected)
    assert change.edits == canonical(raw, corrected)[0]
    assert change.rate is None or 0 <= change.rate <= 1


@settings(deadline=None)
@given(tokens, tokens)
def test_doing_nothing_and_putting_everything_right(reference, raw):
    nothing = correction_counts(reference, raw, raw)
    assert nothing == CorrectionCounts(hits(reference, raw), canonical(reference, raw)[0])
    everything = correction_counts(reference, raw, reference)
    assert everything.over_corrections == everything.added_errors == 0
    assert everything.precision in (None, 1.0)
    assert everything.recall in (None, 1.0)


short = st.lists(st.sampled_from("abc"), max_size=3)


@settings(deadline=None, max_examples=60)
@given(short, short, short)
def test_the_definition_read_slowly(reference, raw, corrected):
    found = correction_counts(reference, raw, corrected)
    judged = set()
    for diff in best_alignments(raw, corrected):
        (raw_errors, *_), ways = corrections(reference, diff)
        assert raw_errors == found.raw_error_tokens
        judged |= ways
    assert (found.improvements, found.over_corrections) in judged
