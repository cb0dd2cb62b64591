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
    ],
)
def test_profiles(profile, text, expected):
    assert normalise(text, profile) == expected


@pytest.mark.parametrize("profile", PROFILES)
@given(text=ANY_TEXT)
@example("\u0958")
@example("\u2000\u0301 \u0344")
def test_profiles_are_idempotent(profile, text):
    once = normalise(text, profile)
    assert normalise(once, profile) == once


def test_profiles_carry_a_version():
    assert {(profile.name, profile.version) for profile in PROFILES.values()} == {("exact", 1), ("nfc", 1)}


def test_an_unknown_profile_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"'plane' is not known; use one of: exact, nfc"):
        profile_named("plane")
