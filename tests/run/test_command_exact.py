"""configs/command-exact.yaml: a clip-by-clip evaluation of any program, its fields, its limits, its stops."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clip_by_clip import word_rates

from command_line import misheard

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "command-exact.yaml"
PROGRAM = Path(__file__).with_name("canned_program.py")

SPOKEN = {
    "exact": ("Don't stop.", "Don't stop."),
    "punctuation": ("He was not an ill-disposed young man.", "he was not an ill disposed young man"),
    "apostrophes": ("It’s Tom's, isn't it?", "it's Tom's isnt 'it'"),
    "nothing": ("one two three", ""),
    "loops": ("stop", "stop stop stop stop"),
    "unicode": ("नमस्ते दुनिया ﬁne", "नमस्ते दुनीया fine"),
    "silence": ("", "thank you"),
    "quiet": ("", ""),
}


class Evaluation:
    """A manifest with recordings, a table of what the program prints, and runs over them."""

    def __init__(self, folder: Path, spoken: dict[str, tuple[str, str]]) -> None:
        soundfile = pytest.importorskip("soundfile", reason="needs the extra run")
        self.folder = folder
        self.items = []
        self.table: dict[str, dict[str, Any]] = {}
        (folder / "clips of $(x)").mkdir(parents=True)
        for number, (name, (reference, hypothesis)) in enumerate(spoken.items()):
            samples = np.full(8_000 + 4_000 * number, 0.1, np.float32)
            samples[::2] = -0.1
            soundfile.write(folder / "clips of $(x)" / f"{name}.wav", samples, 16_000)
            self.items.append({"id": name, "wav": f"clips of $(x)/{name}.wav", "reference": reference})
            self.table[name] = {
                "text": hypothesis,
                "audio_ms": 500 + 250 * number,
                "load_ms": 100.5,
                "transcribe_ms": 40 + number,
            }

    def run(self, out: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        manifest = self.folder / "manifest.json"
        manifest.write_text(json.dumps({"items": self.items}))
        (self.folder / "table.json").write_text(json.dumps(self.table))
        command = [sys.executable, str(PROGRAM), f"table={self.folder}/table.json", "{wav}"]
        return misheard(
            "run", CONFIG, "--suite", manifest, "--out", self.folder / out, "--set", "recognizer.model=null",
            "--set", f"recognizer.command={json.dumps(command)}", *arguments,
        )  # fmt: skip

    def clips(self, out: str) -> dict[str, Any]:
        path = self.folder / f"{out}-clips.json"
        done = misheard("clips", self.folder / out, "--json", path, "--with-text")
        assert done.returncode == 0, done.stderr
        loaded: dict[str, Any] = json.loads(path.read_bytes())
        return loaded


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """An evaluation with a run in its folder `run`."""
    evaluation = Evaluation(tmp_path_factory.mktemp("finished"), SPOKEN)
    done = evaluation.run("run")
    assert done.returncode == 1, done.stderr  # one clip has an empty transcript
    return evaluation


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    return Evaluation(tmp_path, SPOKEN)


def test_every_field_is_what_the_definition_says(finished: Evaluation) -> None:
    report = finished.clips("run")
    assert [clip["id"] for clip in report["clips"]] == list(SPOKEN)
    for clip in report["clips"]:
        row = finished.table[clip["id"]]
        assert (clip["reference"], clip["hypothesis"]) == SPOKEN[clip["id"]]
        assert {name: clip[name] for name in ("audio_ms", "load_ms", "transcribe_ms")} == {
            name: row[name] for name in ("audio_ms", "load_ms", "transcribe_ms")
        }
        assert clip["process_ms"] > 0
        assert clip["real_time_factor"] == row["transcribe_ms"] / row["audio_ms"]
        assert clip["wer"] == word_rates([clip]), clip["id"]
    failures = {clip["id"]: clip["failure"] for clip in report["clips"] if clip["failure"]}
    assert failures == {"nothing": "empty_transcript"}


def test_the_aggregate_sums_edits_and_times_and_weighs_by_duration(finished: Evaluation) -> None:
    report = finished.clips("run")
    whole, clips = report["aggregate"], report["clips"]
    assert (whole["clips"], whole["scored"], whole["failed"]) == (8, 8, 1)
    assert whole["wer"] == word_rates(clips)
    assert whole["wer"]["exact"]["insertions"] >= 2  # of the silence
    for name in ("audio_ms", "load_ms", "transcribe_ms", "process_ms"):
        assert whole[name] == pytest.approx(sum(clip[name] for clip in clips), abs=0.01)
    assert whole["real_time_factor"] == whole["transcribe_ms"] / whole["audio_ms"]
    assert whole["real_time_factor"] != pytest.approx(
        sum(clip["real_time_factor"] for clip in clips) / len(clips)
    )


def test_silence_has_no_rate_of_its_own_and_a_rate_may_exceed_one(finished: Evaluation) -> None:
    by_id = {clip["id"]: clip["wer"] for clip in finished.clips("run")["clips"]}
    assert by_id["silence"]["plain"]["wer"] is None and by_id["silence"]["plain"]["insertions"] == 2
    assert by_id["quiet"]["exact"]["wer"] is None and by_id["quiet"]["exact"]["insertions"] == 0
    assert by_id["loops"]["exact"]["wer"] == 3.0
    assert by_id["punctuation"]["plain"]["wer"] == 0.0 < by_id["punctuation"]["exact"]["wer"]


def test_reports_hold_text_only_when_asked_for(finished: Evaluation) -> None:
    done = misheard("clips", finished.folder / "run", "--json", finished.folder / "plain.json")
    outside = [p for p in (finished.folder / "run").rglob("*") if p.is_file() and p.parent.name != "journal"]
    for text in (
        done.stdout,
        *(path.read_bytes().decode("latin-1") for path in [finished.folder / "plain.json", *outside]),
    ):
        assert "disposed" not in text
    assert "silence" in done.stdout
    refused = misheard("clips", finished.folder / "run", "--with-text")
    assert refused.returncode == 2 and "--json" in refused.stderr


@pytest.mark.parametrize(
    ("trouble", "arguments", "words"),
    [
        ({"exit": 3}, [], "asr_error at recognize (the program ended with exit status 3)"),
        ({"text": "a", "sleep": 30}, ["--timeout", 1], "timeout at recognize"),
        ({"text": "a", "sleep": 30}, ["--budget", 1], "budget_exhausted at recognize"),
        ({"text": "a"}, [], "invalid_output at recognize"),
    ],
)
def test_the_first_failed_or_late_clip_ends_the_run_without_a_report(
    evaluation: Evaluation, tmp_path: Path, trouble: dict[str, Any], arguments: list[object], words: str
) -> None:
    evaluation.table["quiet"] = trouble  # the longest, so the first to run
    done = evaluation.run("run", *arguments)
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert "item quiet" in done.stderr
    assert not (tmp_path / "run" / "report.json").exists()
    assert misheard("clips", tmp_path / "run").returncode == 4


def test_failed_clips_may_be_left_out_instead(evaluation: Evaluation) -> None:
    evaluation.table["exact"] = {"exit": 3}
    done = evaluation.run("run", "--on-failure", "exclude", "--set", "fail_fast=false")
    assert done.returncode == 1
    root = evaluation.folder / "run"
    holders = {path.name for path in root.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()}
    assert holders == {"recognize.jsonl"} and "CANARY" not in done.stdout + done.stderr
    report = evaluation.clips("run")
    first = report["clips"][0]
    assert (first["failure"], first["wer"]["exact"], first["process_ms"]) == ("asr_error", None, None)
    whole = report["aggregate"]
    assert (whole["clips"], whole["scored"], whole["failed"]) == (8, 6, 2)
    scored = [clip for clip in report["clips"] if clip["failure"] is None]
    assert whole["wer"] == word_rates(scored)
    assert whole["transcribe_ms"] == sum(clip["transcribe_ms"] for clip in scored)


def test_a_larger_suite_is_refused_before_anything_runs(evaluation: Evaluation, tmp_path: Path) -> None:
    for arguments in ([], ["--dry-run"]):
        done = evaluation.run("run", "--max-items", 7, *arguments)
        assert done.returncode == 2 and "8 items" in done.stderr and "--max-items" in done.stderr
        assert not (tmp_path / "run").exists()
    assert evaluation.run("run", "--max-items", 7, "--limit", 1).returncode == 0


def test_a_preview_says_what_would_run(evaluation: Evaluation) -> None:
    done = evaluation.run("run", "--dry-run", "--timeout", 20, "--budget", 600)
    assert done.returncode == 0, done.stderr
    assert "a process per recording of at most 20 s, 600 s for all" in done.stdout
    assert "worst, stopping at the first" in done.stdout
    assert "8 items (6 speech, 2 non-speech), 8 resampling units" in done.stdout
    assert ": 1 item (" in (one := evaluation.run("run", "--dry-run", "--limit", 1).stdout)
    assert "non-speech), 1 resampling unit\n" in one


def test_a_gpu_and_a_cpu_run_are_compared(evaluation: Evaluation, tmp_path: Path) -> None:
    evaluation.run("gpu", "--set", "recognizer.device=cuda")
    evaluation.run("cpu", "--set", "recognizer.device=cuda", "--cpu")
    fast, slow = (evaluation.clips(name)["aggregate"] for name in ("gpu", "cpu"))
    assert slow["real_time_factor"] == pytest.approx(4 * fast["real_time_factor"])
    states = [json.loads((tmp_path / name / "run.json").read_bytes()) for name in ("gpu", "cpu")]
    assert [state["system"]["recognizer"]["device"] for state in states] == ["cuda", "cpu"]
    done = misheard("compare", tmp_path / "cpu", tmp_path / "gpu")
    assert done.returncode == 0, done.stderr
    assert "word error rate" in done.stdout
    done = misheard("clips", tmp_path / "gpu", tmp_path / "cpu", "--json", tmp_path / "both.json")
    assert done.returncode == 0, done.stderr
    assert "cpu: 0 of 8 transcripts differ from gpu's, 1 failed" in done.stdout
    both = json.loads((tmp_path / "both.json").read_bytes())
    assert [run["name"] for run in both["runs"]] == ["gpu", "cpu"]
    assert [run["aggregate"] for run in both["runs"]] == [fast, slow]


def test_runs_over_other_recordings_are_not_set_side_by_side(finished: Evaluation, tmp_path: Path) -> None:
    other = Evaluation(tmp_path, {"silence": ("", "thank you")})
    assert other.run("run").returncode == 0
    done = misheard("clips", finished.folder / "run", tmp_path / "run")
    assert done.returncode == 4 and "not over the same recordings" in done.stderr


def test_a_killed_run_goes_on_with_what_is_left_of_its_budget(evaluation: Evaluation, tmp_path: Path) -> None:
    """The first half of a run, then the rest: programs run once per clip, and their time adds up."""
    assert evaluation.run("whole").returncode == 1
    evaluation.table["loops"] = {"exit": 9}
    assert evaluation.run("run").returncode == 1
    journal = tmp_path / "run" / "journal" / "recognize.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    # The failed clip's batch, its last, goes: what a kill in the middle of it would have left.
    cut = max(n for n, line in enumerate(lines) if '"commit":"batch' in line and n < len(lines) - 2)
    journal.write_text("".join(lines[: cut + 1]))
    evaluation.table["loops"] = {
        "text": "stop stop stop stop",
        "audio_ms": 1500,
        "load_ms": 100.5,
        "transcribe_ms": 44,
    }
    done = evaluation.run("run", "--resume")
    assert done.returncode == 1, done.stderr
    whole, resumed = evaluation.clips("whole"), evaluation.clips("run")
    for clip in (*whole["clips"], *resumed["clips"], whole["aggregate"], resumed["aggregate"]):
        del clip["process_ms"]
    assert resumed["clips"] == whole["clips"] and resumed["aggregate"] == whole["aggregate"]


def test_the_report_has_the_programs_times(finished: Evaluation) -> None:
    timings = json.loads((finished.folder / "run" / "report.json").read_bytes())["timings"]
    rows = finished.table.values()
    assert math.isclose(timings["inference_seconds"], sum(row["transcribe_ms"] for row in rows) / 1000)
    assert math.isclose(timings["program_load_seconds"], 0.1005 * len(rows))
    assert timings["program_seconds"] > 0
    assert math.isclose(timings["rtf_inference"], timings["inference_seconds"] / timings["audio_seconds"])


@pytest.mark.models
@pytest.mark.slow
def test_real_speech_through_a_real_program_field_by_field(
    tmp_path: Path, models_dir: Path, real_speech: Path
) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra dev")
    soundfile = pytest.importorskip("soundfile", reason="needs the extra run")
    wrapper = ROOT / "examples" / "recognizers" / "faster_whisper_clip.py"
    model = models_dir / "whisper-tiny.en"
    rows = [json.loads(line) for line in (real_speech / "items.jsonl").read_text("utf-8").splitlines()]
    items = [{"id": row["id"], "wav": row["audio"], "reference": row["reference"]} for row in rows]
    for row in rows:
        recording = tmp_path / row["audio"]
        recording.parent.mkdir(exist_ok=True)
        recording.write_bytes((real_speech / row["audio"]).read_bytes())
    soundfile.write(tmp_path / "silence.wav", np.zeros(32_000, np.float32), 16_000)
    items.append({"id": "silence", "wav": "silence.wav", "reference": ""})
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"items": items}))
    command = [sys.executable, str(wrapper), "{wav}", "--model={model}", "--device={device}", "--language=en"]
    done = misheard(
        "run", CONFIG, "--suite", manifest, "--out", tmp_path / "run", "--cpu",
        "--set", f"recognizer.command={json.dumps(command)}", "--set", f"recognizer.model={model}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = misheard("clips", tmp_path / "run", "--json", tmp_path / "clips.json", "--with-text")
    report = json.loads((tmp_path / "clips.json").read_bytes())
    heard = []
    for item, clip in zip(items, report["clips"], strict=True):
        alone = subprocess.run(
            [sys.executable, wrapper, tmp_path / item["wav"], f"--model={model}", "--language=en", "--cpu"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        row = json.loads(alone.stdout)
        assert (clip["id"], clip["hypothesis"]) == (item["id"], row["text"])
        assert clip["audio_ms"] == pytest.approx(row["audio_ms"], abs=0.001)
        assert 0 < clip["load_ms"] + clip["transcribe_ms"] < clip["process_ms"]
        assert clip["real_time_factor"] == pytest.approx(clip["transcribe_ms"] / clip["audio_ms"])
        heard.append({"reference": item["reference"], "hypothesis": row["text"]})
        assert clip["wer"] == word_rates(heard[-1:])
    assert report["aggregate"]["wer"] == word_rates(heard)
    assert report["clips"][-1]["wer"]["exact"]["wer"] is None
    assert 0 < report["aggregate"]["wer"]["plain"]["wer"] < 0.5
