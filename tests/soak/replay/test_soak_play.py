"""`misheard soak CONFIG` as a person runs it: what is played, written, said and refused."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from command_line import misheard

pytest.importorskip("soundfile", reason="needs the extra run")

WHITEBOARD = Path(__file__).parents[3] / "configs" / "whiteboard"
STAND_IN = Path(__file__).parents[2] / "language_models" / "stand_in_vllm.py"
CANARY = "zanzibarcanary"
PLAN = {
    "shapes": [
        {"id": "s1", "kind": "box", "label": CANARY},
        {"id": "s2", "kind": "box", "label": "b"},
    ],
    "connections": [{"from": "s1", "to": "s2", "label": CANARY}],
}
LIMITS = {"format": "misheard-soak/1", "memory_warm_up_seconds": 0.0}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A system that plans without a model, over the recordings of the whiteboard."""
    content = {
        "suite": str(WHITEBOARD),
        "recognizer": {"kind": "fake"},
        "language_model": {"kind": "fake", "default": json.dumps(PLAN)},
        "plan": {"kind": "language_model"},
        "soak": {"session": {"language": "en"}, "sample_seconds": 0.1},
    }
    (tmp_path / "limits.yaml").write_text(yaml.safe_dump(LIMITS))
    path = tmp_path / "system.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def soak(config: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    folder = config.parent
    return misheard(
        "soak", config, "--minutes", 1, "--speed", "max", "--cpu", "--limits", folder / "limits.yaml",
        "--out", folder / "soak", *arguments, cwd=folder,
    )  # fmt: skip


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "soak" / "trace.jsonl").read_text().splitlines()[1:]]


def state(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "soak" / "soak.json").read_bytes())
    return found


def test_a_session_is_played_and_judged(config: Path) -> None:
    spoken = [json.loads(line)["reference"] for line in (WHITEBOARD / "items.jsonl").read_text().splitlines()]
    done = soak(config)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "SHIP" in done.stdout
    folder = config.parent
    assert state(folder)["status"] == "complete"
    assert state(folder)["session"]["seconds"] == 60.0
    verdict = json.loads((folder / "soak" / "verdict.json").read_bytes())
    assert verdict["outcome"] == "ship"
    counts = Counter(event["event"] for event in events(folder))
    turns = counts["turn_closed"]
    assert turns >= 5
    assert counts["transcript_final"] == counts["plan_accepted"] == counts["board_ready"] == turns
    assert counts["operation_accepted"] == counts["operation_applied"] == 4 * turns
    played = [json.loads(line) for line in (folder / "soak" / "session.jsonl").read_text().splitlines()]
    assert played[-1]["end"] == 60.0
    assert {"speech", "pause", "correction", "long_pause"} <= {segment["kind"] for segment in played}

    again = misheard("soak", "check", folder / "soak", "--json", folder / "again.json", cwd=folder)
    assert again.returncode == 0, again.stdout
    assert (folder / "again.json").read_bytes() == (folder / "soak" / "verdict.json").read_bytes()
    shown = misheard("report", folder / "soak", cwd=folder)
    assert shown.returncode == 0
    assert "SHIP" in shown.stdout

    kept = [path.read_text() for path in (folder / "soak").rglob("*") if path.is_file()]
    for text in (done.stdout, done.stderr, again.stdout, shown.stdout, *kept):
        assert CANARY not in text
        assert not [reference for reference in spoken if reference and reference in text]


def test_a_session_and_a_run_of_one_config_are_of_one_system(config: Path) -> None:
    content = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump({**content, "correct": {}}))
    folder = config.parent
    gate = folder / "gate.yaml"
    guard = {"metric": "wer", "at_most": 1.0}
    gate.write_text(yaml.safe_dump(
        {"format": "misheard-gate/1", "guards": [guard], "soak": {"require": ["duplicate_finals"]}}
    ))  # fmt: skip
    ran = misheard("run", config, "--cpu", "--out", folder / "run", cwd=folder)
    assert soak(config).returncode in (0, 1)
    said = json.loads((folder / "run" / "run.json").read_bytes())["system"]
    assert {name: part for name, part in state(folder)["system"].items() if name != "endpointing"} == said
    assert {*said} == {"recognizer", "correct", "plan", "render"}, ran.stderr
    judged = misheard("gate", gate, folder / "run", "--soak", folder / "soak", cwd=folder)
    assert "soak/duplicate_finals" in judged.stdout, judged.stdout + judged.stderr


