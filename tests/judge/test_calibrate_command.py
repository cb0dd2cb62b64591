"""`misheard judge` with fake judges: drift passes or blocks, replies are counted, no text comes out."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_calibrations import made_set, write_config, write_set
from typer.testing import CliRunner

from misheard import cli
from misheard.commands import app
from misheard.errors import MisheardError
from misheard.judge.calibration import read_calibration
from misheard.judge.calibration_set import CalibrationItem, read_calibration_set
from misheard.judge.trust import trust
from misheard.stages.judge import View


def misheard(*arguments: object) -> tuple[int, str]:
    """Return the exit code and everything that was printed."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, MisheardError):
        return done.exception.exit_code, done.output + str(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def level(score: int, more: int = 0) -> Any:
    """A judge that says `score`, and `more` above it where texts are not swapped: mean score + more / 2."""
    return lambda item, view: score + (more if view == "plain" else 0)


@pytest.fixture
def over(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set.jsonl", made_set())


def calibrate(over: Path, scored: Any, *more: str, **settings: Any) -> tuple[int, str]:
    config = write_config(over.parent, over, scored, **settings)
    return misheard("judge", "calibrate", config, "--set", over, *more)


def status(over: Path) -> str:
    return read_calibration(over.parent / "calibration.json").status


def test_a_judge_that_drifts_by_half_a_point_passes_and_one_and_a_half_block(over: Path) -> None:
    code, text = calibrate(over, level(60))
    assert (code, status(over)) == (0, "calibrated")
    assert "first calibration" in text
    code, text = calibrate(over, level(60, 1))
    assert (code, status(over)) == (0, "calibrated")
    assert "all items +0.50" in text
    code, text = calibrate(over, level(60, 3))
    assert (code, status(over)) == (1, "drifted")
    assert "all items +1.50" in text
    # the same scores again are no way around it, the judge as it was is
    assert calibrate(over, level(60, 3))[0] == 1
    assert calibrate(over, level(60))[0] == 0


def test_small_drifts_do_not_add_up_unseen(over: Path) -> None:
    codes = [calibrate(over, level(60, more))[0] for more in (0, 1, 2, 3)]
    assert codes == [0, 0, 0, 1]


def test_a_drift_is_accepted_with_a_reason_that_is_kept(over: Path) -> None:
    calibrate(over, level(60))
    assert calibrate(over, level(70), "--accept", "a better model")[0] == 0
    kept = read_calibration(over.parent / "calibration.json")
    assert kept.status == "accepted"
    assert [one.reason for one in kept.acceptances] == ["a better model"]
    assert calibrate(over, level(70, 1))[0] == 0
    assert [one.reason for one in read_calibration(over.parent / "calibration.json").acceptances] == [
        "a better model"
    ]


@pytest.mark.parametrize("by", ["language_code", "question"])
def test_drifts_that_cancel_each_other_block(by: str, over: Path) -> None:
    def apart(item: CalibrationItem, view: View) -> int:
        return 62 if getattr(item, by) in {"en", "answer"} else 58

    calibrate(over, level(60))
    code, text = calibrate(over, apart)
    assert code == 1
    assert "all items +0.00" in text


def test_malformed_replies_are_counted_and_never_guessed(over: Path) -> None:
    def broken(item: CalibrationItem, view: View) -> int | str:
        replies = {"en-0": "80", "en-1": '{"score": 80}', "hi-0": "I say 80 of 100."}
        return replies.get(item.id, 80)

    code, text = calibrate(over, broken)
    assert code == 0
    scores = read_calibration(over.parent / "calibration.json").scores
    assert {name for name, score in scores.items() if score.score is None} == {"en-0", "en-1", "hi-0"}
    assert all(scores[name].invalid == 2 for name in ("en-0", "en-1", "hi-0"))
    row = next(line.split() for line in text.splitlines() if line.startswith("en, meaning"))
    assert "1/2" in row
    # scores that come and go are a drift that nobody can tell
    assert calibrate(over, level(80))[0] == 1
    assert status(over) == "drifted"


def test_a_judge_without_a_valid_reply_is_not_calibrated(over: Path) -> None:
    assert calibrate(over, lambda item, view: "no")[0] == 1
    assert status(over) == "unscored"
    assert calibrate(over, level(60))[0] == 0


def test_another_set_is_not_comparable(over: Path) -> None:
    calibrate(over, level(60))
    kept = (over.parent / "calibration.json").read_bytes()
    write_set(over, made_set(each=6))
    code, text = calibrate(over, level(90))
    assert code == 4
    assert "calibration set changed" in text
    assert (over.parent / "calibration.json").read_bytes() == kept
    assert calibrate(over, level(90), "--accept", "new set, new judge")[0] == 0


def test_new_human_scores_do_not_make_another_set(over: Path) -> None:
    calibrate(over, level(60))
    write_set(over, [{**row, "human_score": 55.5, "scored_by": "us"} for row in made_set()])
    code, text = calibrate(over, level(60, 1))
    assert code == 0
    assert "all items +0.50" in text and "8 by us" in text


def test_flips_are_counted_per_item(over: Path) -> None:
    def flips(item: CalibrationItem, view: View) -> int:
        return 40 if item.id == "en-0" and view == "swapped" else 60

    _, text = calibrate(over, flips)
    row = next(line.split() for line in text.splitlines() if line.startswith("en, meaning"))
    assert row[-1] == "1/2"


def test_no_text_of_set_or_replies_comes_out(over: Path) -> None:
    printed = [
        calibrate(over, level(60))[1],
        calibrate(over, lambda item, view: "canary reply")[1],
    ]
    assert "canary" not in "".join(printed)
    assert "canary" not in (over.parent / "calibration.json").read_text()


@pytest.mark.parametrize("kind", ["timeout", "llm_error"])
def test_a_server_that_fails_leaves_the_file_as_it_is(kind: str, over: Path) -> None:
    calibrate(over, level(60))
    kept = (over.parent / "calibration.json").read_bytes()
    config = write_config(over.parent, over, level(90))
    data = yaml.safe_load(config.read_text())
    asked = next(iter(data["language_model"]["answers"]))
    data["language_model"]["failures"] = {asked: kind}
    config.write_text(yaml.safe_dump(data))
    code, text = misheard("judge", "calibrate", config, "--set", over)
    assert code == 2
    assert "nothing was written" in text
    assert (over.parent / "calibration.json").read_bytes() == kept


def test_the_template_is_a_set_and_never_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert misheard("judge", "template", path)[0] == 0
    assert len(read_calibration_set(path).items) == 50
    code, text = misheard("judge", "template", path)
    assert code == 2
    assert "is there already" in text


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda data: data.pop("judge"), "has no judge"),
        (lambda data: data["judge"].pop("calibration"), "--out FILE"),
        (lambda data: data["judge"].update(meaning_prompt="nope"), "judge.meaning_prompt"),
        (lambda data: data["judge"].update(calibration="no/where.json"), "folder"),
    ],
)
def test_what_cannot_be_calibrated_is_said(change: Any, complaint: str, over: Path) -> None:
    config = write_config(over.parent, over, level(60))
    data = yaml.safe_load(config.read_text())
    change(data)
    config.write_text(yaml.safe_dump(data))
    code, text = misheard("judge", "calibrate", config, "--set", over)
    assert code == 2
    assert complaint in text


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "x" * 501])
def test_a_reason_is_one_line(reason: str, over: Path) -> None:
    assert calibrate(over, level(60), "--accept", reason)[0] == 2


