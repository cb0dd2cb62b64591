"""Merges and splits beside the strict rate."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import heard, named_counts, named_rates
from slow_definitions import canonical, fewest_errors_with_compounds

from misheard.metrics.compounds import CompoundCounts, Compounds, compound_counts
from misheard.metrics.transcripts import Transcripts
from misheard.text.tokenisers import words


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("it is near by", "it is nearby", (0, 1, 0)),
        ("ein donau dampf schiff", "ein donaudampfschiff", (0, 1, 0)),
        ("play basketball now", "play basket ball now", (0, 0, 1)),
        ("a well-known fact", "a well known fact", (0, 0, 1)),
        ("a well-known fact", "a wellknown fact", (1, 0, 0)),  # one word for one: a substitution
        ("near by", "nearly", (2, 0, 0)),
        ("a b", "b a", (2, 0, 0)),
        ("ice cream and foot ball", "icecream and football", (0, 2, 0)),
        ("a - b", "a b", (1, 0, 0)),  # a lone hyphen is no part of a compound
        ("", "", (0, 0, 0)),
        ("", "a", (1, 0, 0)),
    ],
)
def test_known_cases(reference, hypothesis, expected):
    assert compound_counts(reference.split(), hypothesis.split()) == CompoundCounts(*expected)


def test_the_strict_rate_stands_beside_it():
    family = Compounds(Transcripts("nfc", words))
    row = heard("go to the near by shop", "go to a nearby shop")
    assert named_counts(family, row) == {
        "strict_errors": 3,
        "joined_errors": 1,
        "merges": 1,
        "splits": 0,
        "reference_words": 6,
    }
    assert named_rates(family, [row]) == {
        "compound_error_rate": pytest.approx(2 / 6),
        "wer_compounds_joined": pytest.approx(1 / 6),
    }
    assert named_counts(family, heard("a", None)) is None


words_of_few_letters = st.lists(st.text("ab", min_size=1, max_size=3), max_size=6)


@settings(deadline=None)
@given(words_of_few_letters, words_of_few_letters)
def test_the_definition_read_slowly(reference, hypothesis):
    found = compound_counts(reference, hypothesis)
    errors, compounds, splits = fewest_errors_with_compounds(reference, hypothesis)
    assert (found.errors, found.merges, found.splits) == (errors, compounds - splits, splits)
    assert found.errors <= canonical(reference, hypothesis)[0]
