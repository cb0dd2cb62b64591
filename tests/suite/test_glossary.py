"""The glossary of a suite: terms per language, bounded, written again as read, never quoted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_suites import HEADER, rows_of, write_suite

from misheard.errors import SuiteError
from misheard.suite.changes import changes_between
from misheard.suite.header import MAX_TERM_CHARACTERS, MAX_TERMS
from misheard.suite.lock import Lock, make_lock, read_lock, write_lock
from misheard.suite.manifest import load_suite
from misheard.suite.writing import items_jsonl, suite_yaml

TERMS = {"en": ["Kubernetes", "canary term"], "ta": ["உள்நுழைவு"]}


def made(folder: Path, glossary: Any) -> Path:
    return write_suite(folder, rows_of(2), {**HEADER, "glossary": glossary})


def locked(folder: Path, glossary: Any) -> Lock:
    return make_lock(made(folder, glossary))


def test_it_is_read_and_written_again(tmp_path: Path) -> None:
    suite = load_suite(made(tmp_path / "a", TERMS))
    assert suite.glossary == {"en": ("Kubernetes", "canary term"), "ta": ("உள்நுழைவு",)}
    again = tmp_path / "b"
    again.mkdir()
    (again / "suite.yaml").write_text(suite_yaml(suite))
    (again / "items.jsonl").write_text(items_jsonl(suite.items))
    assert replace(load_suite(again, require_audio=False), root=suite.root) == suite


def test_suites_without_one_have_the_fingerprint_of_older_suites(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, rows_of(2)))
    assert "glossary" not in suite.header()
    assert "glossary" not in make_lock(tmp_path).header
    assert "glossary" in replace(suite, glossary={"en": ("x",)}).header()


@pytest.mark.parametrize(
    ("glossary", "message"),
    [
        (["canary"], "glossary must be an object, not a list"),
        ({"en": "canary"}, "glossary.en must be a list of texts, not text"),
        ({"en": ["canary", " "]}, "glossary.en holds an empty text"),
        ({"en": [["canary"]]}, "glossary.en must be text, not a list"),
        ({"en": ["canary", "canary"]}, "glossary.en has a term twice"),
        ({"en": ["fine", "canary\nx"]}, f"glossary.en[1] is not one line of 1 to {MAX_TERM_CHARACTERS}"),
        ({"en": ["canary" * 14]}, f"glossary.en[0] is not one line of 1 to {MAX_TERM_CHARACTERS}"),
        ({"en": [f"canary {n}" for n in range(MAX_TERMS + 1)]}, f"has {MAX_TERMS + 1} terms, more than"),
        ({"english": ["canary"]}, "glossary has the key 'english'"),
    ],
)
def test_each_rule_has_its_own_message(tmp_path: Path, glossary: Any, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(made(tmp_path, glossary))
    (problem,) = caught.value.problems
    assert message in str(problem)
    assert "canary" not in str(problem)


def test_bounds_are_inside(tmp_path: Path) -> None:
    terms = [f"{n:0{MAX_TERM_CHARACTERS}}" for n in range(MAX_TERMS)]
    assert load_suite(made(tmp_path, {"en": terms})).glossary == {"en": tuple(terms)}


def test_the_lock_knows_changes_and_no_term(tmp_path: Path) -> None:
    without, with_one = make_lock(write_suite(tmp_path, rows_of(2))), locked(tmp_path, {"en": ["canary"]})
    other = locked(tmp_path, {"en": ["canary", "more"], "ta": ["canary"]})
    assert [str(c) for c in changes_between(without, with_one).edits] == ["header: glossary of 'en' changed"]
    changes = changes_between(with_one, other)
    assert [str(c) for c in changes.allowed] == ["header: glossary of 'ta' added"]
    assert [str(c) for c in changes.edits] == ["header: glossary of 'en' changed"]
    write_lock(tmp_path / "suite.lock", other)
    assert read_lock(tmp_path / "suite.lock") == other
    assert b"canary" not in (tmp_path / "suite.lock").read_bytes()
    assert changes_between(other, locked(tmp_path, {})).edits