def test_faults_are_survived_with_nothing_lost_and_nothing_twice(config: Path) -> None:
    faults = [
        "recognizer_error@8", "recognizer_timeout@24", "malformed_plan@40", "stalled_audio@12+0.3",
        "clock_jump@20+3600", "clock_jump@30-7200", "disk_full@36+0.3",
    ]  # fmt: skip
    done = soak(config, *(part for fault in faults for part in ("--fault", fault)))
    assert done.returncode == 1, done.stderr
    trace = events(config.parent)
    counts = Counter(row["event"] for row in trace)
    injected = {row["fault"]: row["t"] for row in trace if row["event"] == "fault_injected"}
    assert counts["fault_injected"] == len(faults)
    assert counts["transcript_failed"] == 2
    assert counts["plan_rejected"] == 1
    assert injected["recognizer_timeout"] - injected["stalled_audio"] > 3600

    turns = [row["turn"] for row in trace if row["event"] == "turn_closed"]
    heard = [row["turn"] for row in trace if row["event"] in ("transcript_final", "transcript_failed")]
    assert heard == turns
    ends = ("plan_rejected", "board_ready", "transcript_failed")
    assert Counter(row["turn"] for row in trace if row["event"] in ends) == Counter(turns)
    verdict = json.loads((config.parent / "soak" / "verdict.json").read_bytes())
    statuses = {check["id"]: check["status"] for check in verdict["checks"]}
    kept = ("unresolved", "duplicate_finals", "merged_finals", "operation_order", "audio_coverage",
            "failed_blocks_nothing", "connections_drawn", "ready_after_last_operation")  # fmt: skip
    assert {check: statuses[check] for check in kept} == dict.fromkeys(kept, "pass")
    assert statuses["failed_transcripts"] == "fail"
    assert statuses["failed_replies"] == "fail"


def test_the_server_of_a_recognizer_that_is_killed_comes_back_and_no_turn_is_lost(config: Path) -> None:
    pytest.importorskip("openai", reason="needs the extra run")
    folder = config.parent
    model, program = folder / "model", folder / "python"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "whisper", "vocab_size": 51865}')
    (model / "model.safetensors").write_bytes(b"weights")
    program.write_text(f"#!{sys.executable}\n" + STAND_IN.read_text())
    program.chmod(0o700)
    recognizer = {"kind": "vllm", "model": str(model), "python": str(program), "stop_seconds": 1.0}
    content = {**yaml.safe_load(config.read_text()), "recognizer": recognizer}
    config.write_text(yaml.safe_dump({k: content[k] for k in ("suite", "recognizer", "soak")}))
    done = soak(config, "--speed", 20, "--fault", "server_crash@20")
    counts = Counter(event["event"] for event in events(folder))
    assert state(folder)["restarts"] == counts["server_restarted"] == counts["fault_injected"] == 1, (
        done.stderr
    )
    assert counts["transcript_final"] == counts["turn_closed"] == counts["turn_opened"] >= 5


RESTLESS = """
import os, tempfile, time

class Restless:
    def _go(self, reply):
        os.chdir(tempfile.gettempdir())
        print("zanzibarcanary")
        time.sleep(0.02)
        return reply

    def plan(self, request):
        return self._go({"shapes": [{"id": "s1", "kind": "box", "label": "a"}], "connections": []})

    def render(self, request):
        return self._go({"operations": [{"op": "add_shape", "id": "s1", "kind": "box", "label": "a"}]})
"""


