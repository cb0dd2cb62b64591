"""Alignments on a terminal: columns, width, wide characters, right-to-left words, what cannot be seen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from misheard.report.terminal_alignment import alignment_lines
from misheard.report.terminal_score import isolated, visible
from misheard.scoring.alignments import align_tokens

FSI, PDI = "\u2068", "\u2069"


def plain(reference: str, hypothesis: str, width: int = 80) -> list[str]:
    return [
        line.plain for line in alignment_lines(align_tokens(reference.split(), hypothesis.split()), width)
    ]


def test_columns_stand_below_each_other() -> None:
    assert plain("the cat sat", "the bat sat down") == [
        "REF: the cat sat ****",
        "HYP: the bat sat down",
        "         S       I",
    ]


def test_wide_characters_take_two_cells() -> None:
    assert plain("我 你", "我 them") == ["REF: 我 你", "HYP: 我 them", "        S"]


def test_rows_wrap_at_the_width() -> None:
    lines = plain("one two three four five", "one two tree four", 24)
    assert lines == [
        "REF: one two three four",
        "HYP: one two tree  four",
        "             S",
        "REF: five",
        "HYP: ****",
        "     D",
    ]


def test_right_to_left_words_keep_their_columns() -> None:
    reference, hypothesis, marks = plain("a שלום b", "a שלומ b")
    assert reference == f"REF: a {FSI}שלום{PDI} b"
    assert hypothesis == f"HYP: a {FSI}שלומ{PDI} b"
    assert marks == "       S"


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("a\u202eb", "a\\u202eb"), ("\x1b[31m", "\\x1b[31m"), ("\ud800", "\\ud800"),
        ("a\u200bb", "a\\u200bb"),
        ("\u2066x", "\\u2066x"), ("क्\u200dष", "क्\u200dष"), ("é", "é"), ("[bold]", "[bold]"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_escaped(token: str, shown: str) -> None:
    assert visible(token) == shown
    assert plain(token, token)[0] == f"REF: {shown}"


def test_a_mark_alone_gets_something_to_stand_on() -> None:
    lines = alignment_lines(align_tokens("कि", "का"), 80)
    assert lines[0].plain == "REF: क ◌ि"


def test_left_to_right_words_are_not_isolated() -> None:
    assert isolated("über") == "über"
    assert isolated("٣") == f"{FSI}٣{PDI}"


def test_operations_have_colours() -> None:
    lines = alignment_lines(align_tokens(["a", "b"], ["x", "a", "c"]), 80)
    styles = {str(span.style) for line in lines for span in line.spans}
    assert any("yellow" in style for style in styles)
    assert any("cyan" in style for style in styles)


words = st.lists(
    st.text(st.characters(exclude_categories=["Z", "Cc", "Cs"]), min_size=1, max_size=5), max_size=12
)


@settings(deadline=None, max_examples=100)
@given(words, words, st.integers(20, 90))
def test_lines_are_no_wider_than_asked_for(reference: list[str], hypothesis: list[str], width: int) -> None:
    lines = [line.plain for line in alignment_lines(align_tokens(reference, hypothesis), width)]
    for line in lines:
        bare = line.replace(FSI, "").replace(PDI, "")
        assert cell_len(bare) <= max(width, 5 + max(len(t) * 10 for t in (*reference, *hypothesis)))
        assert bare.isprintable() or any(char in bare for char in "\u200c\u200d")
