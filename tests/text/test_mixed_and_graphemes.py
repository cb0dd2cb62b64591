"""The tokenisers that depend on Unicode properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.text.tokenisers import (
    DEFAULT_CHAR_SCRIPTS,
    INDIC_SCRIPTS,
    TOKENISERS,
    chars,
    graphemes,
    mixed,
    mixed_tokeniser,
    tokeniser_named,
    words,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("text", "scripts", "tokens"),
    [
        ("我想喝latte", None, ["我", "想", "喝", "latte"]),
        ("我想喝辣椒", None, ["我", "想", "喝", "辣", "椒"]),
        ("我 想 買 iphone case", None, ["我", "想", "買", "iphone", "case"]),
        ("latte我iPhone15手機", None, ["latte", "我", "iPhone15", "手", "機"]),
        ("「我。」 2024年", None, ["「", "我", "。", "」", "2024", "年"]),
        ("コーヒー", None, ["コ", "ー", "ヒ", "ー"]),
        ("ไทย ทย", None, ["ไ", "ท", "ย", "ท", "ย"]),
        ("မြန် ລາວ ខ្មែរ ㄅㄆ", None, [*"မြန်", *"ລາວ", *"ខ្មែរ", *"ㄅㄆ"]),
        ("한국어 привет", None, ["한국어", "привет"]),
        # signs of several scripts stay in a word
        ("мʼята col·legi cafe\u0301 a\u200db", None, ["мʼята", "col·legi", "cafe\u0301", "a\u200db"]),
        # and are code points after a character
        ("か\u3099 我\u0301", None, ["か", "\u3099", "我", "\u0301"]),
        ("我\u3000想\x1f喝", None, ["我", "想", "喝"]),
        ("\ud800我", None, ["\ud800", "我"]),
        ("मुझे coffee चाहिए", None, ["मुझे", "coffee", "चाहिए"]),
        ("मुझे coffee", ["Deva"], ["म", "ु", "झ", "े", "coffee"]),
        ("क्\u200dय ५।", ["Deva"], ["क", "्", "\u200d", "य", "५", "।"]),
        ("என் phone నా", ["Taml", "Telu"], ["எ", "ன", "்", "phone", "న", "ా"]),
        ("我 かな カナ", ["Jpan"], ["我", "か", "な", "カ", "ナ"]),
        ("ab क", ["Latn"], ["a", "b", "क"]),
        ("ab 我", [], ["ab", "我"]),
    ],
)
def test_mixed(text, scripts, tokens):
    assert (mixed(text) if scripts is None else mixed(text, scripts)) == tokens


@given(ANY_TEXT)
def test_mixed_loses_nothing_and_lies_between_words_and_characters(text):
    tokens = mixed(text)
    assert "".join(tokens) == "".join(words(text))
    assert len(words(text)) <= len(tokens) <= len(chars(text))
    assert mixed(text, []) == words(text)


@given(st.text("नमस्ते आप \u200c\u200d"))
def test_one_script_by_character_is_characters(text):
    text = "".join(text.split())
    if text[:1].isalpha():
        assert mixed(text, INDIC_SCRIPTS) == chars(text)


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("नमस्ते", ["न", "म", "स्ते"]),
        ("cafe\u0301 é", ["c", "a", "f", "e\u0301", "é"]),
        ("👨‍👩‍👧 🇮🇳🇯🇵 👍🏽", ["👨‍👩‍👧", "🇮🇳", "🇯🇵", "👍🏽"]),
        ("한국 \u1112\u1161\u11ab", ["한", "국", "\u1112\u1161\u11ab"]),
        ("a \u0301b\r\nc", ["a", "\u0301", "b", "c"]),
        ("\ud800a \ud800", ["\ud800", "a", "\ud800"]),
        ("a b", ["a", "b"]),
    ],
)
def test_graphemes(text, clusters):
    assert graphemes(text) == clusters


@given(ANY_TEXT)
def test_graphemes_lose_nothing_and_are_no_more_than_characters(text):
    clusters = graphemes(text)
    assert "".join(clusters) == "".join(words(text))
    assert len(words(text)) <= len(clusters) <= len(chars(text))


def test_a_mixed_tokeniser_of_other_scripts_says_so():
    assert mixed_tokeniser().name == mixed_tokeniser(reversed(DEFAULT_CHAR_SCRIPTS)).name == "mixed"
    hindi = mixed_tokeniser(["Deva"])
    assert (hindi.name, hindi.split("क a")) == ("mixed[Deva]", ["क", "a"])


def test_unknown_scripts_are_refused():
    with pytest.raises(InputError, match="script 'deva' is not known"):
        mixed_tokeniser(["deva"])


def test_tokenisers_by_name():
    assert [tokeniser_named(name).name for name in TOKENISERS] == ["words", "chars", "graphemes", "mixed"]
    with pytest.raises(InputError, match=r"'word' is not known; use one of: words, chars, graphemes, mixed"):
        tokeniser_named("word")