def test_classes_that_change_the_folder_and_print_leave_the_files_and_the_verdict_where_they_belong(
    config: Path,
) -> None:
    folder = config.parent
    (folder / "restless.py").write_text(RESTLESS)
    (folder / "suite").symlink_to(WHITEBOARD)
    part = {"kind": "python", "target": "restless:Restless"}
    content = {**yaml.safe_load(config.read_text()), "suite": "suite", "plan": part, "render": {**part}}
    del content["language_model"]
    config.write_text(yaml.safe_dump(content))
    done = misheard(
        "soak", config.name, "--minutes", 1, "--speed", "max", "--cpu", "--out", "soak", cwd=folder
    )  # fmt: skip
    assert "checks" in done.stdout.splitlines()[-3], done.stdout + done.stderr
    assert CANARY not in done.stdout
    assert state(folder)["status"] == "complete"
    assert (folder / "soak" / "verdict.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fault", "server_crash@20"), "--fault server_crash@20: the session starts no server"),
        (("--fault", "malformed_plan@61"), "the session is over by then"),
        (("--fault", "earthquake@20"), "there is no earthquake"),
        (("--speed", "fast"), "--speed 'fast': must be a number"),
        (("--minutes", 1440, "--speed", "0.1"), "a trace goes up to 604800"),
        (("--speed", "0"), "--speed '0': must be a number"),
        (
            ("--set", "soak.session.language=fr"),
            "no item of whiteboard is in fr; there is ar, en, hi, ml, ta",
        ),
        (("--set", "soak.endpointing.release=0.9"), "release: must be at most the threshold"),
        (("--set", "recognizer={kind: command, command: [cat, '{wav}']}"), "a live session has none"),
        (("--suite", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_played_is_refused(config: Path, arguments: tuple[object, ...], said: str) -> None:
    done = soak(config, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (config.parent / "soak").exists()


def test_a_folder_is_used_once(config: Path) -> None:
    (config.parent / "soak").mkdir()
    (config.parent / "soak" / "mine.txt").write_text("mine")
    done = soak(config)
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert [path.name for path in (config.parent / "soak").iterdir()] == ["mine.txt"]


def test_a_fault_that_did_not_happen_is_no_pass_even_where_nobody_reads_it(config: Path) -> None:
    out = config.parent / "soak"
    command = [sys.executable, "-m", "misheard", "soak", str(config), "--minutes", "1", "--speed", "max",
               "--cpu", "--limits", str(config.parent / "limits.yaml"), "--out", str(out),
               "--fault", "recognizer_error@59.5"]  # fmt: skip
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert "standard output: No space left on device" in done.stderr
    assert state(config.parent)["missed_faults"] == ["recognizer_error@59.5"]
    assert json.loads((out / "verdict.json").read_bytes())["exit_code"] == 4
    judged = misheard("soak", "check", out, cwd=config.parent)
    assert judged.returncode == 4
    assert "1 fault did not happen before the session ended" in " ".join(judged.stdout.split())
    assert "1 without evidence" in judged.stdout


def hear_hang_ups() -> None:
    """What starts the tests may have told them to ignore that a terminal is closed."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("signal_number", "status"), [(signal.SIGHUP, "interrupted"), (signal.SIGKILL, "running")]
)
def test_a_session_that_is_broken_off_leaves_a_trace_that_can_be_read(
    config: Path, signal_number: int, status: str
) -> None:
    out = config.parent / "soak"
    command = [sys.executable, "-m", "misheard", "soak", str(config), "--minutes", "5", "--out", str(out)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=hear_hang_ups
    ) as process:
        while not (out / "trace.jsonl").is_file() or (out / "trace.jsonl").read_text().count("\n") < 20:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal_number)
        process.communicate()
    assert process.returncode == (-signal_number if signal_number == signal.SIGKILL else 130)
    assert state(config.parent)["status"] == status
    shown = misheard("report", out, cwd=config.parent)
    assert shown.returncode == 0, shown.stderr
    assert status in shown.stdout
    judged = misheard("soak", "check", out, cwd=config.parent)
    assert judged.returncode == 4
