"""Numerals in one form. Single rules are in the table of docs/text.md, which tests run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_to_num import find_numbers

from misheard.text.number_pieces import Piece, starts_number
from misheard.text.numeral_words import NUMBER_WORDS, decimal_mark
from misheard.text.profiles import normalise

LANGUAGES = [*NUMBER_WORDS, "es-MX", "hi", "zh", None]
WORDS = """
    one two twenty eighty nineteen hundred thousand million millions lakh crore oh o point minus negative a
    and the first second third percent per cent dollars dollar cents rs usd pounds pence paise euro no of zero
    five un une deux dix vingt cents mille pour moins virgule ein eine zwei hundert tausend komma prozent
    erste een twee drie en et to tre uno due um dois mil milhões por cento 1 20 007 1,000 1.000 3.14 3,14
    5.00 1/2 12:30 -5 - -- . , $ % € ₹ $5 -$5 5$ 50% .5 -.5 1'000 5½ 10² ५ ५०० रुपये don't x 2ème 2de 1st
    1,000th
    5kg (five)
"""
PARTS = st.sampled_from([*WORDS.split(), "\u00a0", "1\u202f000", "\ud800", "\u200d"])
NUMBERLESS = st.sampled_from(["Cat", "dog's", "the—", "no,", "“yes”", "über", "किताब", "我", "!"])
TEXTS = st.lists(PARTS, max_size=8).map(" ".join) | st.lists(PARTS, max_size=6).map("".join)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=TEXTS | ANY_TEXT)
def test_spoken_is_idempotent(language, text):
    once = normalise(text, "spoken", language)
    assert normalise(once, "spoken", language) == once


MULTIPLIERS = """
    one two twenty nineteen hundred thousand million lakh and 5 - deux cent cents mille millions mil zwei
    hundert tausend honderd duizend twee hundrede tusind mila point
    thousandth hundredth millième duizendste millesimo tausendste
"""
MULTIPLIED = st.sampled_from(MULTIPLIERS.split())


@pytest.mark.parametrize("language", NUMBER_WORDS)
@given(text=st.lists(MULTIPLIED, max_size=10).map(" ".join))
def test_spoken_is_idempotent_on_runs_of_multipliers(language, text):
    once = normalise(text, "spoken", language)
    assert normalise(once, "spoken", language) == once


@given(text=st.lists(NUMBERLESS, max_size=12).map(" ".join))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_without_numbers_is_plain(language, text):
    assert normalise(text, "spoken", language) == normalise(text, "plain")


@pytest.mark.parametrize(
    "words", ["crore", "million", "five hundred", "zero", "point one", "nine trillion", "9", "$"]
)
def test_loops_of_number_words_are_read_in_one_go(words):
    text = f"{words} " * 2_000 + "five"
    once = normalise(text, "spoken", "en")
    assert "5" in once
    assert normalise(once, "spoken", "en") == once


@pytest.mark.parametrize("language", LANGUAGES)
@given(word=PARTS | NUMBERLESS | st.text("aeinotvwx", max_size=4))
def test_the_quick_look_for_number_words_agrees_with_the_library(language, word):
    words = NUMBER_WORDS.get((language or "").split("-")[0])
    if words is None or word in words.articles:
        expected = False
    else:
        expected = word in words.scales or bool(find_numbers([Piece(word, word)], language[:2], 0.0))
    assert starts_number(word, language) == expected


def test_o_alone_is_a_number_in_english():
    assert starts_number("o", "en") and not starts_number("o", "pt")


@pytest.mark.parametrize("language", LANGUAGES)
@given(first=TEXTS, second=TEXTS)
def test_texts_that_many_words_part_are_read_apart(language, first, second):
    between = " ".join(["dog"] * 10)
    apart = [normalise(text, "spoken", language) for text in (f"{first} {between}", f"{between} {second}")]
    joined = normalise(f"{first} {between} {second}", "spoken", language)
    assert joined == f"{apart[0].removesuffix(between)}{apart[1]}"


@given(st.integers(0, 10**12))
def test_grouping_does_not_matter(number):
    assert normalise(f"{number:,}", "spoken", "en") == str(number)
    assert normalise(f"{number:,}".replace(",", "."), "spoken", "de") == str(number)
    assert normalise(f"{number:,}".replace(",", "\u202f"), "spoken", "fr") == str(number)


ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
"""
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = ONES.split(), TENS.split()


