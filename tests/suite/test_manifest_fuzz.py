"""Whatever a manifest holds, loading ends with a suite or a SuiteError."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.errors import SuiteError
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite

HEADER = b"name: a\nversion: 1\nconditions: {noise: [clean, loud]}\ndefaults: {language: en}\n"
ITEM = {"id": "a", "audio": "a.wav", "reference": "b", "conditions": {"noise": "clean"}, "fact": ["c"]}
LINE = json.dumps(ITEM).encode() + b"\n"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
field_names = st.sampled_from(
    ["id", "audio", "wav", "reference", "kind", "fact", "language", "scripts", "session", "entities"]
)
records = st.dictionaries(field_names | st.just("conditions") | st.text(max_size=4), values, max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "a.wav").write_bytes(b"x")
    return folder


def load(path: Path) -> Suite | None:
    try:
        return load_suite(path)
    except SuiteError as error:
        str(error).encode()
        if not error.problems:
            pytest.fail("an error without a problem")
        return None


def load_canonical(folder: Path, header: bytes, items: bytes) -> Suite | None:
    (folder / "suite.yaml").write_bytes(header)
    (folder / "items.jsonl").write_bytes(items)
    return load(folder)


@st.composite
def mutated(draw: st.DrawFn, original: bytes) -> bytes:
    """Bytes with some replaced, removed or put in."""
    out = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(out)))
        end = min(len(out), start + draw(st.integers(0, 4)))
        out[start:end] = draw(
            st.binary(max_size=4) | st.sampled_from([b"{", b"]", b'"', b": ", b"&a ", b"*a", b"!!x "])
        )
    return bytes(out)


def test_the_unchanged_manifest_is_a_suite(folder: Path) -> None:
    assert load_canonical(folder, HEADER, LINE) is not None


@settings(max_examples=300, deadline=None)
@given(header=mutated(HEADER))
def test_mutated_headers(folder: Path, header: bytes) -> None:
    load_canonical(folder, header, LINE)


@settings(max_examples=300, deadline=None)
@given(line=mutated(LINE))
def test_mutated_lines(folder: Path, line: bytes) -> None:
    load_canonical(folder, HEADER, line)


@settings(max_examples=300, deadline=None)
@given(items=st.lists(records | values, max_size=3))
def test_records_of_any_content(folder: Path, items: list[Any]) -> None:
    load_canonical(folder, HEADER, "".join(json.dumps(item) + "\n" for item in items).encode())
    single = folder / "single.json"
    single.write_text(json.dumps({"items": items}))
    load(single)


@settings(max_examples=200, deadline=None)
@given(
    header=st.dictionaries(
        st.sampled_from(["name", "version", "defaults", "conditions", "gate_axes", "glossary"]), values
    )
)
def test_headers_of_any_content(folder: Path, header: dict[str, Any]) -> None:
    load_canonical(folder, json.dumps(header).encode(), LINE)


@settings(max_examples=200, deadline=None)
@given(path=st.text(max_size=20) | st.text("./\\a~:", max_size=8))
def test_paths_stay_inside(folder: Path, path: str) -> None:
    suite = load_canonical(folder, HEADER, json.dumps({**ITEM, "audio": path}).encode())
    if suite is not None:
        audio = suite.audio_path(suite.items[0]).resolve()
        assert audio.is_file()
        assert audio.is_relative_to(folder.resolve())
