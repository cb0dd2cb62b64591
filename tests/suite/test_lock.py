"""Locks: a fingerprint of every part; additions pass, every edit has a name, no text is in them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_suites import HEADER, read_rows, rows_of, write_suite

import command_line
from misheard.canonical import sha256_json
from misheard.errors import InputError, NotComparableError, SuiteError
from misheard.suite.changes import changes_between
from misheard.suite.comparing import compare_states
from misheard.suite.dividing import extend_suite, rotate_suite, split_suite
from misheard.suite.lock import ASPECTS, make_lock, read_lock, write_lock
from misheard.suite.locked import check_lock
from misheard.suite.selection import SetName
from misheard.suite.sidecars import sidecars
from misheard.suite.splitting import Shares

ANSWERED = {"reference_answer": "canary answer", "fact": ["canary fact"], "entities": ["canary"]}


def rows() -> list[dict[str, Any]]:
    return [{**row, **ANSWERED} for row in rows_of(30)]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite", rows())


def said(root: Path, change: Any) -> tuple[list[str], list[str]]:
    """Apply a change to the rows of a suite; return what is allowed and what is an edit."""
    before = make_lock(root)
    changed = read_rows(root)
    change(changed)
    write_suite(root, changed)
    changes = changes_between(before, make_lock(root, require_audio=False))
    return [str(c) for c in changes.allowed], [str(c) for c in changes.edits]


@pytest.mark.parametrize(
    ("change", "edit"),
    [
        (lambda rows: rows[0].update(reference="canary other"), "reference changed"),
        (lambda rows: rows[0].update(reference_answer="x"), "answer changed"),
        (lambda rows: rows[0].update(fact=["x"]), "answer changed"),
        (lambda rows: rows[0].pop("fact"), "answer changed"),
        (lambda rows: rows[0].update(entities=["canary 0"]), "entities changed"),
        (lambda rows: rows[0].update(conditions={"noise": "clean"}), "conditions changed"),
        (lambda rows: rows[0].update(session="other"), "session changed"),
        (lambda rows: rows[0].update(scripts=["Latn"]), "labels changed"),
        (lambda rows: rows[0].update(source="q01-0"), "labels changed"),
        (lambda rows: rows[0].update(language="ta"), "conditions, labels changed"),
        (
            lambda rows: (
                [rows[0].pop(name) for name in ("reference", *ANSWERED)] and rows[0].update(kind="non_speech")
            ),
            "reference, answer, entities, labels changed",
        ),
        (lambda rows: rows[0].update(audio="audio/q01-0.wav"), "audio changed"),
        (lambda rows: rows.pop(0), "removed"),
    ],
)
def test_each_edit_of_an_item_has_its_name(suite: Path, change: Any, edit: str) -> None:
    allowed, edits = said(suite, change)
    assert edits == [f"item q00-0: {edit}"]
    assert allowed == []


def test_other_bytes_and_missing_recordings_are_edits(suite: Path) -> None:
    before = make_lock(suite)
    (suite / "audio" / "q00-0.wav").write_bytes(b"other")
    (suite / "audio" / "q01-0.wav").unlink()
    changes = changes_between(before, make_lock(suite, require_audio=False))
    assert [str(c) for c in changes.edits] == [
        "item q00-0: audio changed",
        "item q01-0: the recording is not there",
    ]
    assert not changes_between(before, make_lock(suite, require_audio=False), audio=False).edits
    with pytest.raises(SuiteError, match="names no file"):
        make_lock(suite)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.reverse(),
        lambda rows: rows[0].update(conditions={"language": "en", "noise": "5dB"}),
    ],
)
def test_what_changes_no_item_is_no_change(suite: Path, change: Any) -> None:
    assert said(suite, change) == ([], [])


def test_a_renamed_item_is_removed_and_added(suite: Path) -> None:
    assert said(suite, lambda rows: rows[0].update(id="new")) == (
        ["item new: added"],
        ["item q00-0: removed"],
    )


@pytest.mark.parametrize(
    ("change", "allowed", "edits"),
    [
        ({"name": "other"}, ["header: name 'kitchen' is now 'other'"], []),
        ({"version": "2"}, ["header: version '1' is now '2'"], []),
        (
            {"conditions": {"language": ["ta", "en"], "noise": ["clean", "5dB", "15dB"], "mic": ["far"]}},
            ["header: axis 'mic' added", "header: value '15dB' of the axis 'noise' added"],
            [],
        ),
        (
            {"conditions": {"language": ["en"], "noise": ["clean", "5dB"]}},
            [],
            ["header: value 'ta' of the axis 'language' removed"],
        ),
        ({"gate_axes": []}, [], ["header: gate_axes changed"]),
        ({"char_scripts": ["Deva"]}, [], ["header: char_scripts changed"]),
        ({"primary": {"en": "cer"}}, [], ["header: primary_metrics of 'en' changed"]),
        ({"primary": {}}, [], ["header: primary_metrics of 'en' changed"]),
        ({"primary": {"en": "wer", "ta": "cer"}}, ["header: primary_metrics of 'ta' added"], []),
        ({"abstentions": {"en": ["no idea", "pass"]}}, [], ["header: abstentions of 'en' changed"]),
        ({"abstentions": {"en": ["no idea"], "ta": ["x"]}}, ["header: abstentions of 'ta' added"], []),
    ],
)
def test_each_change_of_the_header_has_its_name(
    suite: Path, change: dict[str, Any], allowed: list[str], edits: list[str]
) -> None:
    before = make_lock(suite)
    write_suite(suite, read_rows(suite), HEADER | change)
    changes = changes_between(before, make_lock(suite))
    assert [str(c) for c in changes.allowed] == allowed
    assert [str(c) for c in changes.edits] == edits


def test_a_metric_for_a_language_that_items_had_is_an_edit(suite: Path) -> None:
    write_suite(suite, [{**row, "language": "ta"} for row in read_rows(suite)], HEADER | {"primary": {}})
    before = make_lock(suite)
    write_suite(suite, read_rows(suite), HEADER | {"primary": {"ta": "cer"}})
    changes = changes_between(before, make_lock(suite))
    assert [str(c) for c in changes.edits] == ["header: primary_metrics of 'ta' changed"]


def test_splits_rotations_and_moves_are_edits(suite: Path) -> None:
    unsplit = make_lock(suite)
    split_suite(suite, Shares(reserve=0.2), 1)
    split = make_lock(suite)
    assert [str(c) for c in changes_between(unsplit, split).edits] == ["split: the suite was split"]
    assert [str(c) for c in changes_between(split, unsplit).edits] == ["split: removed"]
    rotated, _ = rotate_suite(suite, share=0.2, seed=1, reuse=False)
    edits = [str(c) for c in changes_between(split, make_lock(suite)).edits]
    moved = [
        *(
            f"item {i}: moved from rolling to retired"
            for u in rotated.retired
            for i in rotated.split.units[u].items
        ),
        *(
            f"item {i}: moved from reserve to rolling"
            for u in rotated.entered
            for i in rotated.split.units[u].items
        ),
    ]
    assert edits == ["split: rotated from 0 to 1", *sorted(moved)]


def test_a_holdout_item_moved_by_hand_is_named(suite: Path) -> None:
    split_suite(suite, Shares(), 1)
    before = make_lock(suite)
    path = sidecars(suite).split
    path.write_text(path.read_text().replace('"holdout", "items"', '"rolling", "items"', 1))
    edits = [str(c) for c in changes_between(before, make_lock(suite)).edits]
    assert len(edits) == 2
    assert all(edit.endswith("moved from holdout to rolling") for edit in edits)


def test_items_added_by_extending_are_allowed(suite: Path) -> None:
    split_suite(suite, Shares(), 1)
    before = make_lock(suite)
    new = {**read_rows(suite)[0], "id": "new", "session": "fresh"}
    write_suite(suite, [*read_rows(suite), new])
    extend_suite(suite, SetName.ROLLING)
    changes = changes_between(before, make_lock(suite))
    assert ([str(c) for c in changes.allowed], changes.edits) == (["item new: added"], ())
    assert changes.added_items == ("new",)


names = st.sampled_from("abcdef")
texts = st.sampled_from(["x", "y"])


@settings(max_examples=100, deadline=None)
@given(
    a=st.dictionaries(names, st.tuples(texts, texts), min_size=1),
    b=st.dictionaries(names, st.tuples(texts, texts), min_size=1),
)
def test_every_item_that_differs_is_named_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, a: dict[str, tuple[str, str]], b: dict[str, tuple[str, str]]
) -> None:
    locks = []
    for content in (a, b):
        root = tmp_path_factory.mktemp("suite")
        made = [
            {"id": name, "audio": f"audio/{name}", "reference": reference, "session": "s"}
            for name, (reference, _) in content.items()
        ]
        (root / "audio").mkdir()
        for name, (_, audio) in content.items():
            (root / "audio" / name).write_text(audio)
        write_suite(root, made)
        locks.append(make_lock(root))
    changes = changes_between(*locks)
    assert set(changes.added_items) == b.keys() - a.keys()
    assert {c.where.removeprefix("item ") for c in changes.edits} == {n for n in a if a[n] != b.get(n)}


def test_a_lock_is_read_as_it_was_written_and_holds_no_text(suite: Path) -> None:
    split_suite(suite, Shares(), 1)
    lock = make_lock(suite)
    path = sidecars(suite).lock
    write_lock(path, lock)
    raw = path.read_bytes()
    assert read_lock(path) == lock
    assert b"canary" not in raw and b"idea" not in raw
    write_lock(path, make_lock(suite))
    assert path.read_bytes() == raw
    document = json.loads(raw)
    assert (
        document["sha256"]
        == lock.sha256()
        == sha256_json({k: v for k, v in document.items() if k != "sha256"})
    )
    assert set(document["items"]["q00-0"]) == {*ASPECTS, "set"}
    assert raw.count(b'\n  "q') == 60


def test_equal_texts_of_two_items_look_different(suite: Path) -> None:
    items = make_lock(suite).items
    assert items["q00-0"]["answer"] != items["q00-1"]["answer"]


def test_openings_are_no_part_of_what_is_measured(suite: Path) -> None:
    from misheard.suite.holdout import open_holdout

    split_suite(suite, Shares(), 1)
    before = make_lock(suite)
    open_holdout(suite, "why")
    after = make_lock(suite)
    assert before.content_sha256() == after.content_sha256()
    assert before.sha256() != after.sha256()
    changes = changes_between(before, after)
    assert ([str(c) for c in changes.allowed], changes.edits) == (["openings: 1 entry added"], ())
    assert [str(c) for c in changes_between(after, before).edits] == [
        "openings: entries of the log were removed or edited"
    ]


def refit(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with a checksum that fits."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    return {**content, "sha256": sha256_json(content)}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: [], "was not written by misheard suite lock"),
        (lambda d: {**d, "format": "x"}, "was not written by misheard suite lock"),
        (lambda d: {**d, "format_version": 9}, "is not of the version 1"),
        (lambda d: {**d, "version": "2"}, "was edited or damaged"),
        (lambda d: refit({**d, "items": {"../x": d["items"]["q00-0"]}}), "lacks what a lock holds"),
        (lambda d: refit({**d, "items": {"x": {}}}), "lacks what a lock holds"),
        (lambda d: refit({**d, "items": []}), "lacks what a lock holds"),
        (lambda d: refit({**d, "header": {}}), "lacks what a lock holds"),
        (lambda d: refit({**d, "header": {**d["header"], "axes": {"a": 1}}}), "lacks what a lock holds"),
        (lambda d: refit({**d, "split": {}}), "lacks what a lock holds"),
        (lambda d: refit({**d, "openings": [1]}), "lacks what a lock holds"),
        (lambda d: refit({**d, "name": None}), "lacks what a lock holds"),
    ],
)
def test_damaged_locks_are_refused(suite: Path, damage: Any, message: str) -> None:
    path = sidecars(suite).lock
    write_lock(path, make_lock(suite))
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(SuiteError, match=message):
        read_lock(path)
    with pytest.raises(SuiteError, match=message):
        check_lock(suite)


def test_a_suite_is_checked_against_its_lock(suite: Path) -> None:
    assert check_lock(suite) is None
    lock = make_lock(suite)
    write_lock(sidecars(suite).lock, lock)
    state = check_lock(suite)
    assert state is not None
    assert state.document() == {"sha256": lock.sha256(), "matches": True, "added_items": 0}
    write_suite(suite, [*read_rows(suite), {**read_rows(suite)[0], "id": "new"}])
    state = check_lock(suite)
    assert state is not None
    assert state.document() == {"sha256": lock.sha256(), "matches": False, "added_items": 1}
    write_suite(suite, read_rows(suite)[1:])
    with pytest.raises(NotComparableError) as caught:
        check_lock(suite)
    assert str(caught.value) == (
        f"{suite}: the suite is not as suite.lock says:\n  item q00-0: removed\n"
        f"  put it back, or accept the edits: misheard suite lock {suite}"
    )
    assert caught.value.exit_code == 4


def test_a_split_taken_away_is_noticed_by_the_lock(suite: Path) -> None:
    split_suite(suite, Shares(), 1)
    write_lock(sidecars(suite).lock, make_lock(suite))
    sidecars(suite).split.unlink()
    with pytest.raises(NotComparableError, match="split: removed"):
        check_lock(suite)


def test_states_are_locks_or_suites(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no suite\.lock to compare with"):
        compare_states(suite, None)
    path = sidecars(suite).lock
    write_lock(path, make_lock(suite))
    assert not compare_states(suite, None).changes.edits
    other = write_suite(tmp_path / "other", read_rows(suite)[1:])
    for a, b in ((path, other), (suite, other)):
        assert [str(c) for c in compare_states(a, b).changes.edits] == ["item q00-0: removed"]
    with pytest.raises(SuiteError):
        compare_states(suite, tmp_path / "nothing.lock")


LOCKING = """
import sys
from pathlib import Path
from misheard.suite.lock import read_lock, write_lock
lock = read_lock(Path(sys.argv[1]))
print(flush=True)
while True:
    write_lock(Path(sys.argv[1]), lock)
