"""The truth that a run keeps is the suite's, field by field, and snapshots of older runs are read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from misheard.errors import IncompleteRunError
from misheard.run.directory import read_suite, write_suite
from misheard.suite.items import Item, ItemKind, Suite

SUITE = Suite(
    name="s",
    version="1",
    root=Path("/somewhere"),
    axes={"noise": ("loud", "clean")},
    items=(
        Item("a", "a.wav", "what is it", reference_answer="b", fact=("b",), language="en", scripts=("Latn",),
             session="x", conditions={"noise": "clean"}, entities=("it", "what is"), source="b"),
        Item("n", "n.wav", "", kind=ItemKind.NON_SPEECH),
    ),
    primary_metrics={"en": "mer"},
    abstentions={"en": ("no idea",)},
    gate_axes=("noise",),
    char_scripts=("Deva", "Hani"),
    glossary={"en": ("term",)},
)  # fmt: skip


@pytest.mark.parametrize("char_scripts", [None, (), ("Deva",)])
def test_what_is_written_is_read(tmp_path, char_scripts):
    suite = replace(SUITE, char_scripts=char_scripts)
    write_suite(tmp_path / "suite.jsonl", suite)
    assert read_suite(tmp_path / "suite.jsonl") == suite


def test_snapshots_without_the_later_fields_are_read(tmp_path):
    path = tmp_path / "suite.jsonl"
    write_suite(path, replace(SUITE, char_scripts=None, items=SUITE.items[1:]))
    assert not {"entities", "char_scripts"} & set(path.read_text().replace('"', " ").split())
    assert read_suite(path).items[0].entities == ()


@pytest.mark.parametrize("damage", ["", "{}\n", "not json\n"])
def test_damaged_snapshots_are_refused(tmp_path, damage):
    path = tmp_path / "suite.jsonl"
    path.write_text(damage)
    with pytest.raises(IncompleteRunError, match="damaged"):
        read_suite(path)


def test_axes_keep_their_order(tmp_path):
    write_suite(tmp_path / "suite.jsonl", SUITE)
    first = json.loads((tmp_path / "suite.jsonl").read_text().splitlines()[0])
    assert first["axes"] == [["noise", ["loud", "clean"]]]
