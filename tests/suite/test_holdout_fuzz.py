"""Whatever stands in split.json, suite.lock, openings.jsonl or the manifest beside them, loading ends.

It ends with a suite that accounts for every line of the manifest, or with a MisheardError that holds none of
its text; nothing outside the suite's folder is opened; and an item that the split seals is loaded by nothing.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_suites import read_rows, rows_of, sets_of, write_suite

import misheard
from misheard.errors import MisheardError
from misheard.suite.dividing import extend_suite, split_suite
from misheard.suite.holdout import open_holdout, use_opening
from misheard.suite.lock import make_lock, write_lock
from misheard.suite.locked import check_lock
from misheard.suite.manifest import load_suite
from misheard.suite.selection import SetName
from misheard.suite.sidecars import sidecars
from misheard.suite.splitting import Shares

# A mutation may move a reference into the place of a path, which messages name up to a length. Three edits
# take out 90 characters at the most, so that the canary behind this never stands within that length.
PADDING = "say " * 40

CODE = [Path(place).resolve() for place in (sys.prefix, sys.base_prefix, Path(misheard.__file__).parents[2])]
NAMES = ("split.json", "suite.lock", "openings.jsonl", "items.jsonl", "suite.yaml")

_opened: list[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(arguments[0], str):
        _opened.append(arguments[0])


sys.addaudithook(_note)


@contextmanager
def opening_nothing_outside(folder: Path) -> Iterator[None]:
    """Fail where a file outside the folder is opened, but for what modules that are imported late bring."""
    global _opened
    _opened = []
    allowed = [folder.resolve(), *CODE]
    try:
        yield
        paths = [Path(name).resolve() for name in _opened]
        assert [path for path in paths if not any(path.is_relative_to(root) for root in allowed)] == []
    finally:
        _opened = None


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "reference": PADDING + row["reference"]} for row in rows_of(20, 1)]
    root = write_suite(tmp_path_factory.mktemp("pristine") / "suite", rows)
    split_suite(root, Shares(0.05, 0.2, 0.1), 1)
    write_lock(sidecars(root).lock, make_lock(root))
    open_holdout(root, "one")
    use_opening(root, "run")
    return root


@pytest.fixture(scope="module")
def folder(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fuzzed") / "suite"
    shutil.copytree(pristine, root)
    return root


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, list[tuple[float, float, bytes]]]:
    """A file's name and what to replace in it: where it starts, how long it is, and the new bytes."""
    pieces = st.binary(max_size=4) | st.sampled_from(
        [b"{", b"]", b'"', b": ", b",", b"null", b"1e999", b"NaN", b"../", b"holdout", b"rolling", b"retired",
         b"\\ud800", b"\xff", b"\n", b"q00-0", b"session:s01", b"item:q01-0", b"[[[["]
    )  # fmt: skip
    edit = st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 4, 30, 1e9]), pieces)
    return draw(st.sampled_from(NAMES)), draw(st.lists(edit, min_size=1, max_size=3))


def apply(raw: bytes, edits: list[tuple[float, float, bytes]]) -> bytes:
    for place, length, new in edits:
        start = int(place * len(raw))
        raw = raw[:start] + new + raw[start + int(length) :]
    return raw


def attempt(action: Any, *arguments: Any) -> Any:
    try:
        return action(*arguments)
    except MisheardError as error:
        message = str(error)
    message.encode()
    assert "canary" not in message
    return None


@pytest.mark.slow
@settings(max_examples=700, deadline=None)
@given(change=mutated())
def test_mutated_files_beside_and_in_the_manifest(
    pristine: Path, folder: Path, change: tuple[str, list[tuple[float, float, bytes]]]
) -> None:
    name, edits = change
    for other in NAMES:
        shutil.copyfile(pristine / other, folder / other)
    (folder / name).write_bytes(apply((pristine / name).read_bytes(), edits))
    sealed = {item for item, set_ in sets_of(pristine).items() if set_ == "holdout"}
    before = (folder / name).read_bytes()
    with opening_nothing_outside(folder):
        suite = attempt(load_suite, folder)
        if suite is not None:
            lines = (folder / "items.jsonl").read_text("utf-8").replace("\r", "\n").split("\n")
            left_out = {} if suite.selection is None else suite.selection.left_out
            assert len(suite.items) + len(left_out) == sum(1 for line in lines if line.strip(" \t\ufeff"))
            if name != "split.json":
                assert not sealed & {item.id for item in suite.items}
        state = attempt(check_lock, folder)
        if state is not None and name in ("items.jsonl", "split.json"):
            # What still fits the lock seals what it sealed.
            assert suite is not None and not sealed & {item.id for item in suite.items}
        attempt(make_lock, folder)
        attempt(open_holdout, folder, "why")
    assert name == "openings.jsonl" or (folder / name).read_bytes() == before


@settings(max_examples=150, deadline=None)
@given(change=mutated())
def test_mending_a_mutated_split_never_unseals(
    pristine: Path, folder: Path, change: tuple[str, list[tuple[float, float, bytes]]]
) -> None:
    name, edits = change
    for other in NAMES:
        shutil.copyfile(pristine / other, folder / other)
    (folder / name).write_bytes(apply((pristine / name).read_bytes(), edits))
    extended = attempt(extend_suite, folder, SetName.ROLLING)
    if extended is None or name == "split.json":
        return
    found = {item: unit.set for unit in extended.division.split.units.values() for item in unit.items}
    for item, set_ in sets_of(pristine).items():
        assert found.get(item, set_) == set_
    assert {row["id"] for row in read_rows(folder)} == set(found)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["holdout", "q00-0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_split_locks_and_logs_of_any_content(pristine: Path, folder: Path, data: st.DataObject) -> None:
    for other in NAMES:
        shutil.copyfile(pristine / other, folder / other)
    name = data.draw(st.sampled_from(NAMES[:3]))
    lines = (pristine / name).read_text().splitlines() if name.endswith("jsonl") else None
    document = json.loads(lines[0] if lines else (pristine / name).read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        place = document
        while True:
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict) or not place[key] or data.draw(st.booleans()):
                place[key] = data.draw(values)
                break
            place = place[key]
    text = json.dumps(document)
    (folder / name).write_text("\n".join([text, *lines[1:]]) if lines else text)
    suite = attempt(load_suite, folder)
    if suite is not None:
        assert suite.selection is not None
        assert len(suite.items) + len(suite.selection.left_out) == 20
    attempt(check_lock, folder)
    attempt(open_holdout, folder, "why")
