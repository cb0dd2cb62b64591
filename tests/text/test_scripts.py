"""Scripts of characters, foreign characters, and how much a text mixes languages."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.text.scripts import (
    code_mixing_index,
    code_switch_density,
    expanded_scripts,
    foreign_characters,
    foreign_share,
    is_unspaced,
    script_of,
    scripts_of,
)
from misheard.text.tokenisers import mixed

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("character", "script"),
    [
        *[
            ("a", "Latn"),
            ("é", "Latn"),
            ("п", "Cyrl"),
            ("क", "Deva"),
            ("ి", "Telu"),
            ("ൻ", "Mlym"),
            ("த", "Taml"),
        ],
        *[("我", "Hani"), ("々", "Hani"), ("か", "Hira"), ("カ", "Kana"), ("한", "Hang"), ("ท", "Thai")],
        *[
            ("۔", "Arab"),
            ("5", "Zyyy"),
            ("५", "Deva"),
            ("!", "Zyyy"),
            ("।", "Zyyy"),
            ("ー", "Zyyy"),
            ("😀", "Zyyy"),
        ],
        *[("\u0301", "Zinh"), ("\u064b", "Zinh"), ("\u200d", "Zinh"), ("\ud800", "Zzzz"), ("\ue000", "Zzzz")],
    ],
)
def test_script_of_a_character(character, script):
    assert script_of(character) == script


def test_scripts_of_a_text_are_counted_in_order_of_appearance():
    assert list(scripts_of("मुझे coffee 2 चाहिए!").items()) == [("Deva", 9), ("Latn", 6)]
    assert scripts_of("2 + 2 = 4 \u0301") == {}


@pytest.mark.parametrize(
    ("allowed", "text", "foreign"),
    [
        (["Latn"], "hello there привет", "привет"),
        (["Deva", "Latn"], "मुझे coffee 2 चाहिए!", ""),
        (["Telu"], "۔۔۔", "۔۔۔"),
        (["Deva"], "नमस्ते hello", "hello"),
        (["Jpan"], "東京タワーへ行く", ""),
        (["Hira"], "東京へ", "東京"),
        (["Kore"], "한국 韓國 abc", "abc"),
        (["Hans"], "我们 にほん", "にほん"),
        (["Hant", "Latn"], "我想喝 latte", ""),
        (["Latn"], "cafe\u0301 5 € 😀 — “x”", ""),
        ([], "ab 1", "ab"),
        (["Latn"], "a\ud800", "\ud800"),
    ],
)
def test_foreign_characters(allowed, text, foreign):
    assert foreign_characters(text, allowed) == list(foreign)


@given(text=ANY_TEXT, allowed=st.sets(st.sampled_from(["Latn", "Hani", "Deva", "Arab"])))
def test_foreign_is_what_the_definition_says(text, allowed):
    assert foreign_characters(text, allowed) == [
        char for char in text if script_of(char) not in {"Zyyy", "Zinh", *allowed}
    ]


def test_the_share_of_foreign_characters():
    assert foreign_share("abcд 12", ["Latn"]) == 0.25
    assert foreign_share("12 !", ["Latn"]) is None


@pytest.mark.parametrize("code", ["latn", "Xxxx", "Zzzz", "Deva}|.", ""])
def test_an_unknown_script_is_an_error(code):
    with pytest.raises(InputError, match="is not known; use ISO 15924 codes"):
        foreign_characters("abc", ["Latn", code])


def test_writing_systems_are_taken_apart():
    assert expanded_scripts(["Latn", "Jpan", "Hani"]) == ("Hani", "Hira", "Kana", "Latn")


def test_every_letter_has_a_script():
    letters = (char for char in map(chr, range(0x110000)) if unicodedata.category(char)[0] == "L")
    assert [char for char in letters if script_of(char) == "Zzzz"] == []


def test_scripts_without_spaces_agree_with_the_property():
    unspaced = {"Hani", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr"}
    folded = (char for char in map(chr, range(0x110000)) if unicodedata.is_normalized("NFKC", char))
    letters = (char for char in folded if unicodedata.category(char)[0] in "LM")
    assert [
        char
        for char in letters
        if script_of(char) not in ("Zyyy", "Zinh") and is_unspaced(char) is not (script_of(char) in unspaced)
    ] == []


@pytest.mark.parametrize(
    ("tokens", "languages", "index"),
    [
        ("a b c d", None, 0),
        ("मुझे coffee चाहिए", None, 100 / 3),
        ("मुझे coffee चाहिए 2 !", None, 100 / 3),  # of no language: left out
        ("a क", None, 50),
        ("a क 我", None, 200 / 3),
        ("東京 タワー へ", None, 0),  # Han and kana are one
        ("1 2 !", None, 0),
        ("", None, 0),
        ("yaar this is mast Delhi", ["hi", "en", "en", "hi", None], 50),
        ("yaar this is mast", ["hi", "en", "en", "en"], 25),
    ],
)
def test_the_code_mixing_index(tokens, languages, index):
    assert code_mixing_index(tokens.split(), languages) == pytest.approx(index)


def test_the_code_mixing_index_of_mixed_tokens():
    assert code_mixing_index(mixed("我想喝latte")) == 25


def test_a_language_for_each_token():
    with pytest.raises(ValueError, match="2 tokens but 1 languages"):
        code_mixing_index(["a", "b"], ["en"])


@pytest.mark.parametrize(
    ("index", "density"),
    [
        *[
            (0, "none"),
            (0.1, "low"),
            (15, "low"),
            (15.1, "medium"),
            (30, "medium"),
            (30.1, "high"),
            (99, "high"),
        ],
    ],
)
def test_densities(index, density):
    assert code_switch_density(index) == density
