"""Answers as correct, abstained or hallucinated."""

import pytest
from scored_rows import NOT_ANSWERED, answered, named_counts, named_rates

from misheard.metrics.answer_class import AnswerClass
from misheard.metrics.base import Arm

ABSTENTIONS = {
    "en": ("I don't know", "cannot answer"),
    "en-IN": ("no idea yaar",),
    "ja": ("わかりません",),
}
FAMILY = AnswerClass(ABSTENTIONS)


def answer_class(answer: str, *fact: str, language: str | None = "en") -> str:
    counts = named_counts(FAMILY, answered(answer, fact=fact, language=language))
    assert counts is not None and counts.pop("answers") == 1.0
    (name,) = [name for name, count in counts.items() if count]
    return name


@pytest.mark.parametrize(
    ("answer", "fact", "expected"),
    [
        ("The amount is 150.", ["50"], "hallucinated"),
        ("It is fifty.", ["50", "fifty"], "correct"),
        ("It is fifty.", ["50"], "correct"),
        ("It is 50.", ["fifty"], "correct"),
        ("Fifty-two weeks", ["50"], "hallucinated"),
        ("About 7.9 billion people", ["7900000000"], "correct"),
        ("It ended in nineteen forty-five.", ["1945"], "correct"),
        ("No one knows.", ["1"], "hallucinated"),
        ("PARIS!", ["Paris"], "correct"),
        ("The capital is Parisian", ["Paris"], "hallucinated"),
        ("It is New\nYork.", ["new york"], "correct"),
        ("I don't know, maybe Paris", ["Paris"], "correct"),
        ("I don’t know.", ["Paris"], "abstained"),
        ("Sorry, I CANNOT answer that", ["Paris"], "abstained"),
        ("I don't knowingly lie", ["Paris"], "hallucinated"),
        ("", ["Paris"], "hallucinated"),
        ("...", ["Paris"], "hallucinated"),
        ("anything", ["!"], "hallucinated"),
    ],
)
def test_english_answers(answer, fact, expected):
    assert answer_class(answer, *fact) == expected


@pytest.mark.parametrize(
    ("language", "answer", "fact", "expected"),
    [
        ("ja", "首都は東京です。", "東京", "correct"),
        ("ja", "すみません、わかりません。", "東京", "abstained"),
        ("ja", "五十二です", "50", "hallucinated"),
        ("hi", "राजधानी दिल्ली है", "दिल्ली", "correct"),
        ("hi", "राजधानी दल्ली है", "दिल्ली", "hallucinated"),
        ("hi", "२० दिन", "20", "correct"),
        ("hi", "I don't know", "20", "hallucinated"),
        ("en-IN", "I don't know", "20", "abstained"),
        ("EN-in", "No idea, yaar", "20", "abstained"),
        ("en-US", "No idea, yaar", "20", "hallucinated"),
        (None, "It is fifty", "50", "hallucinated"),
    ],
)
def test_other_languages(language, answer, fact, expected):
    assert answer_class(answer, fact, language=language) == expected


def test_rates_by_hand():
    rows = [
        answered(answer, fact=("Paris",), language="en")
        for answer in ("Paris", "paris, France", "I don't know", "Rome", None)
    ]
    assert named_rates(FAMILY, [*rows, answered("no fact")]) == {
        "correct_rate": pytest.approx(2 / 4),
        "abstention_rate": pytest.approx(1 / 4),
        "hallucination_rate": pytest.approx(1 / 4),
    }
    assert FAMILY.arms == (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)


def test_a_failure_that_counts_is_hallucinated():
    row = answered("", failure=NOT_ANSWERED, fact=("Paris",))
    assert named_counts(FAMILY, row)["hallucinated"] == 1.0
