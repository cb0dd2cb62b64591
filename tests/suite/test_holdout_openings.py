"""The log of openings: append-only, chained, one opening for one run, whole after any kill."""

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
from made_suites import read_rows, rows_of, sets_of, write_suite

from misheard.errors import InputError, NotComparableError, SuiteError
from misheard.suite.dividing import split_suite
from misheard.suite.holdout import holdout_facts, load_holdout, open_holdout, use_opening
from misheard.suite.lock import make_lock, write_lock
from misheard.suite.manifest import load_suite
from misheard.suite.openings import append_opening, openings_of, read_openings
from misheard.suite.sidecars import sidecars
from misheard.suite.splitting import Shares


@pytest.fixture
def divided(tmp_path: Path) -> Path:
    root = write_suite(tmp_path / "suite", rows_of(30))
    split_suite(root, Shares(), 1)
    return root


def test_one_opening_is_for_one_run(divided: Path) -> None:
    with pytest.raises(InputError, match="the holdout is sealed; open it first: misheard suite open"):
        load_holdout(divided, "first")
    opening, sealed = open_holdout(divided, " release 1 ")
    assert (opening.number, opening.reason, sealed) == (1, "release 1", 4)
    with pytest.raises(InputError, match="opening 1 is not used yet"):
        open_holdout(divided, "again")
    suite = load_holdout(divided, "first")
    assert {i.id for i in suite.items} == {i for i, name in sets_of(divided).items() if name == "holdout"}
    use_opening(divided, "first")
    use_opening(divided, "first")
    assert load_holdout(divided, "first") == suite
    for other in ("second", None):
        with pytest.raises(InputError, match="opening 1 was used by a run, and is for one run"):
            load_holdout(divided, other)
    with pytest.raises(InputError, match="was used by a run"):
        use_opening(divided, "second")
    open_holdout(divided, "release 2")
    use_opening(divided, "second")
    assert load_holdout(divided, "first") == suite
    assert [o.run for o in openings_of(read_openings(sidecars(divided).openings))] == ["first", "second"]
    facts = holdout_facts(divided, load_suite(divided).selection)  # type: ignore[arg-type]
    assert (facts["sealed"], facts["opened"], facts["openings"]) == (4, False, 2)
    assert [entry["reason"] for entry in facts["log"]] == ["release 1", "release 2"]


def test_a_run_that_has_its_opening_takes_no_other(divided: Path) -> None:
    open_holdout(divided, "one")
    use_opening(divided, "first")
    open_holdout(divided, "two")
    use_opening(divided, "first")
    assert [o.run for o in openings_of(read_openings(sidecars(divided).openings))] == ["first", None]


@pytest.mark.parametrize("reason", ["", " \t", "a\nb", "\x1b[2J", "x" * 501])
def test_a_reason_says_something_in_one_line(divided: Path, reason: str) -> None:
    with pytest.raises(InputError, match="--reason: say why"):
        open_holdout(divided, reason)
    assert not sidecars(divided).openings.exists()


def test_what_has_no_holdout_is_not_opened(tmp_path: Path) -> None:
    root = write_suite(tmp_path, rows_of(30))
    with pytest.raises(InputError, match="has no sealed holdout; misheard suite split makes one"):
        open_holdout(root, "why")
    with pytest.raises(InputError, match="has no sealed holdout"):
        load_holdout(root, None)
    assert not sidecars(root).openings.exists()


def test_a_suite_that_changed_since_its_opening_is_refused(divided: Path) -> None:
    open_holdout(divided, "why")
    rows = read_rows(divided)
    write_suite(divided, [{**rows[0], "reference": "another"}, *rows[1:]])
    with pytest.raises(NotComparableError, match="changed since opening 1"):
        load_holdout(divided, "run")


def test_an_opening_of_a_suite_that_changed_is_not_in_the_way(divided: Path) -> None:
    open_holdout(divided, "one")
    rows = read_rows(divided)
    write_suite(divided, [{**rows[0], "reference": "another"}, *rows[1:]])
    with pytest.raises(NotComparableError, match="or open it again: misheard suite open"):
        load_holdout(divided, "run")
    assert open_holdout(divided, "two")[0].number == 2
    use_opening(divided, "run")
    assert len(load_holdout(divided, "run").items) == 4
    write_suite(divided, rows)
    with pytest.raises(InputError, match="is for one run"):
        use_opening(divided, "other")


def test_a_suite_that_is_not_as_its_lock_says_is_not_opened(divided: Path) -> None:
    write_lock(sidecars(divided).lock, make_lock(divided))
    rows = read_rows(divided)
    write_suite(divided, [{**rows[0], "reference": "another"}, *rows[1:]])
    with pytest.raises(NotComparableError, match=f"item {rows[0]['id']}: reference changed"):
        open_holdout(divided, "why")


def filled(root: Path, openings: int = 3) -> Path:
    for number in range(openings):
        open_holdout(root, f"reason {number}")
        use_opening(root, f"run {number}")
    return sidecars(root).openings


