import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.text.profiles import PROFILES, normalise, profile_named

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("profile", "text", "expected"),
    [
        ("exact", " Cafe\u0301\t\tLatte. ", " Cafe\u0301\t\tLatte. "),
        ("nfc", " Cafe\u0301\t\tLatte. ", "Caf\u00e9 Latte."),
        ("nfc", "a\u00a0\u2003b\u3000c\x1fd\r\ne", "a b c d e"),
        ("nfc", "a\u200bb", "a\u200bb"),
        ("nfc", "ﬁ ² Ａ", "ﬁ ² Ａ"),  # compatibility forms stay
        ("nfc", "నేను", "నేను"),
        ("nfc", "\ud800 x", "\ud800 x"),
        ("nfc", " \t\n", ""),
        ("plain", " Hello,\tWORLD! ", "hello world"),
        ("plain", "cafe\u0301 CAFÉ", "café café"),
        ("plain", "don’t don‘t donʼt don`t don´t don＇t", " ".join(["don't"] * 6)),
        ("plain", "''quoted'' rock'n'roll 'n' a''b", "quoted rock'n'roll n a b"),
        (
            "plain",
            "3.14 3,14 1.000,5 a.b 3. .5 -.5 x.5 3..4 ٣٫١٤",
            "3.14 3,14 1.000,5 a b 3 .5 .5 x 5 3 4 ٣.١٤",
        ),
        ("plain", "a_b c/d e–f g\u00a0h", "a b c d e f g h"),
        ("plain", "5️⃣ ❤️ 👨‍👩‍👧", "5"),
        ("plain", "co\u00adop\u2060era\ufefftion a\u200bb", "cooperation a b"),
        ("plain", "\u202eabc\u202c \u200eabc", "abc abc"),
        ("plain", "e\u034f\u0301", "é"),
        ("plain", "۔۔۔ ।॥ 。、", ""),
        ("plain", "¨ a´ ﾞ", "a \u3099"),
        ("plain", "क\u094d\u200dष क\u094d\u200cष \u0958", "क्ष क्ष क\u093c"),
        ("plain", "ক্‍ষ ত্‍", "ক্ষ ৎ"),
        ("plain", "ันี้ ๕", "ันี้ ๕"),
        ("plain", "ひらがな カタカナ ｶﾞ 々", "ひらがな カタカナ ガ 々"),
        ("plain", "ـمـ لَا ﻻ", "ـمـ لَا لا"),
        ("plain", "İstanbul Σίσυφος", "i̇stanbul σίσυφοσ"),
        ("plain", "\x00a\x07b\x1fc", "a b c"),
        ("plain", "\ud800x \udfff \ue000 \u0378", "\ud800x \udfff \ue000 \u0378"),
        ("plain", "St. John no no no one", "st john no no no one"),
    ],
)
def test_profiles(profile, text, expected):
    assert normalise(text, profile) == expected


@pytest.mark.parametrize("profile", PROFILES)
@given(text=ANY_TEXT)
@example("\u0958")
@example("\u2000\u0301 \u0344")
@example("\u0345\u0301\u03b1")
@example("\u0d23\u0d4d\u200d\u200d e\u034f\u0301")
@example("1\u00b2\u00b3 \u2460\u2461")
def test_profiles_are_idempotent(profile, text):
    once = normalise(text, profile)
    assert normalise(once, profile) == once


def test_profiles_carry_a_version():
    versions = {"exact": 1, "nfc": 1, "plain": 1, "spoken": 3}
    assert {profile.name: profile.version for profile in PROFILES.values()} == versions


def test_an_unknown_profile_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"'plane' is not known; use one of: exact, nfc, plain, spoken"):
        profile_named("plane")


@given(before=ANY_TEXT, after=ANY_TEXT)
@pytest.mark.parametrize("profile", ["nfc", "plain"])
def test_a_profile_is_the_same_for_parts_between_spaces(profile, before, after):
    parts = [normalise(before, profile), normalise(after, profile)]
    assert normalise(f"{before} {after}", profile) == " ".join(filter(None, parts))


def test_plain_keeps_every_combining_mark_but_ignorable_ones():
    lost = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char) in ("Mn", "Mc") and normalise(f"क{char}", "plain") == "क"
    ]
    assert all(unicodedata.normalize("NFKC", char) in IGNORABLE_MARKS for char in lost)


IGNORABLE_MARKS = frozenset(
    [
        *["\u034f", "\u17b4", "\u17b5", "\u180b", "\u180c", "\u180d", "\u180f"],
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    ]
)


@pytest.mark.slow
def test_every_character_is_settled_after_one_folding():
    for char in map(chr, range(0x110000)):
        for text in (char, f"a{char}b", f"1{char}2"):
            once = normalise(text, "plain")
            assert normalise(once, "plain") == once
