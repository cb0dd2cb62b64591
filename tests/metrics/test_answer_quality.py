"""Families `response` and `propagation`."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored_rows import NOT_ANSWERED, answered, named_counts, named_rates

from misheard.metrics.base import Arm
from misheard.metrics.propagation import Propagation
from misheard.metrics.quality import AnswerQuality, word_overlap_f1
from misheard.metrics.response import Response

RESPONSE = Response(AnswerQuality("nfc"))
PROPAGATION = Propagation(AnswerQuality("nfc"))


@pytest.mark.parametrize(
    ("first", "second", "f1"),
    [
        ("", "", 1.0),
        ("a", "", 0.0),
        ("", "a", 0.0),
        ("a b", "b a", 1.0),
        ("a a b", "a b b", 4 / 6),
        ("a a a", "a", 2 / 4),
        ("a", "A", 0.0),
        ("it is Paris.", "Paris", 0.0),
        ("the capital is Paris", "Paris is nice", 4 / 7),
    ],
)
def test_word_overlap_f1(first, second, f1):
    assert word_overlap_f1(first.split(), second.split()) == pytest.approx(f1)


words = st.lists(st.sampled_from("abc"), max_size=8)


@given(first=words, second=words)
def test_word_overlap_is_the_harmonic_mean_of_precision_and_recall(first, second):
    matched, left = 0, list(second)
    for word in first:
        if word in left:
            left.remove(word)
            matched += 1
    if matched:
        precision, recall = matched / len(second), matched / len(first)
        expected = 2 * precision * recall / (precision + recall)
    else:
        expected = float(not first and not second)
    assert word_overlap_f1(first, second) == pytest.approx(expected)
    assert word_overlap_f1(first, second) == word_overlap_f1(second, first)


def test_response_by_hand():
    rows = [
        answered("Paris  is it", reference_answer="Paris is it"),
        answered("it is Rome", reference_answer="it is Paris now"),
        answered("ignored"),
        answered(None, reference_answer="Paris"),
    ]
    assert named_rates(RESPONSE, rows) == {
        "response_quality": pytest.approx((1 + 4 / 7) / 2),
        "exact_match_rate": pytest.approx(1 / 2),
    }
    assert [named_counts(RESPONSE, row) is not None for row in rows] == [True, True, False, False]
    assert RESPONSE.arms == (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)


def test_the_exact_profile_compares_unmodified_texts():
    row = answered("a  b", reference_answer="a b")
    assert named_counts(Response(AnswerQuality("exact")), row) == {
        "quality": 1.0,
        "exact_matches": 0.0,
        "answers": 1.0,
    }


def test_a_failure_that_counts_is_all_wrong_also_against_an_empty_reference():
    row = answered("", failure=NOT_ANSWERED, reference_answer="")
    assert named_counts(RESPONSE, row) == {"quality": 0.0, "exact_matches": 0.0, "answers": 1.0}


@pytest.mark.parametrize(
    ("answer", "baseline", "expected"),
    [
        ("a b", "a b", (1, 1, 0, 0, 1, 0)),
        ("a x", "a b", (1, 0.5, 1, 0, 0.5, 1)),
        ("a b", "x", (0, 1, 0, 1, 0, 1)),
        ("b  a", "a b", (1, 1, 0, 0, 1, 1)),
        ("", "", (0, 0, 0, 0, 1, 0)),
    ],
)
def test_propagation_of_one_pair(answer, baseline, expected):
    row = answered(answer, baseline=baseline, reference_answer="a b")
    counts = named_counts(PROPAGATION, row)
    assert counts == dict(zip(PROPAGATION.columns, (*expected, 1), strict=True))


def test_propagation_rates_by_hand():
    rows = [
        answered(answer, baseline=baseline, reference_answer="a b")
        for answer, baseline in [("a b", "a b"), ("x", "a b"), ("a b", "a x"), ("x", "y")]
    ]
    # baseline qualities 1, 1, 1/2, 0; arm qualities 1, 0, 1, 0; agreements 1, 0, 1/2, 0
    assert named_rates(PROPAGATION, rows) == {
        "quality_drop": pytest.approx(0.5 / 4),
        "degraded_fraction": pytest.approx(1 / 4),
        "improved_fraction": pytest.approx(1 / 4),
        "response_agreement_f1": pytest.approx(1.5 / 4),
        "flip_rate": pytest.approx(3 / 4),
        "baseline_quality": pytest.approx(2.5 / 4),
        "arm_quality": pytest.approx(2 / 4),
    }


def test_propagation_needs_both_answers_and_a_reference_answer():
    assert named_counts(PROPAGATION, answered("a", baseline=None, reference_answer="a")) is None
    assert named_counts(PROPAGATION, answered(None, baseline="a", reference_answer="a")) is None
    assert named_counts(PROPAGATION, answered("a", baseline="a")) is None
    assert PROPAGATION.relative_to is Arm.TRANSCRIPT
    assert PROPAGATION.arms == (Arm.AUDIO, Arm.UNCORRECTED, Arm.CONTROL)


def test_a_failed_answer_that_counts_agrees_with_nothing():
    row = answered("", baseline="", failure=NOT_ANSWERED, reference_answer="a")
    counts = named_counts(PROPAGATION, row)
    assert (counts["agreement"], counts["flips"]) == (0.0, 1.0)


def test_what_fails_in_both_arms_is_no_noise():
    row = answered("", baseline="", failure=NOT_ANSWERED, reference_answer="a")
    both = replace(row, baseline=replace(row.baseline, failure=NOT_ANSWERED))
    counts = named_counts(PROPAGATION, both)
    assert (counts["flips"], counts["degraded"], counts["pairs"]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("difference", "degraded"), [(1e-12, 0.0), (3e-12, 1.0)])
def test_drops_within_the_tolerance_are_none(difference, degraded):
    scores = {"before": 0.5 + difference, "after": 0.5}
    family = Propagation(AnswerQuality("nfc", lambda _reference, answer: scores[answer]))
    counts = named_counts(family, answered("after", baseline="before", reference_answer="r"))
    assert (counts["degraded"], counts["improved"]) == (degraded, 0.0)
    swapped = named_counts(family, answered("before", baseline="after", reference_answer="r"))
    assert (swapped["degraded"], swapped["improved"]) == (0.0, degraded)
