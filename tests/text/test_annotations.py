"""What becomes of transcribers' annotations."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.text.profiles import PROFILES, normalise

BRACKETED = st.text(st.sampled_from("ab 1.()[]{}<>-_'हि\u0301²|/"), max_size=24)


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("keep", "ok (laughs) [noise] <unk> {cough}", "ok laughs noise unk cough"),
        ("remove", "ok (laughs) [noise] <unk> {cough}", "ok"),
        ("token", "ok (laughs) [Noise] <UNK> {cough}", "ok <laughs> <noise> <unk> <cough>"),
        ("remove", "(laughs)", ""),
        ("remove", "well(laughs)then", "well then"),
        ("token", "well(laughs)then", "well <laughs> then"),
        (
            "token",
            "[हँसी] <|en|> [background noise] [speaker_change]",
            "<हँसी> <en> <background-noise> <speaker-change>",
        ),
        ("remove", "a (b (c) d) e", "a e"),
        # text, not annotations
        ("remove", "(555) [3] <5>", "555 3 5"),
        ("remove", "a < b and c > d", "a b and c d"),
        ("remove", "( ) [] (...) a)", "a"),
        ("remove", "(he said, yes.) (why?)", "he said yes why"),
        ("remove", f"({'long ' * 20}) x", f"{'long ' * 20}x"),
        ("remove", "(unclosed a) b) (c", "b c"),
    ],
)
def test_annotations(option, text, expected):
    assert normalise(text, "plain", annotations=option) == expected


def test_exact_and_nfc_keep_the_rest_as_it_is():
    assert normalise("A (Laughs)  B.", "exact", annotations="token") == "A <laughs>  B."
    assert normalise("A(Laughs)  B.", "nfc", annotations="token") == "A <laughs> B."
    assert normalise("A (Laughs)  B.", "nfc", annotations="remove") == "A B."
    assert normalise("A (Laughs)", "nfc") == "A (Laughs)"


def test_numbers_do_not_join_across_a_token():
    assert normalise("twenty [pause] three", "spoken", "en", annotations="token") == "20 <pause> 3"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("option", ["keep", "remove", "token"])
@given(text=BRACKETED)
@example("<(a)b>")
@example("((a) b)")
def test_all_options_are_idempotent(profile, option, text):
    once = normalise(text, profile, "en", annotations=option)
    assert normalise(once, profile, "en", annotations=option) == once


def test_an_unknown_option_is_an_error():
    with pytest.raises(InputError, match="annotations 'drop' is not known; use one of: keep, remove, token"):
        normalise("a", "plain", annotations="drop")
