"""Answer classes in the languages of the demo suites: by their own lists, digits and scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored_rows import answered, named_counts

from misheard.metrics.answer_class import AnswerClass

ABSTENTIONS = {
    "en": ("I don't know",),
    "hi": ("मुझे नहीं पता",),
    "ta": ("எனக்குத் தெரியாது",),
    "ml": ("എനിക്കറിയില്ല",),
    "te": ("నాకు తెలియదు",),
    "ar": ("لا أعرف",),
    "zh": ("不知道",),
}
SAID = {
    "en": "Sorry, I don’t know.",
    "hi": "माफ़ कीजिए, मुझे नहीं पता।",
    "ta": "மன்னிக்கவும், எனக்குத் தெரியாது.",
    "ml": "ക്ഷമിക്കണം, എനിക്കറിയില്ല.",
    "te": "క్షమించండి, నాకు తెలియదు.",
    "ar": "عذراً، لا أعرف.",
    "zh": "对不起，我不知道。",
}
ZEROS = {"en": "0", "hi": "०", "ta": "௦", "ml": "൦", "te": "౦", "ar": "٠", "zh": "０"}
"""The digit zero of the script; the others follow it in Unicode."""

FAMILY = AnswerClass(ABSTENTIONS)


def answer_class(answer: str, *fact: str, language: str | None) -> str:
    counts = named_counts(FAMILY, answered(answer, fact=fact, language=language))
    assert counts is not None and counts.pop("answers") == 1.0
    (name,) = [name for name, count in counts.items() if count]
    return name


@pytest.mark.parametrize("language", ABSTENTIONS)
@pytest.mark.parametrize("said_in", SAID)
def test_an_abstention_counts_in_its_own_language_alone(language, said_in):
    expected = "abstained" if language == said_in else "hallucinated"
    assert answer_class(SAID[said_in], "Paris", language=language) == expected


@pytest.mark.parametrize("language", ABSTENTIONS)
def test_an_item_without_a_language_has_no_abstentions(language):
    assert answer_class(SAID[language], "Paris", language=None) == "hallucinated"


def written(number: int, language: str) -> str:
    zero = ord(ZEROS[language])
    return "".join(chr(zero + int(digit)) for digit in str(number))


@given(st.sampled_from(sorted(ZEROS)), st.integers(0, 10**6), st.integers(1, 9))
def test_digits_of_every_script_are_the_same_number_and_never_part_of_another(language, number, more):
    assert answer_class(f"= {written(number, language)}.", str(number), language=language) == "correct"
    assert answer_class(f"= {number}.", written(number, language), language=language) == "correct"
    longer = int(f"{number or 1}{more}")
    assert answer_class(f"= {written(longer, language)}.", str(number), language=language) == "hallucinated"


@pytest.mark.parametrize(
    ("language", "answer", "fact", "expected"),
    [
        ("hi", "राजधानी नई दिल्ली है।", "नई दिल्ली", "correct"),
        ("hi", "राजधानी नयी दिल्ली है", "नई दिल्ली", "hallucinated"),
        ("hi", "फ़्रांस", "फ़्रांस", "correct"),  # a nukta of its own, and one in the letter
        ("hi", "लगभग १,००,००० लोग", "100000", "correct"),
        ("ta", "தலைநகரம் சென்னை.", "சென்னை", "correct"),
        ("ta", "தலைநகரம் சென்னையில் உள்ளது", "சென்னை", "hallucinated"),  # a suffix makes another form
        ("ml", "ഉത്തരം ഞാന്\u200d ആണ്", "ഞാൻ", "correct"),  # the chillu in both spellings
        ("ml", "൫൦%", "50", "correct"),
        ("te", "రాజధాని హైదరాబాద్", "హైదరాబాద్", "correct"),
        ("te", "రాజధాని హైదరాబద్", "హైదరాబాద్", "hallucinated"),
        ("ar", "العاصمة هي \u200fباريس\u200f.", "باريس", "correct"),  # direction marks
        ("ar", "٣٫٥", "3.5", "correct"),
        ("ar", "٥٠٪", "50", "correct"),
        ("ar", "حوالي ٧٬٠٠٠ شخص", "7000", "correct"),  # the Arabic thousands separator
        ("ar", "حوالي 7,000 شخص", "7000", "correct"),
        ("ar-MA", "حوالي 7.000 شخص", "7000", "correct"),
        ("ar", "۵۰", "50", "correct"),  # Persian digits
        ("ar", "ﻻهور", "لاهور", "correct"),  # a ligature of presentation forms
        ("zh", "首都是北京。", "北京", "correct"),
        ("zh", "首都是 北 京", "北京", "correct"),
        ("zh", "首都是南京。", "北京", "hallucinated"),
        ("zh", "在１９４５年", "1945", "correct"),
        ("zh", "有150天", "50", "hallucinated"),
        ("zh-Hant", "我不知道", "北京", "abstained"),
        ("zho", "我不知道", "北京", "abstained"),
    ],
)
def test_answers_in_each_script(language, answer, fact, expected):
    assert answer_class(answer, fact, language=language) == expected
