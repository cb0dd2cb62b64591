"""`misheard import`: outputs made elsewhere as a run that score, compare and report treat like any other."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import misheard
from misheard.report.html.index_loading import read_index

MakePath = Callable[..., Path]
Row = dict[str, Any]


def references(suite: Path) -> dict[str, Row]:
    return {row["id"]: row for row in map(json.loads, (suite / "items.jsonl").read_text().splitlines())}


def outputs_of(suite: Path, answers: bool = True) -> list[Row]:
    """Return outputs that hear everything, one of them with a word lost, and answer right."""
    rows: list[Row] = []
    for identifier, item in references(suite).items():
        row: Row = {"id": identifier, "transcript": item["reference"], "recognize_seconds": 0.5}
        if answers and "reference_answer" in item:
            row |= {
                "answer": item["reference_answer"],
                "transcript_arm_answer": item["reference_answer"],
                "control_answer": item["reference_answer"],
                "llm_seconds": 0.25,
            }
        rows.append(row)
    rows[0]["transcript"] = "question number 0"
    if answers:
        rows[0]["answer"] = "I cannot say."
    return rows


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def import_rows(
    tmp_path: Path, suite: Path, rows: list[Row], *more: object
) -> subprocess.CompletedProcess[str]:
    path = write(tmp_path / "outputs.jsonl", rows)
    return misheard("import", path, "--suite", suite, "--out", tmp_path / "run", *more)


def report(run: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((run / "report.json").read_bytes())
    return loaded


def test_an_import_is_a_run(tmp_path: Path, make_suite: MakePath) -> None:
    suite, run = make_suite(), tmp_path / "run"
    done = import_rows(tmp_path, suite, outputs_of(suite))
    assert done.returncode == 0, done.stderr
    found = report(run)
    wer = found["arms"]["audio"]["wer"]
    assert (wer["n"], wer["counts"]["deletions"], wer["counts"]["reference_units"]) == (6, 1, 24)
    assert found["propagation"]["audio"]["quality_drop"]["value"] > 0
    assert found["propagation"]["control"]["quality_drop"]["value"] == 0
    timings = found["timings"]
    assert timings["inference_seconds"] == 3.5
    assert timings["rtf_inference"] == pytest.approx(3.5 / timings["audio_seconds"])
    assert timings["decode_seconds"] is timings["rtf_end_to_end"] is timings["llm_seconds"] is None
    assert found["system"]["recognizer"]["kind"] == "imported"
    before = (run / "report.json").read_bytes()
    assert misheard("score", run).returncode == 0
    assert (run / "report.json").read_bytes() == before
    assert misheard("report", run).stdout == misheard("score", run).stdout


def test_an_import_compares_with_a_run_of_ones_own(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite = make_suite()
    config = make_config()
    own = misheard("run", config, "--cpu", "--suite", suite, "--out", tmp_path / "own")
    assert own.returncode == 0, own.stderr
    import_rows(tmp_path, suite, outputs_of(suite))
    done = misheard(
        "compare", tmp_path / "own", tmp_path / "run", "--json", tmp_path / "c.json", "--resamples", 200
    )
    assert done.returncode == 0, done.stderr
    (compared,) = json.loads((tmp_path / "c.json").read_bytes())["comparisons"]
    wer = next(d for d in compared["differences"] if d["metric"] == "wer")
    assert wer["b"] == pytest.approx(1 / 24)
    listed = read_index([tmp_path / "own", tmp_path / "run"], tmp_path / "index.html").entries
    assert sorted(entry.system for entry in listed) == ["fake, fake", "outputs"]


def test_transcripts_alone(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = [{"id": row["id"], "transcript": row["transcript"]} for row in outputs_of(suite)]
    done = import_rows(tmp_path, suite, rows, "--name", "my system", "--profile", "exact")
    assert done.returncode == 0, done.stderr
    found = report(tmp_path / "run")
    assert list(found["arms"]) == ["audio"]
    assert found["arms"]["audio"]["wer"]["n"] == 6
    assert found["timings"]["inference_seconds"] is found["timings"]["rtf_inference"] is None
    assert found["system"]["recognizer"]["name"] == "my system"
    assert found["scorer"]["profile"] == "exact"


def test_spoken_names_the_languages_whose_number_words_it_keeps(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    header = suite / "suite.yaml"
    header.write_text(re.sub(r"\ben\b", "hi", header.read_text()))
    done = import_rows(tmp_path, suite, outputs_of(suite), "--profile", "spoken")
    assert done.returncode == 0, done.stderr
    assert report(tmp_path / "run")["scorer"]["number_words_kept"] == ["hi"]
    assert done.stdout.count("number words stay words in hi") == 1
    before = (tmp_path / "run" / "report.json").read_bytes()
    assert misheard("score", tmp_path / "run").returncode == 0
    assert (tmp_path / "run" / "report.json").read_bytes() == before


def test_failures_are_typed_and_their_text_is_not_kept(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = outputs_of(suite)
    del rows[1]["transcript"], rows[1]["answer"]
    rows[1]["error"] = "timeout"
    del rows[2]["answer"]
    rows[2]["error"] = "canary: the server said no"
    del rows[3]["transcript"], rows[3]["answer"]
    rows[3]["error"] = "canary again"
    rows[4]["transcript"] = ""
    del rows[4]["answer"]
    rows[4]["error"] = "llm_error"
    done = import_rows(tmp_path, suite, rows)
    assert done.returncode == 1, done.stderr
    lines = (tmp_path / "run" / "failures.csv").read_text().splitlines()[1:]
    assert [line.split(",")[:4] for line in lines] == [
        ["q01", "audio", "recognize", "timeout"],
        ["q02", "audio", "respond", "llm_error"],
        ["q03", "audio", "recognize", "asr_error"],
        ["q04", "audio", "respond", "llm_error"],
    ]
    assert report(tmp_path / "run")["arms"]["audio"]["wer"]["n"] == 3
    texts = [done.stdout, done.stderr]
    outside = [
        p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file() and p.parent.name != "journal"
    ]
    assert not any("canary" in text for text in texts)
    assert not any(b"canary" in data for data in outside)


def test_worst_scores_failures_as_all_wrong(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    done = import_rows(tmp_path, suite, outputs_of(suite)[:-2], "--missing", "fail", "--on-failure", "worst")
    assert done.returncode == 1
    wer = report(tmp_path / "run")["arms"]["audio"]["wer"]
    assert (wer["n"], wer["counts"]["deletions"]) == (6, 5)


def test_ids_that_are_not_there(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    done = import_rows(tmp_path, suite, outputs_of(suite)[1:])
    assert done.returncode == 2
    assert "1 item of the suite has no line: q00" in done.stderr and "--missing fail" in done.stderr
    assert not (tmp_path / "run").exists()
    done = import_rows(tmp_path, suite, outputs_of(suite)[1:], "--missing", "fail")
    assert done.returncode == 1
    assert "q00,audio,recognize,asr_error" in (tmp_path / "run" / "failures.csv").read_text()


def test_answers_that_are_not_there(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = outputs_of(suite)
    del rows[2]["transcript_arm_answer"]
    done = import_rows(tmp_path, suite, rows)
    assert done.returncode == 2
    assert "1 question has no transcript_arm_answer, and others have: q02" in done.stderr
    assert import_rows(tmp_path, suite, rows, "--missing", "fail").returncode == 1
    assert "q02,transcript,respond,llm_error" in (tmp_path / "run" / "failures.csv").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "q99"}, "outputs.jsonl:1: id 'q99' is not in the suite"),
        ({"id": "q01"}, "outputs.jsonl:2: id q01 comes a second time"),
        ({"id": 3}, "outputs.jsonl:1: is no object with an id"),
        ({"transcipt": "canary"}, "unknown field 'transcipt' (did you mean 'transcript'?)"),
        ({"transcript": ["canary"]}, "transcript is no text"),
        ({"transcript": None, "answer": None}, "neither a transcript nor an error"),
        ({"transcript": None, "error": "timeout"}, "has an answer to what failed"),
        ({"recognize_seconds": "1"}, "recognize_seconds is no number of seconds"),
        ({"recognize_seconds": -1}, "recognize_seconds is no number of seconds"),
        ({"llm_seconds": True}, "llm_seconds is no number of seconds"),
    ],
)
def test_lines_that_are_wrong(tmp_path: Path, make_suite: MakePath, change: Row, message: str) -> None:
    suite = make_suite()
    rows = outputs_of(suite)
    rows[0] |= change
    done = import_rows(tmp_path, suite, rows)
    assert done.returncode == 2
    assert message in done.stderr
    assert "canary" not in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("line", ["{", "3", '{"id": "q00", "recognize_seconds": NaN, "transcript": "a"}'])
def test_lines_that_are_no_rows(tmp_path: Path, make_suite: MakePath, line: str) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text(line + "\n")
    done = misheard("import", path, "--suite", make_suite(), "--out", tmp_path / "run", "--missing", "fail")
    assert done.returncode == 2
    assert "outputs.jsonl:1" in done.stderr


def test_every_problem_is_listed(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = [*outputs_of(suite), {"id": "x1", "transcript": ""}, {"id": "x2", "transcript": ""}]
    done = import_rows(tmp_path, suite, rows)
    assert "2 problems" in done.stderr


def test_problems_of_lines_and_of_what_is_not_there_stand_in_one_list(
    tmp_path: Path, make_suite: MakePath
) -> None:
    rows = outputs_of(suite := make_suite())
    absent, broken, unanswered = rows.pop(), rows[1], rows[2]
    broken["llm_seconds"] = "canary"
    del unanswered["control_answer"]
    done = import_rows(tmp_path, suite, [*rows, rows[0]])
    assert done.returncode == 2
    for problem in (
        "4 problems",
        f"({broken['id']}): llm_seconds is no number of seconds",
        f"outputs.jsonl:{len(rows) + 1}: id {rows[0]['id']} comes a second time",
        f"1 item of the suite has no line: {absent['id']};",
        f"1 question has no control_answer, and others have: {unanswered['id']};",
    ):
        assert problem in done.stderr
    assert "canary" not in done.stderr


def test_an_item_whose_line_is_wrong_is_not_called_missing(tmp_path: Path, make_suite: MakePath) -> None:
    rows = outputs_of(suite := make_suite())
    rows[0]["recognize_seconds"] = -1
    done = import_rows(tmp_path, suite, rows)
    assert "recognize_seconds is no number of seconds" in done.stderr
    assert "have no" not in done.stderr


def test_a_control_needs_a_transcript_arm(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = outputs_of(suite)
    for row in rows:
        row.pop("transcript_arm_answer", None)
    assert "control_answer repeats transcript_arm_answer" in import_rows(tmp_path, suite, rows).stderr


def test_answers_to_what_is_no_question(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    rows = outputs_of(suite)
    rows[-1]["answer"] = "canary"
    assert "the suite has no reference_answer for it" in import_rows(tmp_path, suite, rows).stderr


def test_an_existing_run_is_not_replaced(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    assert import_rows(tmp_path, suite, outputs_of(suite)).returncode == 0
    again = import_rows(tmp_path, suite, outputs_of(suite))
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_recordings_that_are_not_here(tmp_path: Path, make_suite: MakePath) -> None:
    suite = make_suite()
    for path in (suite / "audio").iterdir():
        path.unlink()
    done = import_rows(tmp_path, suite, outputs_of(suite))
    assert done.returncode == 0, done.stderr
    assert "7 items have no recording" in done.stdout
    assert report(tmp_path / "run")["arms"]["audio"]["wer"]["n"] == 6
    assert report(tmp_path / "run")["timings"]["rtf_inference"] is None


def test_an_imported_run_cannot_be_run(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> None:
    config = make_config(recognizer={"kind": "imported", "name": "x", "outputs_sha256": "0" * 64})
    done = misheard("run", config, "--suite", make_suite(), "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "imported outputs cannot be run again" in done.stderr


def test_without_a_library_that_decodes_there_are_no_fingerprints(
    tmp_path: Path, make_suite: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = make_suite()
    # A package of that name that does not import, found before the one that is installed.
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "soundfile.py").write_text("raise ImportError('no libsndfile')\n")
    monkeypatch.setenv("PYTHONPATH", str(broken), prepend=os.pathsep)
    done = import_rows(tmp_path, suite, outputs_of(suite))
    assert done.returncode == 0, done.stderr
    assert report(tmp_path / "run")["arms"]["audio"]["wer"]["n"] == 6
    assert "7 items have no recording that can be decoded here" in done.stdout