def in_english(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        rest = number % 10
        return _TENS[number // 10] + (f"-{_ONES[rest]}" if rest else "")
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joint = " and " if rest < 100 else " "
            return f"{in_english(number // size)} {name}" + (joint + in_english(rest) if rest else "")
    raise AssertionError


@given(st.integers(0, 10**12 - 1))
def test_english_cardinals_are_their_digits(number):
    assert normalise(in_english(number), "spoken", "en") == str(number)
    assert normalise(f"We saw {in_english(number)} birds.", "spoken", "en") == f"we saw {number} birds"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "five thousand five thousand", "5000 5000"),
        ("en", "one thousand two thousand", "1000 2000"),
        ("en", "six hundred six hundred", "600 600"),
        ("en", "six hundred and six hundred", "600 and 600"),
        ("en", "two hundred three hundred", "200 300"),
        ("en", "two million three million", "2000000 3000000"),
        ("en", "one hundred thousand two hundred thousand", "100000 200000"),
        ("en", "two hundred three hundred million", "200 300000000"),
        ("en", "two million three thousand million", "2000000 3000000000"),
        ("en", "two thousand five million", "2000 5000000"),
        ("en", "one thousand nineteen hundred", "1000 1900"),
        ("en", "5 thousand five thousand", "5000 5000"),
        ("en", "two lakh three lakh", "200000 300000"),
        ("en", "two crore five lakh three thousand two hundred", "20503200"),
        ("en", "two hundred three thousand", "203000"),
        ("en", "nineteen hundred, twenty one hundred", "1900 2100"),
        ("en", "hundred thousand, hundred thousand million", "100000 100000000000"),
        ("en", "a million million", "1000000000000"),
        ("fr", "cinq mille cinq mille", "5000 5000"),
        ("fr", "deux cents trois cents", "200 300"),
        ("fr", "mille cent deux mille", "1000 102000"),
        ("fr", "deux millions trois millions", "2000000 3000000"),
        ("de", "fünf tausend fünf tausend", "5000 5000"),
        ("de", "zwei Millionen drei Millionen", "2000000 3000000"),
        ("es", "cien mil doscientos mil", "100000 200000"),
        ("es", "mil mil", "1000 1000"),
        ("es", "dos mil cinco millones", "2005000000"),
        ("nl", "vijf duizend vijf duizend", "5000 5000"),
        ("it", "due milioni tre milioni", "2000000 3000000"),
        ("pt", "dois milhões três milhões", "2000000 3000000"),
        ("da", "to hundrede tre hundrede", "200 300"),
        # ordinals of multipliers
        ("en", "five thousand two thousandth", "5000 2000th"),
        ("en", "one hundred two hundredth", "100 200th"),
        ("en", "five million two millionth", "5000000 2000000th"),
        ("en", "two thousandth five thousand", "2000th 5000"),
        ("en", "5 thousand 2 thousandth", "5000 2000th"),
        ("en", "three hundred three thousandth", "303000th"),
        ("en", "two million three hundred thousandth", "2300000th"),
        ("en", "one thousand five hundredth", "1500th"),
        ("fr", "cinq mille deux millième", "5000 2000e"),
        ("fr", "cinq mille deux centième", "5200e"),
        ("nl", "vijf duizend twee duizendste", "5000 2000e"),
        ("it", "cinque mila due millesimo", "5000 2000o"),
        ("de", "fünf tausend zwei tausendste", "5000 zwei tausendste"),
    ],
)
def test_a_multiplier_that_is_not_smaller_starts_a_number(language, text, expected):
    assert normalise(text, "spoken", language) == expected
    assert normalise(expected, "spoken", language) == expected


CARDINALS = st.builds(
    lambda count, size: count * size, st.integers(1, 999), st.sampled_from([1, 100, 1000, 10**5, 10**6])
) | st.integers(1, 10**9 - 1)


@given(
    st.integers(1, 999),
    st.integers(1, 99),
    st.sampled_from(["hundred", "thousand", "million"]),
    st.sampled_from(["thousand", "million"]),
)
def test_an_english_ordinal_after_a_number_is_not_part_of_it(first, second, size, scale):
    said = f"{in_english(first)} {scale} {in_english(second)} {size}"
    read = normalise(f"{said}th", "spoken", "en")
    cardinal = normalise(said, "spoken", "en")
    assert read == f"{cardinal}th"
    assert normalise(read, "spoken", "en") == read


def without_and(words: str) -> str:
    return words.replace(" and ", " ").replace("-", " ")


