"""Whole runs without models: arms, failures, resume, rescoring, comparison, privacy, exit codes."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import misheard

MakePath = Callable[..., Path]


def run(config: Path, suite: Path, out: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return misheard("run", config, "--cpu", "--suite", suite, "--out", out, *more)


def report(out: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((out / "report.json").read_bytes())
    return loaded


def journal_rows(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    return [row for row in rows if "commit" not in row]


def perfect_transcripts(suite: Path) -> dict[str, str]:
    """Return a fake recognizer's table that hears every reference."""
    from misheard.audio.decode import decode
    from misheard.recognizers.fake import samples_sha256
    from misheard.recognizers.protocol import AudioWindow

    table = {}
    for line in (suite / "items.jsonl").read_text().splitlines():
        row = json.loads(line)
        window = AudioWindow(decode(suite / row["audio"]).samples, "en")
        table[samples_sha256(window)] = row["reference"]
    return table


def test_a_run_leaves_the_documented_files(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    done = run(make_config(), make_suite(), tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = {p.name for p in (tmp_path / "out").iterdir() if not p.name.startswith(".")}
    assert names == {
        "run.json", "plan.jsonl", "journal", "items.parquet", "report.json", "matrix.csv", "failures.csv",
        "logs", "telemetry.parquet",
    }  # fmt: skip
    state = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert state["status"] == "complete"
    assert state["invocations"][0]["wall_seconds"] > 0
    assert (
        state["suite"]["sha256"]
        == json.loads((tmp_path / "out" / "plan.jsonl").read_text().splitlines()[0])["suite"]
    )


def test_no_text_outside_the_journal(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> None:
    suite = make_suite()
    config = make_config(language_model={"kind": "fake", "default": "the canary sang"})
    done = run(config, suite, tmp_path / "out")
    config.write_text(config.read_text().replace("canary", "c_nary"))
    texts = [done.stdout, done.stderr]
    outside = [p for p in (tmp_path / "out").rglob("*") if p.is_file() and p.parent.name != "journal"]
    # run.json holds the config, and this config's fake model holds its answer.
    raw = [p.read_bytes() for p in outside if p.name != "run.json"]
    assert len(raw) >= 5
    assert not any("canary" in text for text in texts)
    assert not any(b"canary" in data for data in raw)
    assert b"canary" in (tmp_path / "out" / "journal" / "respond.jsonl").read_bytes()


def test_a_perfect_transcript_costs_exactly_nothing(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite = make_suite()
    config = make_config(
        recognizer={"kind": "fake", "batch_size": 2, "transcripts": perfect_transcripts(suite)}
    )
    done = run(config, suite, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "answering, transcript arm (6 of 6 shared): 0" in done.stderr.splitlines()
    assert {"answering, audio arm: 6", "answering, control arm: 6"} < set(done.stderr.splitlines())
    found = report(tmp_path / "out")
    assert found["propagation"]["audio"]["quality_drop"]["value"] == 0
    assert found["arms"]["audio"]["wer"]["value"] == 0
    rows = journal_rows(tmp_path / "out" / "journal" / "respond.jsonl")
    keys = {
        arm: {r["item"]: r["key"] for r in rows if r.get("arm") == arm}
        for arm in ("audio", "transcript", "control")
    }
    assert keys["audio"] == keys["transcript"]
    assert not set(keys["control"].values()) & set(keys["transcript"].values())
    completions = [row["key"] for row in rows if "text" in row]
    assert len(completions) == len(set(completions)) == 12


def test_scoring_again_gives_the_same_bytes(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    out = tmp_path / "out"
    suite = make_suite()
    run(make_config(), suite, out)
    before = {n: (out / n).read_bytes() for n in ("report.json", "matrix.csv", "failures.csv")}
    for path in suite.rglob("*"):
        if path.is_file():
            path.unlink()
    done = misheard("score", out)
    assert done.returncode == 0, done.stderr
    assert {n: (out / n).read_bytes() for n in before} == before


def broken_audio(suite: Path) -> None:
    """Damage four recordings, each in a way of its own."""
    import soundfile

    (suite / "audio" / "q00.flac").unlink()
    (suite / "audio" / "q01.flac").write_bytes(b"not audio at all")
    soundfile.write(suite / "audio" / "q02.flac", np.zeros(0, np.float32), 16_000)
    whole = (suite / "audio" / "q03.flac").read_bytes()
    (suite / "audio" / "q03.flac").write_bytes(whole[: len(whole) // 2])


def test_failed_items_are_typed_and_counted_and_nothing_else_suffers(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite = make_suite()
    broken_audio(suite)
    done = run(make_config(), suite, tmp_path / "out")
    assert done.returncode == 1, done.stderr
    found = report(tmp_path / "out")
    assert found["failures"]["samples_failed"] == 4
    table = (tmp_path / "out" / "failures.csv").read_text()
    for item, kind in (("q00", "audio_missing"), ("q01", "audio_undecodable"), ("q03", "audio_truncated")):
        assert f"{item},audio,recognize,{kind}" in table
    assert "q02,audio,recognize,audio_" in table
    assert found["arms"]["audio"]["wer"]["n"] == 2
    assert found["arms"]["transcript"]["response_quality"]["n"] == 6
    assert found["propagation"]["audio"]["quality_drop"]["n"] == 2


def test_worst_counts_what_failed_as_all_wrong(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite = make_suite()
    broken_audio(suite)
    config = make_config(
        recognizer={"kind": "fake", "batch_size": 2, "transcripts": {}},
    )
    done = run(config, suite, tmp_path / "out", "--on-failure", "worst")
    assert done.returncode == 1
    wer = report(tmp_path / "out")["arms"]["audio"]["wer"]
    assert wer["n"] == 6
    assert wer["counts"]["deletions"] >= 4 * 4


@pytest.mark.parametrize(
    ("option", "words"),
    [(("--on-failure", "abort"), "no report is written"), (("--fail-fast",), "--fail-fast")],
)
def test_a_run_can_stop_at_failures(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, option: tuple[str, ...], words: str
) -> None:
    suite = make_suite()
    broken_audio(suite)
    done = run(make_config(), suite, tmp_path / "out", *option)
    assert done.returncode == 1
    assert words in done.stderr
    assert "q00" in done.stderr
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_failed_answer_names_its_item_and_leaves_recognition_counted(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    config = make_config(
        language_model={"kind": "fake", "failures": {"canary question number 3": "prompt_too_long"}}
    )
    done = run(config, make_suite(), tmp_path / "out")
    assert done.returncode == 1
    table = (tmp_path / "out" / "failures.csv").read_text().splitlines()
    assert [line.split(",")[:4] for line in table[1:]] == [
        ["q03", "transcript", "respond", "prompt_too_long"],
        ["q03", "control", "respond", "prompt_too_long"],
    ]
    found = report(tmp_path / "out")
    assert found["arms"]["audio"]["wer"]["n"] == 6
    assert found["propagation"]["audio"]["quality_drop"]["n"] == 5


def test_a_language_that_the_recognizer_lacks_fails_alone(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    from misheard.config import load_config
    from misheard.recognizers.fake import FakeRecognizer
    from misheard.run.clock import Clock
    from misheard.run.context import RunOptions
    from misheard.run.progress import NoProgress
    from misheard.run.runner import run as run_here

    monkeypatch.setattr(FakeRecognizer, "supports", lambda self, language: language != "en")
    suite = make_suite(speech=2, silent=0)
    scored = run_here(load_config(make_config()), RunOptions(tmp_path / "out", suite), NoProgress(), Clock())
    assert scored.report["failures"]["samples_failed"] == 2
    assert "unsupported_language" in (tmp_path / "out" / "failures.csv").read_text()


def test_without_a_language_model_recognition_alone_is_measured(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    done = run(make_config(language_model=None), make_suite(), tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = report(tmp_path / "out")
    assert list(found["arms"]) == ["audio"]
    assert found["arms"]["audio"]["wer"]["n"] == 6
    assert not (tmp_path / "out" / "journal" / "respond.jsonl").exists()


def test_resume_goes_on_only_with_the_same_run(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    assert run(config, suite, out, "--resume").returncode == 2
    assert run(config, suite, out).returncode == 0
    again = run(config, suite, out)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    assert run(config, suite, out, "--resume").returncode == 0
    changed = run(config, suite, out, "--resume", "--set", "respond.max_tokens=9")
    assert changed.returncode == 4
    assert "respond.max_tokens" in changed.stderr
    items = suite / "items.jsonl"
    items.write_text(items.read_text().replace("canary question number 2", "another question"))
    edited = run(config, suite, out, "--resume")
    assert edited.returncode == 4
    assert "q02" in edited.stderr


def test_a_run_from_before_there_were_schedules_goes_on(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "run"
    run(config, suite, out)
    state = json.loads((out / "run.json").read_text())
    for section in ("execution", "telemetry", "price"):
        del state["config"][section]
    del state["telemetry"]
    (out / "run.json").write_text(json.dumps(state))
    done = run(config, suite, out, "--resume")
    assert (done.returncode, done.stderr.count("misheard:")) == (0, 0)


def test_answering_may_change_until_the_first_answer(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, out = make_suite(), tmp_path / "out"
    run(make_config(), suite, out)
    (out / "journal" / "respond.jsonl").unlink()
    resumed = run(make_config(), suite, out, "--resume", "--set", "respond.max_tokens=9")
    assert resumed.returncode == 0, resumed.stderr
    state = json.loads((out / "run.json").read_bytes())
    assert state["config"]["respond"]["max_tokens"] == 9
    assert state["system"]["respond"]["sampling"]["max_tokens"] == 9
    refused = run(make_config(), suite, out, "--resume", "--set", "recognizer.batch_size=1")
    assert refused.returncode == 4
    assert "recognizer.batch_size" in refused.stderr


def test_a_language_model_that_cannot_be_used_is_found_before_recognition(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    server = {"kind": "openai_api", "base_url": "http://127.0.0.1:9/v1", "model": "m", "max_attempts": 1}
    folder = {"kind": "embedded", "model": str(tmp_path)}
    for settings in (server, folder):
        for more in ((), ("--dry-run",)):
            done = run(make_config(language_model=settings), make_suite(name="s"), tmp_path / "out", *more)
            assert done.returncode == 2
            assert "language_model" in done.stderr
            assert not (tmp_path / "out" / "plan.jsonl").exists()
            shutil.rmtree(tmp_path / "s")
            shutil.rmtree(tmp_path / "out", ignore_errors=True)


def test_a_recording_that_changed_since_the_plan_is_a_failure(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    import soundfile

    suite, config, out = make_suite(silent=0), make_config(), tmp_path / "out"
    run(config, suite, out)
    (out / "journal" / "recognize.jsonl").unlink()
    (out / "journal" / "respond.jsonl").unlink()
    soundfile.write(suite / "audio" / "q00.flac", np.full(16_000, 0.1, np.float32), 16_000)
    done = run(config, suite, out, "--resume")
    assert done.returncode == 1, done.stderr
    assert "q00,audio,recognize,audio_undecodable,the recording changed" in (out / "failures.csv").read_text()


def test_two_processes_do_not_share_a_directory(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    from misheard.run.directory import RunDirectory

    run(make_config(), make_suite(), tmp_path / "out")
    holder = RunDirectory.create(tmp_path / "out", resume=True)
    done = run(make_config(), tmp_path / "suite", tmp_path / "out", "--resume")
    holder.close()
    assert done.returncode == 2
    assert "another process" in done.stderr


def test_limit_takes_the_first_items(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> None:
    run(make_config(), make_suite(), tmp_path / "out", "--limit", 3)
    assert report(tmp_path / "out")["items"]["total"] == 3
    assert report(tmp_path / "out")["suite"]["limit"] == 3


def test_a_dry_run_writes_nothing(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> None:
    done = run(make_config(), make_suite(), tmp_path / "out", "--dry-run")
    assert done.returncode == 0
    assert "7 items" in done.stdout
    assert "at most 18 completions" in done.stdout
    assert not (tmp_path / "out").exists()


def test_compare_two_runs(tmp_path: Path, make_suite: MakePath, make_config: MakePath) -> None:
    suite = make_suite()
    run(make_config(), suite, tmp_path / "a")
    better = make_config(
        recognizer={"kind": "fake", "batch_size": 2, "transcripts": perfect_transcripts(suite)}
    )
    run(better, suite, tmp_path / "b")
    done = misheard(
        "compare", tmp_path / "a", tmp_path / "b", "--json", tmp_path / "c.json", "--resamples", 200
    )
    assert done.returncode == 0, done.stderr
    differences = compared(tmp_path / "c.json")[0]["differences"]
    wer = next(d for d in differences if d["metric"] == "wer")
    assert wer["b"] == 0
    assert wer["difference"] == -wer["a"]
    same = misheard(
        "compare", tmp_path / "a", tmp_path / "a", "--json", tmp_path / "s.json", "--resamples", 200
    )
    assert same.returncode == 0
    assert all(d["difference"] in (0, None) for d in compared(tmp_path / "s.json")[0]["differences"])


def compared(path: Path) -> list[dict[str, Any]]:
    """Return the comparisons of a document that `misheard compare` wrote."""
    loaded: list[dict[str, Any]] = json.loads(path.read_bytes())["comparisons"]
    return loaded


def test_compare_refuses_what_does_not_belong_together(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config = make_suite(), make_config()
    run(config, suite, tmp_path / "a")
    run(config, suite, tmp_path / "short", "--limit", 5)
    run(config, suite, tmp_path / "exact", "--set", "scoring.profile=exact")
    items = suite / "items.jsonl"
    items.write_text(items.read_text().replace("canary question number 2", "another question"))
    run(config, suite, tmp_path / "edited")
    for other, named in (("short", "q05"), ("edited", "q02"), ("exact", "profile")):
        done = misheard("compare", tmp_path / "a", tmp_path / other)
        assert done.returncode == 4, done.stdout
        assert named in done.stderr
    for missing in (tmp_path, tmp_path / "nowhere"):
        assert misheard("compare", tmp_path / "a", missing).returncode == 4
