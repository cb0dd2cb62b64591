"""The log of promoted baselines: explicit, append-only, whole after kills and side by side."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import MadeUpRun, edit_json

from misheard.errors import IncompleteRunError, InputError, NotComparableError
from misheard.gate.baseline import LOG, Promotion, describe_promotions, promote, promoted_run, read_promotions

RUN = MadeUpRun(items=12, sessions=6)


def test_a_promotion_is_logged_with_who_when_and_what(tmp_path: Path) -> None:
    run = RUN.write(tmp_path / "runs" / "first")
    log = tmp_path / "baselines"
    promotion = promote(log, run, "the release of May")
    (line,) = (log / LOG).read_text("ascii").splitlines()
    assert read_promotions(log) == [promotion]
    assert json.loads(line)["format"] == "misheard-promotion/1"
    assert promotion.run == "../runs/first"
    assert promotion.suite == "made up"
    assert (promotion.reason, len(promotion.suite_sha256)) == ("the release of May", 64)
    assert time.strptime(promotion.when, "%Y-%m-%dT%H:%M:%SZ")
    assert promotion.who
    assert promoted_run(log, "made up").resolve() == run.resolve()


def test_the_last_promotion_of_a_suite_counts_and_all_stay_in_the_log(tmp_path: Path) -> None:
    for name, suite in (("a", "x"), ("b", "y"), ("c", "x")):
        promote(tmp_path / "log", replace(RUN, name=suite, system=name).write(tmp_path / name))
    assert promoted_run(tmp_path / "log", "x").name == "c"
    assert promoted_run(tmp_path / "log", "y").name == "b"
    lines = list(describe_promotions(tmp_path / "log"))
    assert [line[0] for line in lines] == [" ", "*", "*"]
    assert len(list(describe_promotions(tmp_path / "log", "x"))) == 2
    assert "no promotion" in next(iter(describe_promotions(tmp_path / "log", "z")))
    assert "no promotion" in next(iter(describe_promotions(tmp_path / "nowhere")))


def test_runs_and_log_may_move_together_and_a_run_may_be_scored_again(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    run = RUN.write(tmp_path / "here" / "run")
    promote(tmp_path / "here" / "log", run)
    edit_json(run / "report.json", lambda report: report["scorer"].update(on_failure="worst"))
    (tmp_path / "here").rename(tmp_path / "there")
    assert promoted_run(tmp_path / "there" / "log", "made up").resolve() == tmp_path / "there" / "run"


UNFIT: dict[str, tuple[MadeUpRun, str]] = {
    "incomplete": (replace(RUN, status="running"), "not complete"),
    "limited": (replace(RUN, limit=12), "--limit 12"),
    "failed": (replace(RUN, failed=[2, 3]), "2 items failed"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_is_no_whole_run_is_not_promoted(tmp_path: Path, name: str) -> None:
    run, words = UNFIT[name]
    with pytest.raises(IncompleteRunError, match=words):
        promote(tmp_path / "log", run.write(tmp_path / "run"))
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("reason", ["two\nlines", "\x1b[31m", "x" * 501])
def test_a_reason_is_one_line(tmp_path: Path, reason: str) -> None:
    with pytest.raises(InputError, match="--reason"):
        promote(tmp_path / "log", RUN.write(tmp_path / "run"), reason)


def test_what_is_no_run_or_damaged_is_not_promoted(tmp_path: Path) -> None:
    with pytest.raises(IncompleteRunError):
        promote(tmp_path / "log", tmp_path)
    run = RUN.write(tmp_path / "run")
    edit_json(run / "report.json", lambda report: report.pop("failures"))
    with pytest.raises(IncompleteRunError):
        promote(tmp_path / "log", run)


def test_a_line_that_a_kill_cut_off_is_no_promotion_and_hurts_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = promote(log, RUN.write(tmp_path / "a"))
    whole = (log / LOG).read_bytes()
    for cut in range(1, len(whole), 37):
        (log / LOG).write_bytes(whole + whole[:cut])
        assert read_promotions(log) == [first]
    second = promote(log, replace(RUN, system="b").write(tmp_path / "b"))
    assert read_promotions(log) == [first, second]
    assert (log / LOG).read_bytes().startswith(whole)


def test_a_last_line_that_an_editor_left_without_its_end_still_counts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = promote(log, RUN.write(tmp_path / "a"))
    (log / LOG).write_bytes((log / LOG).read_bytes().rstrip(b"\n"))
    assert read_promotions(log) == [first]
    second = promote(log, replace(RUN, system="b").write(tmp_path / "b"))
    assert read_promotions(log) == [first, second]


def test_nothing_is_promoted_into_a_damaged_log(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"{}\n")
    with pytest.raises(InputError, match=rf"{LOG}:1: is no promotion"):
        promote(tmp_path, RUN.write(tmp_path / "a"))
    assert (tmp_path / LOG).read_bytes() == b"{}\n"


def line(**changes: Any) -> bytes:
    fields = dict.fromkeys(Promotion.__slots__, "x") | {"format": "misheard-promotion/1"} | changes
    return json.dumps(fields).encode() + b"\n"


@pytest.mark.parametrize(
    "raw",
    [b"{\n", b"[]\n", b"\n", b"\xff\n", b"7\n", b"[" * 100_000 + b"\n", line(run=7), line(format="other"),
     line(when=None)],
    ids=["half", "list", "empty", "no text", "number", "nested", "run", "format", "when"],
)  # fmt: skip
def test_a_damaged_log_is_refused_by_line_and_resolves_nothing(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / LOG).write_bytes(line() + raw + line())
    with pytest.raises(InputError, match=rf"{LOG}:2: is no promotion"):
        read_promotions(tmp_path)
    with pytest.raises(InputError):
        promoted_run(tmp_path, "x")


def test_a_log_that_points_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(line(run="../../../etc", suite="x"))
    with pytest.raises(IncompleteRunError):
        promoted_run(tmp_path, "x")
    with pytest.raises(NotComparableError, match="misheard baseline promote"):
        promoted_run(tmp_path, "y")


def test_promotions_at_once_are_all_in_the_log(tmp_path: Path) -> None:
    runs = [replace(RUN, system=str(n)).write(tmp_path / f"run{n}") for n in range(4)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda run: promote(tmp_path / "log", run, "at once"), runs * 10))
    found = read_promotions(tmp_path / "log")
    assert len(found) == 40
    assert sorted(one.run for one in found) == sorted(one.run for one in made)


PROMOTE_FOR_EVER = """
import sys
from pathlib import Path
from misheard.gate.baseline import promote
print("ready", flush=True)
while True:
    promote(Path(sys.argv[1]), Path(sys.argv[2]), "again")
"""


@pytest.mark.slow
def test_killed_promotions_leave_a_log_that_reads(tmp_path: Path) -> None:
    run = RUN.write(tmp_path / "run")
    for moment in (0.0, 0.05, 0.1, 0.2):
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", PROMOTE_FOR_EVER, str(tmp_path / "log"), str(run)],
                stdout=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            with process.stdout as lines:
                assert lines.readline() == b"ready\n"
        time.sleep(moment)
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
        read_promotions(tmp_path / "log")
    last = promote(tmp_path / "log", run, "the last")
    assert read_promotions(tmp_path / "log")[-1] == last


def test_an_unwritable_log_is_an_error_of_the_system(tmp_path: Path) -> None:
    run = RUN.write(tmp_path / "run")
    (tmp_path / "log").write_text("a file")
    with pytest.raises(FileExistsError):
        promote(tmp_path / "log", run)