def forged(lines: list[str], at: int, **changes: Any) -> list[str]:
    """Return the log with one line changed and its own checksum made to fit."""
    from misheard.canonical import sha256_json

    record = {**json.loads(lines[at]), **changes}
    record.pop("sha256")
    record["sha256"] = sha256_json(record)
    return [*lines[:at], json.dumps(record), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (lambda lines: [lines[0].replace("reason 0", "reason 9"), *lines[1:]], 1),
        (lambda lines: forged(lines, 0, reason="another"), 2),
        (lambda lines: forged(lines, 2, who="someone"), 4),
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines[:2], *lines[4:]], 3),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines, lines[-1]], 7),
        (lambda lines: [*lines, "{}"], 7),
        (lambda lines: [*lines, "[]"], 7),
        (lambda lines: [*lines, "not json"], 7),
        (lambda lines: forged(lines, 5, number=9), 6),
        (lambda lines: forged(lines, 5, kind="opening"), 6),
        (lambda lines: forged(lines, 5, number=True), 6),
        (lambda lines: forged(lines, 4, extra=1), 5),
    ],
)
def test_any_edit_of_the_log_is_noticed(divided: Path, edit: Any, line: int) -> None:
    log = filled(divided)
    log.write_text("\n".join(edit(log.read_text().splitlines())) + "\n")
    with pytest.raises(SuiteError, match=rf"openings\.jsonl:{line}: "):
        read_openings(log)
    with pytest.raises(SuiteError):
        open_holdout(divided, "why")
    with pytest.raises(SuiteError):
        load_holdout(divided, "run 0")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_changed_byte_passes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = folder / "openings.jsonl"
    for number in range(2):
        append_opening(log, f"reason {number}", "f" * 64, lambda before: None)
    raw = log.read_bytes()
    place = data.draw(st.integers(0, len(raw) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != raw[place]))
    log.write_bytes(raw[:place] + bytes([byte]) + raw[place + 1 :])
    try:
        entries = read_openings(log)
    except SuiteError:
        return
    # White space between the parts of a line says nothing.
    assert [entry.content["reason"] for entry in entries] == ["reason 0", "reason 1"]
    log.write_bytes(raw)
    assert entries == read_openings(log)


def test_lines_cut_off_the_end_are_noticed_by_the_lock(divided: Path) -> None:
    log = filled(divided)
    write_lock(sidecars(divided).lock, make_lock(divided))
    open_holdout(divided, "later ones may follow")
    log.write_text("".join(line + "\n" for line in log.read_text().splitlines()[:2]))
    with pytest.raises(NotComparableError, match="openings: entries of the log were removed or edited"):
        open_holdout(divided, "why")


def test_a_log_without_its_split_is_a_problem(divided: Path) -> None:
    filled(divided, 1)
    (divided / "split.json").unlink()
    with pytest.raises(SuiteError, match=r"openings\.jsonl: is here, but split\.json is gone"):
        load_suite(divided)


APPENDING = """
import sys
from pathlib import Path
from misheard.suite.openings import append_opening
number = 0
while True:
    append_opening(Path(sys.argv[1]), f"{sys.argv[2]} {number}", "f" * 64, lambda before: None)
    number += 1
    print(number, flush=True)
    if number == int(sys.argv[3]):
        break
"""


def appending(log: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", APPENDING, str(log), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_processes_append_one_after_the_other(tmp_path: Path) -> None:
    log = tmp_path / "openings.jsonl"
    running = [appending(log, name, 20) for name in "abc"]
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    openings = openings_of(read_openings(log))
    assert [opening.number for opening in openings] == list(range(1, 61))
    for name in "abc":
        assert [o.reason for o in openings if o.reason[0] == name] == [f"{name} {n}" for n in range(20)]


def test_a_killed_process_leaves_a_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "openings.jsonl"
    kept = 0
    for round_ in range(8):
        process = appending(log, f"round {round_}", 100_000)
        assert process.stdout is not None
        said = int(process.stdout.readline())
        time.sleep(0.003 * round_)
        os.kill(process.pid, signal.SIGKILL)
        rest = process.communicate(timeout=60)[0].splitlines()
        said = int(rest[-1]) if rest else said
        found = len(read_openings(log))
        # what was said to be written is there, and at most the one that was being written besides
        assert kept + said <= found <= kept + said + 1
        kept = found
    assert append_opening(log, "after", "f" * 64, lambda before: None).number == kept + 1


def test_the_command_asks_for_a_reason_where_it_can(divided: Path) -> None:
    command = [sys.executable, "-m", "misheard", "suite", "open", str(divided)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "misheard: --reason: say why the holdout is opened\n")
    done = subprocess.run([*command, "--reason", "release 7"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "opening 1 by" in done.stdout and "4 sealed items, for one run" in done.stdout
    assert json.loads(sidecars(divided).openings.read_text())["reason"] == "release 7"


def test_the_command_prompts_on_a_terminal(divided: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "misheard", "suite", "open", str(divided)],
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"release 8\n")
    assert process.wait(timeout=60) == 0
    os.close(ours)
    assert json.loads(sidecars(divided).openings.read_text())["reason"] == "release 8"
