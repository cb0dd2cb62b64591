"""Fingerprints change with truth, audio and header, and with nothing else."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from misheard.suite.fingerprint import item_sha256, suite_sha256
from misheard.suite.items import Item, ItemKind, Suite

ITEM = Item(id="a", audio="a.wav", reference="b c", fact=("d",), conditions={"noise": "clean", "mic": "near"})
SUITE = Suite("s", "1", Path("/somewhere"), {"noise": ("clean",)}, (ITEM,))


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"reference": "b  c"},
        {"kind": ItemKind.NON_SPEECH},
        {"reference_answer": ""},
        {"fact": ("d", "e")},
        {"entities": ("c",)},
        {"language": "en"},
        {"scripts": ("Latn",)},
        {"session": "s"},
        {"conditions": {"noise": "clean"}},
    ],
)
def test_an_edit_of_the_truth_changes_the_item(change: dict[str, Any]) -> None:
    assert item_sha256(replace(ITEM, **change), "x") != item_sha256(ITEM, "x")


def test_other_audio_changes_the_item() -> None:
    assert len({item_sha256(ITEM, "x"), item_sha256(ITEM, "y"), item_sha256(ITEM, None)}) == 3


def test_place_and_order_of_conditions_change_nothing() -> None:
    moved = replace(ITEM, audio="other/a.flac", conditions={"mic": "near", "noise": "clean"})
    assert item_sha256(moved, "x") == item_sha256(ITEM, "x")
    assert suite_sha256(replace(SUITE, root=Path("/elsewhere")), ["x"]) == suite_sha256(SUITE, ["x"])


@pytest.mark.parametrize(
    "change",
    [
        {"name": "t"},
        {"version": "2"},
        {"axes": {"noise": ("clean", "loud")}},
        {"primary_metrics": {"en": "wer"}},
        {"abstentions": {"en": ("no idea",)}},
        {"gate_axes": ("noise",)},
        {"char_scripts": ("Deva",)},
        {"char_scripts": ()},
        {"glossary": {"en": ("b",)}},
    ],
)
def test_an_edit_of_the_header_changes_the_suite(change: dict[str, Any]) -> None:
    assert suite_sha256(replace(SUITE, **change), ["x"]) != suite_sha256(SUITE, ["x"])


def test_what_older_suites_could_not_say_leaves_their_fingerprints_alone() -> None:
    assert "entities" not in replace(ITEM, entities=()).truth()
    assert "char_scripts" not in replace(SUITE, char_scripts=None).header()
    assert "glossary" not in replace(SUITE, glossary={}).header()


def test_items_and_their_order_change_the_suite() -> None:
    two = replace(SUITE, items=(ITEM, replace(ITEM, id="b")))
    assert suite_sha256(two, ["x", "y"]) != suite_sha256(two, ["y", "x"])


def test_every_item_needs_a_hash() -> None:
    with pytest.raises(ValueError, match="1 items, but 0 hashes"):
        suite_sha256(SUITE, [])


def test_the_fingerprint_is_that_of_canonical_json() -> None:
    text = (
        '{"audio":"x","item":{"conditions":{},"fact":[],"id":"a","kind":"speech","language":null,'
        '"reference":"\\u00e4","reference_answer":null,"scripts":[],"session":null}}'
    )
    assert item_sha256(Item("a", "a.wav", "ä"), "x") == hashlib.sha256(text.encode()).hexdigest()
