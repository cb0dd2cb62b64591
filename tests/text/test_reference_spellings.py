"""The notation for references with several accepted spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.errors import InputError
from misheard.text.alternatives import (
    has_choice,
    parse_alternatives,
    with_spellings,
    without_null_words,
)


def parse(text):
    return parse_alternatives(text, item="u7", split=str.split)


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("", ()),
        ("  ", ()),
        ("a b", ((("a", "b"),),)),
        ("{office / ऑफिस}", ((("office",), ("ऑफिस",)),)),
        (
            "my {office / ऑफिस} is {near by/nearby} .",
            ((("my",),), (("office",), ("ऑफिस",)), (("is",),), (("near", "by"), ("nearby",)), ((".",),)),
        ),
        ("{a}", ((("a",),),)),
        ("x {uh / } y", ((("x",),), (("uh",), ()), (("y",),))),
        ("ab{c/d}e", ((("ab",),), (("c",), ("d",)), (("e",),))),
        ("{a / b}{c / d}", ((("a",), ("b",)), (("c",), ("d",)))),
        ("and/or 1/2", ((("and/or", "1/2"),),)),
        (r"\{a\} \\{b\/c / d\}}", ((("{a}", "\\"),), (("b/c",), ("d}",)))),
        (r"\n \a /", (((r"\n", r"\a", "/"),),)),
    ],
)
def test_slots(text, slots):
    assert parse(text) == slots


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a { b c", r"u7: a brace opens that is not closed \(character 3 of the reference\)"),
        ("a } b", r"u7: a brace closes that was not opened \(character 3 "),
        ("{a / {b / c}}", r"u7: a brace opens inside a slot; slots do not nest \(character 6 "),
        ("x {} y", r"u7: a slot has no word in it \(character 3 "),
        ("{ / }", r"u7: a slot has no word in it \(character 1 "),
        ("{a / b", r"u7: a brace opens that is not closed \(character 1 "),
        (r"{a \}", r"u7: a brace opens that is not closed"),
    ],
)
def test_errors_name_the_item_and_no_text(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse(text)
    assert "secret" not in str(caught.value)


def test_errors_hold_no_text():
    with pytest.raises(InputError) as caught:
        parse("secret {secret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("{um / @}", ((("um",), ()),)),
        ("{um/@/uh}", ((("um",), (), ("uh",)),)),
        ("a @ b", ((("a", "b"),),)),
        ("@{a / b}@", ((("a",), ("b",)),)),
        ("{ @ / @ } x {@}", ((("x",),),)),
        ("x@ @x a@b {x@ / @@}", ((("x@", "@x", "a@b"),), (("x@",), ("@@",)))),
        (r"\{@ a\/@", ((("{@", "a/@"),),)),
    ],
)
def test_the_null_word_stands_for_nothing(text, without):
    assert parse(without_null_words(text)) == without


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {b / c}", True),
        ("{b}", False),
        ("a / b", False),
        (r"\{a / b}", False),
        ("{a / b", False),
        ("", False),
    ],
)
def test_what_could_be_a_choice(text, expected):
    assert has_choice(text) is expected


@pytest.mark.parametrize(
    "text", ["{" * 200_000, "{/" * 100_000, "{" + "/" * 200_000, "{@ " * 70_000 + "@ " * 70_000]
)
def test_hostile_braces_are_looked_through(text):
    assert not has_choice(text)
    assert "{" in without_null_words(text)


def test_normalisation_happens_inside_the_slot():
    assert parse_alternatives("A {B. / C}", item="u", split=lambda text: text.lower().split()) == (
        (("a",),),
        (("b.",), ("c",)),
    )


def test_a_slot_of_which_nothing_is_left_is_dropped():
    assert parse_alternatives(
        "a {. / ,} b", item="u", split=lambda text: [t for t in text.split() if t.isalpha()]
    ) == (
        (("a",),),
        (("b",),),
    )


@given(st.text())
def test_escaped_text_is_itself(text):
    escaped = "".join(f"\\{char}" if char in "{}/\\" else char for char in text)
    words = tuple(text.split())
    assert parse(escaped) == (((words,),) if words else ())
    assert parse(f"{{{escaped} / x}}" if words else "") == (((words, ("x",)),) if words else ())


@pytest.mark.parametrize(
    ("reference", "spellings", "slots"),
    [
        ("my office", {("office",): [("ऑफिस",)]}, ((("my",),), (("office",), ("ऑफिस",)))),
        ("near by x", {("near", "by"): [("nearby",)]}, ((("near", "by"), ("nearby",)), (("x",),))),
        # the longest phrase wins, from the left
        (
            "a b c",
            {("a",): [("1",)], ("a", "b"): [("2",)], ("b", "c"): [("3",)]},
            ((("a", "b"), ("2",)), (("c",),)),
        ),
        ("a a", {("a",): [("a",), ()]}, ((("a",), ()), (("a",), ()))),
        ("a b", {(): [("x",)], ("c",): [("x",)]}, ((("a", "b"),),)),
        ("", {("a",): [("x",)]}, ()),
    ],
)
def test_spellings_beside_the_reference(reference, spellings, slots):
    assert with_spellings(reference.split(), spellings) == slots
