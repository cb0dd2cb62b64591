"""Runs with a corrector: worked cases through the whole path, failures, lists, what each arm is given."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import misheard
from misheard.metrics.base import Arm
from misheard.run.finished import read_finished_run
from misheard.run.replies import read_replies

MakePath = Callable[..., Path]

CASES = [
    case
    for line in (Path(__file__).parents[1] / "metrics" / "code_switching_cases.jsonl")
    .read_text()
    .splitlines()
    if (case := json.loads(line))["metric"] in ("over_correction", "correction", "etcr")
]
FAILED = {"ref": "a b", "raw": "a canary", "corrected": "a canary"}
ANSWERED = {"ref": "哪里", "raw": "那里", "corrected": "那里"}
SPOKEN = [*CASES, FAILED, ANSWERED]
ANSWER = "Sorry, a canary cannot help."


def heard_by(suite: Path, audio: str) -> str:
    from misheard.audio.decode import decode
    from misheard.recognizers.fake import samples_sha256
    from misheard.recognizers.protocol import AudioWindow

    return samples_sha256(AudioWindow(decode(suite / audio).samples, "zh"))


@pytest.fixture
def make_run(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> Callable[..., Path]:
    """Return a function that runs the worked cases with a scripted corrector."""
    suite = make_suite(speech=len(SPOKEN), silent=0)
    header = yaml.safe_load((suite / "suite.yaml").read_text())
    header["defaults"] |= {"language": "zh", "scripts": ["Hans", "Latn"]}
    header |= {"conditions": {"language": ["zh"], "noise": ["clean"]}, "primary": {"zh": "mer"}}
    header |= {"glossary": {"zh": ["vLLM"]}}
    (suite / "suite.yaml").write_text(yaml.safe_dump(header))
    heard, replies, rows = {}, {}, []
    for index, case in enumerate(SPOKEN):
        audio = f"audio/q{index:02d}.flac"
        said = {"reference": case.get("ref", case["raw"]), "reference_answer": "no"}
        rows.append({"id": f"q{index}", "audio": audio, **said})
        heard[heard_by(suite, audio)] = case["raw"]
        replies[f"FIX {case['raw']} () []"] = json.dumps({"transcript": case["corrected"]})
    replies[f"FIX {ANSWERED['raw']} () []"] = json.dumps({"transcript": ANSWER})
    (suite / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prompt = tmp_path / "fix.yaml"
    prompt.write_text('user: "FIX {transcript} ({hypotheses}) [{glossary}]"\n')
    model = {"kind": "fake", "answers": replies, "failures": {f"FIX {FAILED['raw']} () []": "llm_error"}}

    def make(out: str, tables: Callable[[dict[str, str]], dict[str, Any]] | None = None, **more: Any) -> Path:
        recognizer = {"kind": "fake", **({"transcripts": heard} if tables is None else tables(heard))}
        correct = {"prompt": str(prompt), **more.pop("correct", {})}
        asked = {**model, **more.pop("language_model", {})}
        config = make_config(recognizer=recognizer, language_model=asked, correct=correct, **more)
        done = misheard("run", config, "--cpu", "--suite", suite, "--out", tmp_path / out)
        assert done.returncode == 0, done.stderr
        return tmp_path / out

    return make


def counts_of(run: Path, arm: Arm, family: str) -> list[dict[str, float]]:
    finished = read_finished_run(run)
    columns = next(one.columns for one in finished.families if one.name == family)
    rows = finished.table.arms[arm].counts[family].values.tolist()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def test_the_worked_cases_come_out_of_a_run(make_run: Callable[..., Path]) -> None:
    run = make_run("out")
    corrections = counts_of(run, Arm.AUDIO, "correction")
    changes = counts_of(run, Arm.AUDIO, "token_change_latn")
    for case, counts, change in zip(CASES, corrections, changes, strict=False):
        counted = {**counts, "errors": change["edits"]}
        counted["length"] = max(change["raw_words"], change["corrected_words"])
        for name in case.keys() & counted.keys():
            assert counted[name] == case[name], (case["metric"], name)
    audio = json.loads((run / "report.json").read_bytes())["arms"]["audio"]
    total = {name: sum(row[name] for row in corrections) for name in corrections[0]}
    assert total["corrections"] == len(SPOKEN)
    assert audio["correction_failure_rate"]["value"] == 2 / len(SPOKEN)
    assert audio["over_correction_rate"]["value"] == total["over_corrections"] / total["raw_correct_tokens"]
    assert audio["correction_precision"]["value"] == total["improvements"] / total["modifications"]
    assert audio["correction_recall"]["value"] == total["improvements"] / total["raw_error_tokens"]
    assert audio["latn_token_change_rate"]["value"] == sum(row["edits"] for row in changes) / sum(
        row["raw_words"] for row in changes
    )


def test_an_unused_correction_leaves_the_raw_text_and_fails_no_item(make_run: Callable[..., Path]) -> None:
    run = make_run("out")
    failed, answered = counts_of(run, Arm.AUDIO, "correction")[-2:]
    for counts in (failed, answered):
        assert (counts["unused_corrections"], counts["modifications"]) == (1, 0)
    raw, corrected = (counts_of(run, Arm.AUDIO, name)[-2:] for name in ("wer", "wer_corrected"))
    assert raw == corrected
    assert list(csv.DictReader((run / "failures.csv").read_text().splitlines())) == []
    for path in ("report.json", "matrix.csv", "failures.csv", "items.parquet"):
        assert b"canary" not in (run / path).read_bytes(), path


def test_the_answers_of_the_uncorrected_arm_are_those_of_the_raw_text(make_run: Callable[..., Path]) -> None:
    run = make_run("out")
    report = json.loads((run / "report.json").read_bytes())
    assert list(report["arms"]) == ["audio", "uncorrected", "transcript", "control"]
    answers = read_replies(run / "journal" / "respond.jsonl")
    for index, case in enumerate(CASES):
        for arm, said in ((Arm.AUDIO, case["corrected"]), (Arm.UNCORRECTED, case["raw"])):
            answer = answers.of(arm, f"q{index}")
            assert answer is not None
            assert answer["text"] == said


def test_a_run_scored_again_says_the_same(make_run: Callable[..., Path]) -> None:
    run = make_run("out")
    report = (run / "report.json").read_bytes()
    assert misheard("score", run).returncode == 0
    assert (run / "report.json").read_bytes() == report


def test_runs_with_and_without_a_corrector_compare_in_what_both_have(
    make_run: Callable[..., Path], tmp_path: Path, make_config: MakePath
) -> None:
    with_one = make_run("with")
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    del config["correct"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    done = misheard(
        "run", tmp_path / "config.yaml", "--cpu", "--suite", tmp_path / "suite", "--out", tmp_path / "without"
    )
    assert done.returncode == 0, done.stderr
    compared = misheard("compare", tmp_path / "without", with_one, "--json", tmp_path / "c.json")
    assert compared.returncode in (0, 3), compared.stderr
    (comparison,) = json.loads((tmp_path / "c.json").read_bytes())["comparisons"]
    found = {difference["family"] for difference in comparison["differences"]}
    assert "wer" in found
    assert "correction" not in found


def lists(heard: dict[str, str]) -> dict[str, Any]:
    return {"n_best": {key: [text, f"{text} x", "哪里"] for key, text in heard.items()}}


def test_the_corrector_is_told_of_the_list_and_the_glossary(make_run: Callable[..., Path]) -> None:
    raw = ANSWERED["raw"]
    answers = {f"FIX {raw} ({raw} x\n哪里) [vLLM]": json.dumps({"transcript": "哪里"})}
    answers |= {f"FIX {ANSWERED['ref']} () [vLLM]": json.dumps({"transcript": "哪里"})}
    run = make_run(
        "out", lists, correct={"n_best": True, "glossary": True}, language_model={"answers": answers}
    )
    for arm in (Arm.AUDIO, Arm.TRANSCRIPT):
        assert counts_of(run, arm, "correction")[-1]["unused_corrections"] == 0
    assert counts_of(run, Arm.AUDIO, "wer_corrected")[-1]["hits"] == 1
    listed = counts_of(run, Arm.AUDIO, "n_best")[-1]
    assert (listed["first_edits"], listed["oracle_edits"], listed["hypotheses"]) == (1, 0, 3)
