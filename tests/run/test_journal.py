"""The journal: a batch is there whole or not at all, whatever byte the writer was killed at."""

import json
from pathlib import Path

import pytest

from misheard.errors import IncompleteRunError
from misheard.run.journal import Journal, read_batches

BATCHES = [
    ("start:0", [], {"load_seconds": 1.5}),
    ("batch:0", [{"item": "a", "text": "hé\u2028llo \ud800"}, {"item": "b", "text": ""}], {"seconds": 0.25}),
    ("batch:1", [{"item": "c", "commit-like": "commit"}], {}),
]


def write_all(path: Path) -> None:
    journal = Journal(path)
    for name, rows, note in BATCHES:
        journal.commit(name, rows, note)
    journal.close()


def names(path: Path) -> list[str]:
    return [batch.name for batch in read_batches(path)]


def test_what_was_committed_comes_back(tmp_path: Path) -> None:
    write_all(tmp_path / "j.jsonl")
    found = [(batch.name, list(batch.rows), batch.note) for batch in read_batches(tmp_path / "j.jsonl")]
    assert found == BATCHES


def test_killed_at_any_byte_and_resumed_the_file_is_the_same(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    write_all(whole)
    content = whole.read_bytes()
    for cut in range(len(content) + 1):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(content[:cut])
        journal = Journal(path)
        kept = list(journal.committed)
        assert kept == [name for name, _, _ in BATCHES][: len(kept)]
        for name, rows, note in BATCHES[len(kept) :]:
            journal.commit(name, rows, note)
        journal.close()
        assert path.read_bytes() == content, cut


@pytest.mark.parametrize("tail", [b"\x00\x00\x00\n", b"[1, 2]\n", b"\xff\xfe\n", b'{"item": "a"}\n{"comm'])
def test_garbage_after_the_last_commit_is_cut_off(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "j.jsonl"
    write_all(path)
    content = path.read_bytes()
    path.write_bytes(content + tail)
    assert names(path) == [name for name, _, _ in BATCHES]
    Journal(path).close()
    assert path.read_bytes() == content


def test_a_commit_is_one_line_of_ascii_json_per_row(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write_all(path)
    lines = path.read_text("ascii").splitlines()
    assert len(lines) == 3 + 3
    assert all(isinstance(json.loads(line), dict) for line in lines)


def test_a_journal_that_was_never_begun_is_named(tmp_path: Path) -> None:
    with pytest.raises(IncompleteRunError, match=r"j\.jsonl"):
        list(read_batches(tmp_path / "j.jsonl"))
