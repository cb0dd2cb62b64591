"""Runs that plan and draw: every arm, sessions, failures, resuming, and where text may lie."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("soundfile", reason="needs the extra run")

from scene_runs import golden, scene_config, scene_rows, write_scenes

from command_line import misheard
from misheard.run.directory import RunDirectory
from misheard.run.replies import read_replies

CANARY = re.compile(rb"canary", re.IGNORECASE)


def report(run: Path) -> dict[str, Any]:
    return json.loads((run / "report.json").read_text())  # type: ignore[no-any-return]


def value(document: dict[str, Any], arm: str, metric: str) -> Any:
    return document["arms"][arm][metric]["value"]


@pytest.fixture
def scenes(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    rows = scene_rows(6)
    hashes = write_scenes(tmp_path / "suite", rows)
    heard = {hashes[row["id"]]: row["reference"] for row in rows}
    # the box of item 0 is misheard as another, as is one of item 3
    heard[hashes["i0"]] = "canary m0 to n1"
    heard[hashes["i3"]] = "canary n3 to m4"
    return tmp_path / "suite", heard


def test_every_arm_is_planned_and_drawn(tmp_path: Path, scenes: tuple[Path, dict[str, str]]) -> None:
    suite, heard = scenes
    config = scene_config(tmp_path, heard)
    done = misheard("run", config, "--suite", suite, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    found = report(tmp_path / "run")
    assert list(found["arms"]) == ["audio", "transcript", "plan", "control"]
    # 12 golden labels, of which 2 are misheard; every arrow of a misheard box is another arrow
    assert value(found, "audio", "label_recall") == pytest.approx(10 / 12)
    assert value(found, "audio", "connection_recall") == pytest.approx(4 / 6)
    for arm in ("transcript", "plan", "control"):
        assert value(found, arm, "label_f1") == 1.0
        assert value(found, arm, "connection_f1") == 1.0
    assert value(found, "audio", "entity_preservation") == pytest.approx(10 / 12)
    assert value(found, "audio", "entity_preservation_board") == pytest.approx(10 / 12)
    by_metric = {entry["metric"]: entry for entry in found["attribution"][0]["metrics"]}
    losses = {loss["stage"]: loss["amount"] for loss in by_metric["label_recall"]["losses"]}
    assert losses == {"recognition": pytest.approx(2 / 12), "planning": pytest.approx(0.0)}
    assert by_metric["label_recall"]["remainder"]["amount"] == pytest.approx(0.0)


def test_text_lies_in_the_journal_alone(tmp_path: Path, scenes: tuple[Path, dict[str, str]]) -> None:
    suite, heard = scenes
    heard[next(iter(heard))] = "canary break"
    config = scene_config(tmp_path, heard)
    done = misheard("run", config, "--suite", suite, "--out", tmp_path / "run")
    assert done.returncode == 1
    files = {path for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with_text = {path for path in files if CANARY.search(path.read_bytes())}
    assert with_text and all((tmp_path / "run" / "journal") in path.parents for path in with_text)
    assert not CANARY.search((done.stdout + done.stderr).encode())
    drawings = tmp_path / "run" / "journal" / "drawings"
    assert len(list(drawings.rglob("*.svg"))) == 6 * 4 - 1  # one plan of the audio arm failed


def test_scoring_again_gives_the_same_bytes(tmp_path: Path, scenes: tuple[Path, dict[str, str]]) -> None:
    suite, heard = scenes
    config = scene_config(tmp_path, heard)
    assert misheard("run", config, "--suite", suite, "--out", tmp_path / "run").returncode == 0
    before = {name: (tmp_path / "run" / name).read_bytes() for name in ("report.json", "matrix.csv")}
    assert misheard("score", tmp_path / "run").returncode == 0
    assert before == {name: (tmp_path / "run" / name).read_bytes() for name in before}


@pytest.mark.parametrize(("policy", "recall", "n"), [("exclude", 9 / 10, 5), ("worst", 9 / 12, 6)])
def test_a_plan_that_is_none_is_left_out_or_an_empty_board(
    tmp_path: Path, scenes: tuple[Path, dict[str, str]], policy: str, recall: float, n: int
) -> None:
    suite, heard = scenes
    broken = next(key for key, text in heard.items() if text == "canary n1 to n2")
    heard[broken] = "canary break"
    heard[next(key for key, text in heard.items() if text == "canary m0 to n1")] = "canary n0 to n1"
    config = scene_config(tmp_path, heard, on_failure=policy)
    assert misheard("run", config, "--suite", suite, "--out", tmp_path / "run").returncode == 1
    found = report(tmp_path / "run")
    assert value(found, "audio", "label_recall") == pytest.approx(recall)
    assert found["arms"]["audio"]["label_recall"]["n"] == n
    assert value(found, "audio", "empty_board_rate") == (0.0 if policy == "exclude" else pytest.approx(1 / 6))
    rows = (tmp_path / "run" / "failures.csv").read_text().splitlines()
    assert len(rows) == 2 and "plan,planner_error" in rows[1]


def test_a_plan_of_a_session_builds_on_what_was_said_before(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": item, "reference": said, "session": session, "plan": plan}
        for item, said, session, plan in (
            ("a", "canary x to y", "s", golden("x", "y", arrows=(("x", "y"),))),
            ("b", "drop x", "s", golden("y")),
            ("c", "canary y to z", "s", golden("y", "z", arrows=(("y", "z"),))),
            ("other", "canary p to q", "t", golden("p", "q", arrows=(("p", "q"),))),
        )
    ]
    hashes = write_scenes(tmp_path / "suite", rows)
    heard = {hashes[row["id"]]: row["reference"] for row in rows}
    plan = {"kind": "python", "target": "line_planner:LinePlanner", "scope": "session"}
    config = scene_config(tmp_path, heard, plan=plan)
    done = misheard("run", config, "--suite", tmp_path / "suite", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    found = report(tmp_path / "run")
    for arm in ("audio", "transcript", "plan", "control"):
        assert (value(found, arm, "label_f1"), value(found, arm, "connection_f1")) == (1.0, 1.0), arm
    boards = read_replies(RunDirectory(tmp_path / "run").boards)
    operations = json.loads(boards.completions[boards.keys["audio", "b"]]["text"])["operations"]
    assert "remove" in {operation["op"] for operation in operations}


def test_items_without_a_golden_plan_are_heard_and_not_planned(tmp_path: Path) -> None:
    rows = scene_rows(4)
    del rows[1]["plan"]
    hashes = write_scenes(tmp_path / "suite", rows)
    config = scene_config(tmp_path, {hashes[row["id"]]: row["reference"] for row in rows})
    done = misheard("run", config, "--suite", tmp_path / "suite", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    found = report(tmp_path / "run")
    assert (found["arms"]["audio"]["wer"]["n"], found["arms"]["audio"]["label_f1"]["n"]) == (4, 3)


def test_a_killed_run_ends_like_an_unbroken_one(tmp_path: Path, scenes: tuple[Path, dict[str, str]]) -> None:
    suite, heard = scenes
    slow = tmp_path / "line_planner.py"
    config = scene_config(tmp_path, heard)
    slow.write_text(
        "import time\n" + slow.read_text().replace("shapes, conn", "time.sleep(0.05)\n        shapes, conn")
    )
    assert misheard("run", config, "--suite", suite, "--out", tmp_path / "whole").returncode == 0
    out = tmp_path / "killed"
    arguments = [
        sys.executable,
        "-m",
        "misheard",
        "run",
        str(config),
        "--suite",
        str(suite),
        "--out",
        str(out),
    ]
    for step in range(1, 4):
        resume = ["--resume"] if (out / "run.json").exists() else []
        running = subprocess.Popen(
            [*arguments, *resume],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        plans = out / "journal" / "plans.jsonl"
        until = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < until:
            if plans.exists() and plans.read_bytes().count(b"\n") > 4 * step:
                break
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert misheard(*arguments[3:], "--resume").returncode == 0
    whole, killed = report(tmp_path / "whole"), report(out)
    for document in (whole, killed):
        del document["timings"]
    assert killed == whole


def test_what_a_config_cannot_ask_for_is_said_before_anything_runs(
    tmp_path: Path, scenes: tuple[Path, dict[str, str]]
) -> None:
    suite, heard = scenes
    wrong = {
        "plan.target: no module nowhere": {"plan": {"kind": "python", "target": "nowhere:Planner"}},
        "has no class Missing": {"plan": {"kind": "python", "target": "line_planner:Missing"}},
        "plan: needs a language_model": {"plan": {"kind": "language_model"}},
        "render: draws what a planner plans": {"plan": None, "render": {"kind": "board"}},
        "correct: needs a language_model": {"correct": {}},
        "arms: plan replaces": {"plan": None, "arms": ["audio", "plan"]},
        "arms: uncorrected leaves": {"arms": ["audio", "uncorrected"]},
    }
    for message, sections in wrong.items():
        config = scene_config(tmp_path, heard, **sections)
        done = misheard("run", config, "--suite", suite, "--out", tmp_path / "run", "--dry-run")
        assert done.returncode == 2 and message in done.stderr, (message, done.stderr)
    assert not (tmp_path / "run").exists()


def test_a_dry_run_says_what_would_be_planned(tmp_path: Path, scenes: tuple[Path, dict[str, str]]) -> None:
    suite, heard = scenes
    config = scene_config(tmp_path, heard)
    done = misheard("run", config, "--suite", suite, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "arms            audio, transcript, plan, control" in done.stdout
    assert "scenes          6, planner python, a plan per item, at most 18 plans" in done.stdout


def test_a_planner_that_prints_and_moves_does_neither_to_the_run(
    tmp_path: Path, scenes: tuple[Path, dict[str, str]]
) -> None:
    suite, heard = scenes
    config = scene_config(tmp_path, heard)
    planner = tmp_path / "line_planner.py"
    moving = 'import os\n        os.chdir("/")\n        print("printed")\n        shapes, conn'
    planner.write_text(planner.read_text().replace("shapes, conn", moving, 1))
    done = subprocess.run(
        [sys.executable, "-m", "misheard", "run", str(config), "--suite", str(suite), "--out", "run"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.json").exists()
    assert "printed" not in done.stdout and "printed" in done.stderr


def test_a_suite_without_golden_plans_is_heard_and_the_report_says_why_nothing_is_drawn(
    tmp_path: Path,
) -> None:
    rows = scene_rows(2)
    for row in rows:
        del row["plan"]
    hashes = write_scenes(tmp_path / "suite", rows)
    config = scene_config(tmp_path, {hashes[row["id"]]: row["reference"] for row in rows})
    done = misheard("run", config, "--suite", tmp_path / "suite", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "No boards are measured: no item of the suite has a golden plan." in " ".join(done.stdout.split())