"""


def test_a_killed_process_leaves_a_whole_lock(suite: Path) -> None:
    path = sidecars(suite).lock
    write_lock(path, make_lock(suite))
    raw = path.read_bytes()
    for round_ in range(6):
        process = subprocess.Popen([sys.executable, "-c", LOCKING, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.004 * round_)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert path.read_bytes() == raw


def test_the_commands_say_what_changed(suite: Path) -> None:
    def misheard(*arguments: str) -> subprocess.CompletedProcess[str]:
        return command_line.misheard("suite", *arguments)

    assert "60 items locked" in misheard("lock", str(suite)).stdout
    assert "nothing changed" in misheard("diff", str(suite)).stdout
    write_suite(suite, [*read_rows(suite)[1:], {**read_rows(suite)[0], "id": "new"}])
    done = misheard("diff", str(suite))
    assert done.returncode == 0
    assert "added (1):\n  item new: added\nedited (1):\n  item q00-0: removed\n" in done.stdout
    assert misheard("diff", str(suite), "--fail-on-edit").returncode == 1
    done = misheard("lock", str(suite))
    assert "edited (1):\n  item q00-0: removed\n" in done.stdout
    assert misheard("diff", str(suite), "--fail-on-edit").returncode == 0
    path = sidecars(suite).lock
    path.write_text("<<<<<<< HEAD\n" + path.read_text())
    assert misheard("diff", str(suite)).returncode == 2
    done = misheard("lock", str(suite))
    assert done.returncode == 0 and "what changed since cannot be told" in done.stderr
    assert read_lock(path) == make_lock(suite)
    done = misheard("diff", str(suite), "--system", "x")
    assert (done.returncode, done.stderr) == (2, "misheard: --system: needs --against and --fail-on-edit\n")