def test_trust_is_for_the_calibrated_judge_alone(over: Path) -> None:
    calibrate(over, level(60))
    kept = read_calibration(over.parent / "calibration.json")
    judge = json.loads(json.dumps(kept.judge))
    assert trust(judge, kept).is_trusted
    assert trust({"meaning": judge["meaning"]}, kept).is_trusted
    for part, value in [("engine", {"kind": "other"}), ("prompt", {}), ("second", "none")]:
        other = {**judge, "answer": {**judge["answer"], part: value}}
        found = trust(other, kept)
        assert not found.is_trusted and part in found.reason
    assert not trust(judge, None).is_trusted
    calibrate(over, level(80))
    drifted = read_calibration(over.parent / "calibration.json")
    found = trust(drifted.judge, drifted)
    assert not found.is_trusted
    assert found.drift == 20.0 and "drifted" in found.reason


@pytest.mark.parametrize(("command", "advice"), [("run", "; go on with --out DIR --resume"), ("judge", "")])
def test_only_a_run_that_was_interrupted_can_go_on(
    command: str, advice: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: list[str]) -> None:
        sys.exit(130)

    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(cli, "_run", interrupted)
    monkeypatch.setattr(sys, "argv", ["misheard", command])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == f"misheard: interrupted{advice}\n"