def in_hundreds(number: int) -> set[str]:
    """Return the spellings such as `thirty one hundred`, also where those count a scale."""
    spellings = set()
    for size, name in ((10**6, " million"), (1000, " thousand"), (1, "")):
        count, rest = divmod(number, size)
        if 1000 <= count < 10_000 and count // 100 % 10:
            below = f" {in_english(count % 100)}" if count % 100 else ""
            after = f" {in_english(rest)}" if rest else ""
            spellings.add(f"{in_english(count // 100)} hundred{below}{name}{after}")
    return spellings


@given(first=CARDINALS, second=CARDINALS)
def test_two_english_cardinals_are_one_number_only_where_their_words_spell_it(first, second):
    said = f"{in_english(first)} {in_english(second)}"
    read = normalise(said, "spoken", "en").split()
    if len(read) == 1:
        is_year = 10 <= first <= 20 and 10 <= second <= 99
        spellings = {in_english(int(read[0])), *in_hundreds(int(read[0]))}
        assert is_year or without_and(said) in set(map(without_and, spellings))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # no number where there is none
        ("en", "hundreds, thousands, millions", "hundreds thousands millions"),
        ("en", "someone alone any one", "someone alone any one"),
        ("en", "I won one", "i won 1"),
        ("fr", "des millions, deux cents, 2 cents", "des millions 200 2 cents"),
        ("fr", "pour cent personnes", "pour cent personnes"),
        ("nl", "een man, één man, een twee", "een man 1 man 1 2"),
        ("nl", "een een man", "een een man"),
        ("de", "Ein Mann, eins zwei, eine Million", "ein mann 1 2 eine 1000000"),
        ("da", "en mand, en to tre", "en mand 1 2 3"),
        ("it", "un uomo, uno due", "un uomo 1 2"),
        ("pt", "uma casa, dois milhões", "uma casa 2000000"),
        ("es", "un hombre, dos mil", "un hombre 2000"),
        ("hi", "five पाँच", "five पाँच"),
        (None, "fifty 50", "fifty 50"),
        # no two numbers made one, no one number made two
        ("en", "five five five zero one two", "5 5 5 0 1 2"),
        ("en", "twenty three, twenty, three", "23 20 3"),
        ("en", "20 20 vision, 19 84", "20 20 vision 19 84"),
        ("en", "forty thirty", "40 30"),
        ("en", "1,2,3 1,000,2", "1 2 3 1 000 2"),
        ("en", "v1.2.3 192.168.0.1", "v1.2.3 192.168.0.1"),
        ("fr", "1 000", "1 000"),
        ("de", "3,125 3.125 12.05.2024", "3,125 3125 12.05.2024"),
        ("de-CH", "3.5 1'000", "3.5 1000"),
        ("en", "1,000th 2,500km", "1000th 2500km"),
        ("en", "2020-2021, x-5, 5 - 3", "2020 2021 x 5 5 3"),
        # amounts
        ("en", "what percent, dollars, %, $ signs", "what percent dollars signs"),
        ("en", "5 $10 bills", "5 10 $ bills"),
        ("en", "$5-$10, US$5", "5 $ 10 $ us 5 $"),
        ("en", "five pounds and six pence", "5.06 £"),
        ("en", "five pounds and six cents", "5 £ and 6 cents"),
        ("en", "500 rupees fifty paise", "500.50 ₹"),
        ("en", "fifty cents", "50 cents"),
        ("en", "5 EUR, EUR 5, eur", "5 € 5 € eur"),
        ("it", "tre per cento, per cento anni", "3 % per cento anni"),
        ("es", "diez por ciento", "10 %"),
        ("pt", "dez por cento", "10 %"),
        ("te", "50 శాతం ₹500 500 రూపాయలు", "50 % 500 ₹ 500 ₹"),
        # a word far from a number is what it is under plain
        ("en", "Well-known a's b c d e f g h i j TEN", "well known a's b c d e f g h i j 10"),
    ],
)
def test_spoken(language, text, expected):
    assert normalise(text, "spoken", language) == expected


@pytest.mark.parametrize(
    ("tag", "mark"),
    [
        ("en", "."),
        ("hi-IN", "."),
        ("de", ","),
        ("de-CH", "."),
        ("es-ES", ","),
        ("es_419", "."),
        ("ar", "."),
        ("ar-EG", "."),
        ("ara", "."),
        ("ar-MA", ","),
        ("ar_Latn_TN", ","),
        ("xx", None),
        (None, None),
    ],
)
def test_decimal_marks(tag, mark):
    assert decimal_mark(tag) == mark
