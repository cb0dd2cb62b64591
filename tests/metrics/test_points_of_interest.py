"""PIER, and precision and recall of embedded-language words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import heard, named_counts, named_rates, speech
from slow_definitions import best_alignments

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.mixed_error_rate import one_script
from misheard.metrics.points_of_interest import entities, numbers, point_counts, script_words, tag_points
from misheard.metrics.transcripts import Transcripts, aligned_pairs
from misheard.text.tokenisers import mixed_tokeniser, words

ENGLISH = script_words("Latn", Transcripts("nfc", mixed_tokeniser(["Hani"]).split))

# reference, hypothesis; then errors, points, insertions, correct, hypothesis points
CASES = [
    ("a wrong English word", "我 想 買 iphone case", "我 想 買 phone case", (1, 2, 0, 1, 2)),
    ("an insertion is not charged", "我 想 買 iphone case", "我 想 買 new iphone case", (0, 2, 1, 2, 3)),
    ("one English word for another", "我想喝 latte", "我想喝 coffee", (1, 1, 0, 0, 1)),
    ("one too many", "我想喝 latte", "我想喝 latte coffee", (0, 1, 1, 1, 2)),
    ("written without a space", "我想喝latte", "我想喝辣椒", (1, 1, 0, 0, 0)),
    ("Chinese errors are no points", "我想喝 latte", "你想吃 latte", (0, 1, 0, 1, 1)),
    ("digits are no English", "我有 2 apples", "我有 3 apples", (0, 1, 0, 1, 1)),
]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_known_cases(reference, hypothesis, expected):
    counts = named_counts(ENGLISH, heard(reference, hypothesis))
    assert counts is not None
    assert tuple(counts[name] for name in ENGLISH.columns) == expected


def test_rates_are_made_from_sums():
    rows = [heard(reference, hypothesis) for _, reference, hypothesis, _ in CASES[:4]]
    assert named_rates(ENGLISH, rows) == {
        "pier_latn": 2 / 6,
        "pier_latn_insertion_rate": 2 / 6,
        "latn_precision": 4 / 8,
        "latn_recall": 4 / 6,
    }


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(heard("我想喝", "我想喝"), id="no point on either side"),
        pytest.param(heard("我想喝", "我想喝 tea"), id="a point in the transcript alone"),
        pytest.param(heard("latte", None), id="no transcript"),
    ],
)
def test_an_item_without_a_point_in_its_reference_does_not_count(row):
    assert named_counts(ENGLISH, row) is None
    assert set(named_rates(ENGLISH, [row]).values()) == {None}


@pytest.mark.parametrize(
    ("family", "said", "other"),
    [
        (ENGLISH, "我想喝 latte", "我想喝"),
        (one_script("nfc", "Latn", ["Hani"]), "我想喝 latte", "我想喝"),
        (numbers(Transcripts("nfc", words)), "pay 5 euros", "pay the euros"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_items_that_hold_nothing_to_judge_are_no_evidence(family, said, other):
    rows = [heard(said if place < 5 else other, "whatever 7 it is") for place in range(60)]
    assert family.counts(rows).present.tolist() == [True] * 5 + [False] * 55


@given(
    st.sampled_from(["我想喝 latte", "我想喝"]),
    st.text("ab7五我 ", max_size=6),
    st.text("ab7五我 ", max_size=6),
)
def test_what_was_heard_does_not_decide_whether_an_item_counts(reference, one, other):
    for family in (ENGLISH, one_script("nfc", "Latn", ["Hani"])):
        present = family.counts([heard(reference, one), heard(reference, other)]).present
        assert present[0] == present[1]


def test_points_may_be_numbers():
    family = numbers(Transcripts("nfc", words))
    item = speech(reference="pay fifty euros on the 3rd of May", language="en")
    row = ScoredRow(item, Arm.AUDIO, ArmOutput("pay fifteen euros on the 3rd of 5 May"))
    assert named_counts(family, row) == {
        "errors": 1,
        "points": 2,
        "insertions": 1,
        "correct": 1,
        "hypothesis_points": 3,
    }
    assert set(named_rates(family, [heard("no number", "none")]).values()) == {None}


def test_points_may_be_named_entities():
    family = entities(Transcripts("nfc", words))
    item = speech(reference="from New York to York", language="en", entities=("new york",))
    row = ScoredRow(item, Arm.AUDIO, ArmOutput("from New Cork to Cork"))
    counts = named_counts(family, row)
    assert counts is not None
    assert (counts["errors"], counts["points"]) == (1, 2)
    assert named_counts(family, heard("no entities", "none")) is None
    elsewhere = ScoredRow(
        speech(reference="to Rome", entities=("new york",)), Arm.AUDIO, ArmOutput("to Rome")
    )
    assert named_counts(family, elsewhere) is None


def test_points_may_be_tagged_words():
    (pair,) = aligned_pairs([["a", "b", "c"]], [["a", "x", "c", "d"]])
    found = point_counts(pair.alignment, tag_points(["O", "NE", "NE"], {"NE"}))
    assert (found.errors, found.points, found.insertions, found.hypothesis_points) == (1, 2, 1, 0)


tokens = st.lists(st.sampled_from("abXY"), max_size=5)


@settings(deadline=None)
@given(tokens, tokens)
def test_the_definition_read_slowly(reference, hypothesis):
    (pair,) = aligned_pairs([reference], [hypothesis])
    said, heard_points = [[token.isupper() for token in text] for text in (reference, hypothesis)]
    found = point_counts(pair.alignment, said, heard_points)
    possible = {
        (
            sum(r is not None and r.isupper() and h != r for r, h in columns),
            sum(r is None and h is not None and h.isupper() for r, h in columns),
        )
        for columns in best_alignments(reference, hypothesis)
    }
    assert (found.errors, found.insertions) in possible
    assert found.errors + found.correct == found.points == sum(said)
    assert found.correct + found.insertions <= found.hypothesis_points == sum(heard_points)
