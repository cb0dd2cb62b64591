"""What counts as the same phrase, and where it is found."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.text.digits import ascii_digits
from misheard.text.languages import primary_subtag
from misheard.text.numerals import unify_numbers
from misheard.text.phrases import contains_phrase, phrase_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It is **Paris**!", "it is paris"),
        ("Maria's dog don’t 'bark'", "maria's dog don't bark"),
        ("_under_score", "under score"),
        ("STRASSE straße ＡＢＣ１２", "strasse strasse abc12"),
        ("H₂O", "h2o"),
        ("10² 5½", "10 2 5 1 2"),
        ("12:30, 2020–2021 x-5", "12 30 2020 2021 x 5"),
        ("3.14. -40 \u221240 50kg 3.5kg", "3.14 -40 -40 50kg 3.5kg"),
        ("co\u00adop\u200bera\ufefftion", "cooperation"),
        ("5\ufe0f\u20e3 ❤\ufe0f", "5"),
        ("दिन दान २०", "दिन दान 20"),
        ("నేను వెళ్తున్నాను", "నేను వెళ్తున్నాను"),
        ("٣ ۴ ໕ 𝟞", "3 4 5 6"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("...", ""),
    ],
)
def test_tokens(text, tokens):
    assert phrase_tokens(text, "en") == tuple(tokens.split())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It is fifty.", "it is 50"),
        ("one hundred and fifty", "150"),
        ("a hundred and one", "101"),
        ("Twenty-one", "21"),
        ("two thousand and one", "2001"),
        ("three point one", "3.1"),
        ("one two three 4", "1 2 3 4"),
        ("five and six", "5 and 6"),
        ("ten, twenty", "10 20"),
        ("no one knows", "no one knows"),
        ("one of them, the one", "one of them the one"),
        ("someone alone", "someone alone"),
        ("it has one moon", "it has 1 moon"),
        ("the first, twenty-first and 21st", "the 1st 21st and 21st"),
        ("second", "2nd"),
        ("wait a second, 60 second", "wait a second 60 second"),
        ("nineteen eighty-four", "1984"),
        ("twenty twenty", "2020"),
        ("in nineteen hundred", "in 1900"),
        ("forty thirty 19 84", "40 30 19 84"),
        ("8 million, 7.9 billion", "8000000 7900000000"),
        ("seven point nine billion", "7900000000"),
        ("0.5 thousand 1.23456 thousand", "500 1234.56"),
        ("minus forty", "-40"),
        ("1,000 1,00,000 1,234.5 1,2,3", "1000 100000 1234.5 1 2 3"),
    ],
)
def test_english_numbers_have_one_form(text, tokens):
    assert phrase_tokens(text, "en") == phrase_tokens(text, "en-IN") == tuple(tokens.split())


@pytest.mark.parametrize("language", ["xx", None, ""])
def test_number_words_of_unknown_languages_stay(language):
    assert phrase_tokens("six 1,5 Six", language) == ("six", "1,5", "six")


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("de", "Sechsunddreißig, 1.000 1,5", "36 1000 1,5"),
        ("fr", "quatre-vingts %, un homme", "80 un homme"),
        ("hi", "१,००,००० six", "100000 six"),
    ],
)
def test_numbers_of_other_languages(language, text, tokens):
    assert phrase_tokens(text, language) == tuple(tokens.split())


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("The amount is 150.", "50", False),
        ("The amount is 50.5", "50", False),
        ("The amount is -50", "50", False),
        ("50", "50", True),
        ("New York City", "new york", True),
        ("York, New", "New York", False),
        ("newer york", "new york", False),
        ("Paris", "", False),
        ("Paris", "...", False),
        ("", "Paris", False),
        ("答えは東京です。", "東京", True),
        ("答えは京都です。", "東京", False),
        ("それは50です", "50", True),
        ("それは150です", "50", False),
        ("合計50年です", "50年", True),
        ("合計150年です", "50年", False),
        ("約50年間", "50年", True),
        ("我的iPhone手機殼", "iPhone手機", True),
        ("我的iPhone手機殼", "Phone手機", False),
        ("กรุงเทพ มหานคร", "กรุงเทพมหานคร", True),
        ("ປະເທດລາວ", "ລາວ", True),
        ("ភ្នំពេញជារាជធានី", "ភ្នំពេញ", True),
        ("ရန်ကုန်မြို့", "ရန်ကုန်", True),
        ("トウキョウデス", "ﾄｳｷｮｳ", True),
        ("서울입니다", "서울", False),  # Korean sets spaces
    ],
)
def test_finding(text, phrase, found):
    assert contains_phrase(phrase_tokens(text, "ja"), phrase_tokens(phrase, "ja")) is found


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("五十二", "五十", False),
        ("二百五十", "五十", False),
        ("一共是五十個", "五十", True),
        ("五十二，不对，是五十", "五十", True),
        ("五十", "五十", True),
        ("五 十 二", "五十", False),
        ("五 十", "五十", True),
        ("两百五十年", "五十年", False),
        ("过了五十年", "五十年", True),
        ("第五十", "第五", False),
        ("二〇一一年", "一一年", False),
        ("一万二千", "一万", False),
        ("一、二、三", "二", True),
        ("第一，五十", "五十", True),
        ("第一\n五十", "五十", True),
        ("第一，三星", "三星", True),
        ("十、二", "十二", False),
        ("唯一一个", "一个", False),  # reads as the number 一一
        ("統一一般", "統一", False),
        ("我一般不知道", "一般", True),
        ("在北京大学", "北京", True),
        ("有50万人", "50", False),
        ("有50千万人", "50", False),
        ("有3.5亿人", "3.5", False),
        ("有50万人", "50万", True),
        ("有50万五千人", "50万", False),
        ("有50千米", "50", True),
        ("有50、60人", "50", True),
        ("iPhone 15一共", "iPhone 15", True),
        ("iPhone 15万", "iPhone 15", False),
        ("50万，還是50", "50", True),
    ],
)
def test_a_number_is_not_found_inside_a_longer_one(text, phrase, found):
    assert contains_phrase(phrase_tokens(text, "zh"), phrase_tokens(phrase, "zh")) is found


HAN_TEXT = st.text("一二十百万元年，、 \n", max_size=8)


@given(before=HAN_TEXT, number=st.text("一二十百万", min_size=1, max_size=3), after=HAN_TEXT)
def test_a_han_number_is_found_where_a_whole_run_equals_it(before, number, after):
    text = f"{before}{number}{after}"
    runs = re.split("[元年，、\n]+", text.replace(" ", ""))
    assert contains_phrase(phrase_tokens(text, "zh"), phrase_tokens(number, "zh")) is (number in runs)


@given(before=ANY_TEXT, phrase=ANY_TEXT, after=ANY_TEXT)
def test_a_phrase_between_lines_is_found_where_it_has_tokens(before, phrase, after):
    wanted = phrase_tokens(phrase, None)
    tokens = phrase_tokens(f"{before}\n{phrase}\n{after}", None)
    assert contains_phrase(tokens, wanted) is bool(wanted)


@given(text=ANY_TEXT, language=st.sampled_from(["en", "ja", None]))
def test_any_text_has_tokens_without_white_space(text, language):
    assert all(token and not any(map(str.isspace, token)) for token in phrase_tokens(text, language))


@given(st.integers(0, 10**12))
def test_a_number_is_one_token_with_and_without_separators(number):
    assert phrase_tokens(f"{number:,}", "en") == phrase_tokens(str(number), "en") == (str(number),)


def test_unification_keeps_what_is_no_number():
    pieces = ["\ud800", " ", "fifty", ",", " ", "word", "\n", "7"]
    assert unify_numbers(pieces, "en") == ["\ud800", " ", "50", ",", " ", "word", "\n", "7"]


def test_digits_of_every_script():
    assert ascii_digits("a१२٣໔²") == "a1234²"


@pytest.mark.parametrize(
    ("tag", "language"), [("en", "en"), ("EN-us", "en"), ("pt_BR", "pt"), (None, None), ("", None)]
)
def test_primary_subtag(tag, language):
    assert primary_subtag(tag) == language
