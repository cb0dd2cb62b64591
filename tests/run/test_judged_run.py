"""Runs with a judge: numbers withheld until it is calibrated, texts kept in, kill and resume."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import misheard
from misheard.audio.decode import decode
from misheard.judge.calibration import Calibration, Rerun, calibrate, read_calibration, write_calibration
from misheard.judge.calibration_set import read_calibration_set
from misheard.metrics.base import Judgement
from misheard.recognizers.fake import samples_sha256
from misheard.recognizers.protocol import AudioWindow

MakePath = Callable[..., Path]

REPLY = json.dumps({"rationale": "canary rationale", "score": 70})


def judged_config(make_config: MakePath, reply: str = REPLY, **judge: Any) -> Path:
    settings = {"language_model": {"kind": "fake", "default": reply, "batch_size": 2}, **judge}
    answers = {"kind": "fake", "default": "canary answer"}
    return make_config(language_model=answers, judge=settings)


def report(out: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((out / "report.json").read_bytes())
    return loaded


def calibration_of(out: Path, score: float | None = 60.0) -> Calibration:
    """Return a calibration of the judge that a run pinned."""
    over = read_calibration_set(None)
    said = {item.id: Judgement(score, invalid=0 if score else 1) for item in over.items}
    judge = json.loads((out / "run.json").read_bytes())["system"]["judge"]
    return calibrate(None, over, Rerun(judge, said))


@pytest.fixture
def judged(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Path:
    out = tmp_path / "out"
    done = misheard("run", judged_config(make_config), "--suite", make_suite(4, 1), "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def test_numbers_are_withheld_until_this_judge_is_calibrated(judged: Path, tmp_path: Path) -> None:
    assert report(judged)["judge"]["status"] == "withheld"
    assert "judge_answer_score" not in report(judged)["arms"]["audio"]
    gate = tmp_path / "gate.yaml"
    guard = "{metric: judge_answer_score, at_least: 50}"
    gate.write_text(f"format: misheard-gate/1\nguards: [{guard}]\n")
    asked = misheard("gate", gate, judged)
    assert asked.returncode != 0
    assert "the judge's numbers are withheld, the judge was not calibrated" in asked.stderr.replace("\n", " ")
    write_calibration(tmp_path / "c.json", calibration_of(judged))
    withheld = misheard("report", judged).stdout
    assert "The judge's numbers are withheld: the judge was not calibrated" in withheld.replace("\n", " ")
    done = misheard("score", judged, "--calibration", tmp_path / "c.json")
    assert done.returncode == 0, done.stderr
    assert "The judge is the one that was calibrated" in done.stdout
    assert "70.0" in next(line for line in done.stdout.splitlines() if "answers, judged" in line)
    found = report(judged)
    assert found["judge"]["status"] == "trusted"
    for arm in ("audio", "transcript", "control"):
        assert found["arms"][arm]["judge_answer_score"]["value"] == 70.0
        assert found["arms"][arm]["judge_answer_score"]["n"] == 4
    assert "judge_meaning_score" not in found["arms"]["transcript"]
    write_calibration(tmp_path / "c.json", calibration_of(judged, None))
    assert misheard("score", judged, "--calibration", tmp_path / "c.json").returncode == 0
    assert report(judged)["judge"]["status"] == "withheld"


def test_a_calibration_of_another_judge_shows_nothing(judged: Path, tmp_path: Path) -> None:
    calibration = calibration_of(judged)
    judge = json.loads(json.dumps(calibration.judge))
    judge["answer"]["engine"]["settings_sha256"] = "other"
    write_calibration(tmp_path / "c.json", calibration.model_copy(update={"judge": judge}))
    assert misheard("score", judged, "--calibration", tmp_path / "c.json").returncode == 0
    found = report(judged)["judge"]
    assert found["status"] == "withheld"
    assert "engine" in found["reason"]


def test_no_rationale_is_written_and_no_text_leaves_the_journal(judged: Path, tmp_path: Path) -> None:
    write_calibration(tmp_path / "c.json", calibration_of(judged))
    done = misheard("score", judged, "--calibration", tmp_path / "c.json")
    assert "canary" not in done.stdout + done.stderr
    for path in judged.rglob("*"):
        if path.is_file():
            assert b"canary rationale" not in path.read_bytes(), path
            if path.parent != judged / "journal":
                assert b"canary" not in path.read_bytes(), path
    assert b"canary" not in (judged / "journal" / "judge.jsonl").read_bytes()


def test_malformed_replies_fail_no_item_and_are_counted(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    out = tmp_path / "out"
    config = judged_config(make_config, "I say 70.")
    done = misheard("run", config, "--suite", make_suite(3, 0), "--out", out, "--on-failure", "abort")
    assert done.returncode in (0, 1), done.stderr
    write_calibration(tmp_path / "c.json", calibration_of(out))
    assert misheard("score", out, "--calibration", tmp_path / "c.json").returncode == 0
    audio = report(out)["arms"]["audio"]
    assert audio["judge_answer_invalid_rate"]["value"] == 1.0
    assert audio["judge_answer_score"]["n"] == 0


def test_a_run_that_was_killed_while_judging_ends_as_one_that_was_not(judged: Path) -> None:
    journal = judged / "journal" / "judge.jsonl"
    whole = journal.read_bytes()
    config = judged.parent / "config.yaml"
    suite = judged.parent / "suite"
    for cut in (0, len(whole) // 3, len(whole) - 9):
        out = judged.parent / f"cut-{cut}"
        shutil.copytree(judged, out)
        (out / "report.json").unlink()
        (out / "journal" / "judge.jsonl").write_bytes(whole[:cut])
        run = json.loads((out / "run.json").read_bytes())
        (out / "run.json").write_text(json.dumps({**run, "status": "running"}))
        done = misheard("run", config, "--suite", suite, "--out", out, "--resume")
        assert done.returncode == 0, done.stderr
        assert scores(out) == scores(judged)
        before, after = report(judged), report(out)
        assert {**before, "timings": None} == {**after, "timings": None}


def scores(out: Path) -> dict[str, str]:
    rows = [json.loads(line) for line in (out / "journal" / "judge.jsonl").read_text().splitlines()]
    return {row["key"]: row["text"] for row in rows if "text" in row}


def test_a_calibration_of_the_config_is_kept_with_the_run(
    judged: Path, make_suite: MakePath, make_config: MakePath, tmp_path: Path
) -> None:
    write_calibration(tmp_path / "mine.json", calibration_of(judged))
    config = judged_config(make_config, calibration="mine.json")
    suite = make_suite(3, 0, name="second")
    out = tmp_path / "kept"
    done = misheard("run", config, "--suite", suite, "--out", out)
    assert done.returncode == 0, done.stderr
    assert report(out)["judge"]["status"] == "trusted"
    assert read_calibration(out / "journal" / "judge-calibration.json").is_good


@pytest.mark.parametrize("content", [None, "{}", "[" * 10_000])
def test_a_calibration_that_is_none_is_found_before_any_work(
    content: str | None, tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    if content is not None:
        (tmp_path / "bad.json").write_text(content)
    config = judged_config(make_config, calibration="bad.json")
    done = misheard("run", config, "--suite", make_suite(2, 0), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "bad.json" in done.stderr
    assert not (tmp_path / "out" / "journal" / "recognize.jsonl").exists()


def test_a_run_without_a_judge_takes_no_calibration(
    judged: Path, tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    write_calibration(tmp_path / "c.json", calibration_of(judged))
    out = tmp_path / "plain"
    done = misheard("run", make_config(), "--suite", make_suite(2, 0, name="other"), "--out", out)
    assert done.returncode == 0, done.stderr
    done = misheard("score", out, "--calibration", tmp_path / "c.json")
    assert done.returncode == 2
    assert "asked no judge" in done.stderr


@pytest.mark.vllm
@pytest.mark.slow
def test_a_real_server_gives_replies_that_are_valid_under_the_schema(
    tmp_path: Path, models_dir: Path, vllm_python: Path
) -> None:
    config = tmp_path / "config.yaml"
    model = {
        "kind": "vllm",
        "model": str(models_dir / "smollm2-135m-instruct"),
        "python": str(vllm_python),
        "max_model_len": 2048,
        "dtype": "float32",
        "startup_seconds": 400.0,
    }
    judge = {"language_model": model, "calibration": "c.json", "second": "none", "max_tokens": 128}
    config.write_text(yaml.safe_dump({"recognizer": {"kind": "fake"}, "judge": judge}))
    rows = [row for row in _template_rows() if row["language"] in {"en", "zh"}]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = misheard("judge", "calibrate", config, "--set", tmp_path / "set.jsonl", "--cpu")
    assert done.returncode == 0, done.stderr
    found = read_calibration(tmp_path / "c.json")
    assert len(found.scores) == 15
    # a rationale that runs into the limit of tokens is the one way out of the schema
    assert sum(one.score is None for one in found.scores.values()) <= 1
    assert found.judge["meaning"]["engine"]["engine_version"]


def _template_rows() -> list[dict[str, Any]]:
    from misheard.judge.calibration_set import template_bytes

    return [json.loads(line) for line in template_bytes().splitlines()]


def test_runs_of_different_judges_do_not_compare_until_both_are_scored_without(
    judged: Path, tmp_path: Path, make_config: MakePath
) -> None:
    other = tmp_path / "other"
    config = judged_config(make_config, REPLY.replace("70", "30"))
    assert misheard("run", config, "--suite", tmp_path / "suite", "--out", other).returncode == 0
    write_calibration(tmp_path / "a.json", calibration_of(judged))
    write_calibration(tmp_path / "b.json", calibration_of(other))
    assert misheard("score", judged, "--calibration", tmp_path / "a.json").returncode == 0
    # the judge of one run alone is not compared
    assert misheard("compare", judged, other).returncode == 0
    assert misheard("score", other, "--calibration", tmp_path / "b.json").returncode == 0
    done = misheard("compare", judged, other)
    assert done.returncode == 4
    assert "--set judge=null" in done.stderr
    for run in (judged, other):
        assert misheard("score", run, "--set", "judge=null").returncode == 0
    assert misheard("compare", judged, other).returncode == 0


def test_a_judge_that_had_nothing_to_judge_may_change_and_stays_in_the_report(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, out = make_suite(2, 0), tmp_path / "out"
    rows = [json.loads(line) for line in (suite / "items.jsonl").read_text().splitlines()]
    (suite / "items.jsonl").write_text(
        "".join(json.dumps({k: row[k] for k in ("id", "audio", "reference")}) + "\n" for row in rows)
    )
    heard = {}
    for row in rows:
        samples = decode(suite / row["audio"]).samples
        heard[samples_sha256(AudioWindow(samples, "en"))] = row["reference"]
    for threshold in (50, 60):
        judge = {"language_model": {"kind": "fake"}, "questions": ["meaning"], "threshold": threshold}
        config = make_config(
            recognizer={"kind": "fake", "transcripts": heard}, language_model=None, judge=judge
        )
        more = ["--resume"] if threshold == 60 else []
        done = misheard("run", config, "--suite", suite, "--out", out, *more)
        assert done.returncode == 0, done.stderr
        assert report(out)["judge"]["threshold"] == threshold
