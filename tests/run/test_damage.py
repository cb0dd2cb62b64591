"""Edited, damaged and half-deleted run directories: refused with exit code 4, never wrong numbers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from misheard.config import load_config
from misheard.errors import IncompleteRunError, MisheardError, RunAbortedError
from misheard.run.clock import Clock
from misheard.run.comparison import compare_runs
from misheard.run.context import RunOptions
from misheard.run.directory import RunDirectory
from misheard.run.progress import NoProgress
from misheard.run.runner import run
from misheard.run.scoring import score_run

MakePath = Callable[..., Path]


def run_here(
    config: Path, suite: Path, out: Path, *, resume: bool = False, sets: tuple[str, ...] = ()
) -> None:
    run(load_config(config, sets), RunOptions(out, suite, cpu=True, resume=resume), NoProgress(), Clock())


@pytest.fixture
def finished(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Path:
    run_here(make_config(), make_suite(), tmp_path / "run")
    return tmp_path / "run"


def edit(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    lines = path.read_text("ascii").splitlines()
    path.write_text("".join(line + "\n" for line in change(lines)), "ascii")


def in_line(index: int, old: str, new: str) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        assert old in lines[index]
        return [line.replace(old, new) if i == index % len(lines) else line for i, line in enumerate(lines)]

    return change


def first_with(lines: list[str], text: str) -> int:
    return next(i for i, line in enumerate(lines) if text in line)


DAMAGES: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "reference edited": ("journal/suite.jsonl", in_line(1, "canary", "other")),
    "item dropped from the suite": ("journal/suite.jsonl", lambda lines: lines[:-1]),
    "suite header edited": ("journal/suite.jsonl", in_line(0, '"version":"1"', '"version":"2"')),
    "suite row is a list": ("journal/suite.jsonl", lambda lines: [*lines[:-1], "[]"]),
    "suite is nested": ("journal/suite.jsonl", lambda lines: [*lines[:-1], "[" * 100_000]),
    "window dropped from the plan": ("plan.jsonl", lambda lines: lines[:-1]),
    "item dropped from the plan": ("plan.jsonl", lambda lines: [lines[0], *lines[2:]]),
    "seconds edited": ("plan.jsonl", in_line(1, '"seconds":1.0', '"seconds":9.0')),
    "transcript edited": (
        "journal/recognize.jsonl",
        lambda lines: [line.replace('"text":"', '"text":"more ') for line in lines],
    ),
    "recognition row dropped": (
        "journal/recognize.jsonl",
        lambda lines: [line for i, line in enumerate(lines) if i != first_with(lines, '"item"')],
    ),
    "answer edited": (
        "journal/respond.jsonl",
        lambda lines: [line.replace("canary", "c") for line in lines],
    ),
    "answer row dropped": (
        "journal/respond.jsonl",
        lambda lines: [line for i, line in enumerate(lines) if i != first_with(lines, '"arm"')],
    ),
    "note edited": ("journal/respond.jsonl", in_line(0, '"load_seconds":', '"load_seconds":"x","y":')),
    "bad byte in the middle": ("journal/respond.jsonl", lambda lines: [lines[0], "{", *lines[1:]]),
    "deeply nested line": ("journal/respond.jsonl", lambda lines: [lines[0], "[" * 100_000, *lines[1:]]),
    "arms cut": ("run.json", lambda lines: [json.dumps(json.loads("".join(lines)) | {"arms": ["audio"]})]),
    "arms unknown": ("run.json", lambda lines: [json.dumps(json.loads("".join(lines)) | {"arms": ["zz"]})]),
    "no config": ("run.json", lambda lines: ['{"schema": "misheard/run/1"}']),
    "no json": ("run.json", lambda lines: ["{"]),
    "nested": ("run.json", lambda lines: ["[" * 100_000]),
    "plan is nested": ("plan.jsonl", lambda lines: ["[" * 100_000, *lines[1:]]),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_was_edited_is_not_scored(finished: Path, name: str) -> None:
    file, change = DAMAGES[name]
    before = (finished / "report.json").read_bytes()
    edit(finished / file, change)
    with pytest.raises(IncompleteRunError):
        score_run(RunDirectory.open(finished))
    assert (finished / "report.json").read_bytes() == before


@pytest.mark.parametrize("name", [name for name, (file, _) in DAMAGES.items() if file != "run.json"])
def test_what_was_edited_is_resumed_to_the_same_report_or_refused(
    finished: Path, tmp_path: Path, make_config: MakePath, name: str
) -> None:
    file, change = DAMAGES[name]
    before = json.loads((finished / "report.json").read_bytes())
    edit(finished / file, change)
    refused: MisheardError | None = None
    try:
        run_here(make_config(), tmp_path / "suite", finished, resume=True)
    except MisheardError as error:
        refused = error
    after = json.loads((finished / "report.json").read_bytes())
    assert {**before, "timings": None} == {**after, "timings": None}
    assert refused is None or refused.exit_code == 4


def test_a_journal_without_run_json_is_not_taken_over(
    finished: Path, tmp_path: Path, make_config: MakePath
) -> None:
    (finished / "run.json").unlink()
    with pytest.raises(IncompleteRunError, match=r"run\.json"):
        run_here(make_config(), tmp_path / "suite", finished, resume=True)


def test_a_run_that_was_killed_before_its_run_json_begins_anew(
    finished: Path, tmp_path: Path, make_config: MakePath
) -> None:
    for path in finished.rglob("*"):
        if path.is_file() and path.name != "suite.jsonl":
            path.unlink()
    run_here(make_config(), tmp_path / "suite", finished, resume=True)
    assert (finished / "report.json").exists()


@pytest.mark.parametrize(
    "missing", ["plan.jsonl", "journal/suite.jsonl", "journal/recognize.jsonl", "run.json"]
)
def test_a_missing_file_is_named(finished: Path, missing: str) -> None:
    (finished / missing).unlink()
    with pytest.raises(IncompleteRunError, match=Path(missing).name):
        score_run(RunDirectory.open(finished))


def test_samples_that_cannot_be_kept_cost_no_report(
    finished: Path, tmp_path: Path, make_config: MakePath
) -> None:
    before = json.loads((finished / "report.json").read_text())
    for name in ("report.json", "telemetry.parquet"):
        (finished / name).unlink()
    (finished / "telemetry.parquet").mkdir()
    run_here(make_config(), tmp_path / "suite", finished, resume=True)
    assert {**json.loads((finished / "report.json").read_text()), "timings": None} == {
        **before,
        "timings": None,
    }


def test_abort_writes_no_report_however_often_it_is_asked(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config = make_suite(), make_config(language_model=None)
    (suite / "audio" / "q00.flac").unlink()
    out, sets = tmp_path / "out", ("on_failure=abort",)
    for resume in (False, True, True):
        with pytest.raises(RunAbortedError, match="q00"):
            run_here(config, suite, out, resume=resume, sets=sets)
    with pytest.raises(RunAbortedError, match="q00"):
        score_run(RunDirectory.open(out))
    assert not (out / "report.json").exists()
    scored = score_run(RunDirectory.open(out), ["on_failure=exclude"])
    assert scored.report["failures"]["samples_failed"] == 1


def test_scoring_in_another_way_says_so_and_compares_only_with_its_like(
    finished: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    exact = score_run(RunDirectory.open(copy), ["scoring.profile=exact"])
    assert exact.report["scorer"]["profile"] == "exact"
    with pytest.raises(MisheardError, match="profile"):
        compare_runs(finished, [copy], resamples=200, seed=1)
    score_run(RunDirectory.open(copy))
    assert compare_runs(finished, [copy], resamples=200, seed=1)["comparisons"][0]["items"] == 7


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.update(matrix=3),
        lambda report: report.pop("arms"),
        lambda report: report.update(failures=[]),
        lambda report: report.update(scorer={}),
    ],
)
def test_an_edited_report_is_one_clear_error(
    finished: Path, change: Callable[[dict[str, object]], object]
) -> None:
    from test_runs import misheard

    path = finished / "report.json"
    report = json.loads(path.read_bytes())
    change(report)
    path.write_text(json.dumps(report))
    for command in (("report", finished), ("compare", finished, finished)):
        done = misheard(*command)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 4)


@pytest.mark.parametrize("how", ["sys.exit(0)", "raise BaseException(a)", "raise ValueError(a)", "return 2"])
def test_a_scorer_that_misbehaves_is_an_error_without_text(finished: Path, tmp_path: Path, how: str) -> None:
    from test_runs import misheard

    (tmp_path / "my_scorer.py").write_text(f"import sys\n\n\ndef score(a, b):\n    {how}\n")
    done = misheard("score", finished, "--set", "scoring.response_scorer=my_scorer:score", cwd=tmp_path)
    assert done.returncode == 2
    assert "response scorer" in done.stderr
    assert "canary" not in done.stderr
