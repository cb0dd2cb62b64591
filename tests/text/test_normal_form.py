"""Normal forms of long runs of marks, against CPython's own."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.text.normal_form import normal_form
from misheard.text.profiles import PROFILES, normalise

MARKS = "\u0301\u0323\u0334\u0345\u093c\u094d\u3099\u309a\u05b0\u0651\u0344\u0f73\u0f75\u0f81\uff9e\uff9f"
LETTERS = "aÅeकか\uff76\u1100\u1161\u0cc6\u0cc2 \u00a8½"
FORMS = ["NFC", "NFKC"]


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.text(LETTERS, max_size=3), st.text(MARKS, min_size=1, max_size=12), st.integers(1, 90)),
        max_size=4,
    )
)
def test_the_form_is_cpythons(form, runs):
    text = "".join(letters + marks * times for letters, marks, times in runs) + "x" * 1_001
    assert normal_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_every_character_that_a_form_makes_into_marks_is_in_runs(form):
    decomposed = {
        code: unicodedata.normalize(f"NF{form[2:-1]}D", chr(code)) for code in range(sys.maxunicode)
    }
    marks = [chr(code) for code, made in decomposed.items() if unicodedata.combining(made[0])]
    text = "a" + "".join(reversed(marks)) * 2
    assert len(text) > 1_000
    assert normal_form(form, text) == unicodedata.normalize(form, text)
    long = f"a{''.join(marks[::-1])}" + "\u0323" * 300
    assert normal_form(form, long) == unicodedata.normalize(form, long)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0f73", "\u094d\u093c", "\uff9e\u0323"])
def test_a_letter_with_very_many_marks_is_read(profile, marks):
    text = "q" + marks * 100_000
    once = normalise(text, profile, "en")
    assert once[0] == "q" and len(once) >= 100_000
    assert normalise(once, profile, "en") == once
