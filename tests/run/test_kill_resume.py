"""A run that is killed again and again ends like one that was not.

Every kill is a SIGKILL at a random moment of a real process. Afterwards `report.json` must be the same bytes
as the unbroken run's, timings aside.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KILLS = 20


def command(config: Path, suite: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "misheard", "run", str(config), "--cpu",
        "--suite", str(suite), "--out", str(out), *more,
    ]  # fmt: skip


def finish(config: Path, suite: Path, out: Path, *more: str) -> float:
    """Run to the end; return how long it took."""
    started = time.monotonic()
    done = subprocess.run(command(config, suite, out, *more), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return time.monotonic() - started


def kill_many_times(config: Path, suite: Path, folder: Path, seconds: float) -> list[Path]:
    """Kill `KILLS` runs; one that ended before its kill is followed by a new one. Return all directories."""
    rng = random.Random(20)
    kills = 0
    directories = [folder / "killed-0"]
    resume: list[str] = []
    while kills < KILLS:
        process = subprocess.Popen(
            command(config, suite, directories[-1], *resume),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(timeout=rng.uniform(0.1 * seconds, 1.1 * seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        else:
            assert process.returncode in (0, 1)
            directories.append(folder / f"killed-{len(directories)}")
        resume = ["--resume"] if (directories[-1] / "journal").exists() else []
    finish(config, suite, directories[-1], *resume)
    return directories


def report_without_timings(directory: Path) -> bytes:
    report: dict[str, Any] = json.loads((directory / "report.json").read_bytes())
    del report["timings"]
    return json.dumps(report, sort_keys=True).encode()


def committed_texts(directory: Path) -> list[str]:
    """Everything that the journal says, without times and order."""
    lines = []
    for path in sorted((directory / "journal").glob("*.jsonl")):
        for line in path.read_text("ascii").splitlines():
            row = json.loads(line)
            if "commit" not in row:
                lines.append(json.dumps({k: v for k, v in row.items() if "seconds" not in k}, sort_keys=True))
    return sorted(lines)


def check(config: Path, suite: Path, folder: Path) -> None:
    unbroken = folder / "unbroken"
    seconds = finish(config, suite, unbroken)
    for directory in kill_many_times(config, suite, folder, seconds):
        assert report_without_timings(directory) == report_without_timings(unbroken)
        assert committed_texts(directory) == committed_texts(unbroken)
        for name in ("plan.jsonl", "matrix.csv", "failures.csv"):
            assert (directory / name).read_bytes() == (unbroken / name).read_bytes()


@pytest.mark.slow
def test_fakes_killed_twenty_times(
    tmp_path: Path, make_suite: Callable[..., Path], make_config: Callable[..., Path]
) -> None:
    config = make_config(
        recognizer={"kind": "fake", "batch_size": 2, "delay_seconds": 0.05},
        language_model={"kind": "fake", "delay_seconds": 0.01},
    )
    check(config, make_suite(speech=12, silent=2), tmp_path)


@pytest.mark.slow
@pytest.mark.models
def test_real_models_killed_twenty_times(
    tmp_path: Path, models_dir: Path, make_config: Callable[..., Path]
) -> None:
    demo = Path(__file__).parents[2] / "configs" / "demo"
    config = make_config(
        recognizer={"kind": "ctranslate2", "model": str(models_dir / "whisper-tiny.en"), "batch_size": 2},
        language_model={
            "kind": "embedded", "model": str(models_dir / "smollm2-135m-instruct"), "batch_size": 2,
        },
        respond={"max_tokens": 12},
    )  # fmt: skip
    check_limited(config, demo, tmp_path)


def check_limited(config: Path, suite: Path, folder: Path) -> None:
    """Check over the first items of a suite, laid out as a suite of their own."""
    small = folder / "small"
    small.mkdir()
    (small / "suite.yaml").write_bytes((suite / "suite.yaml").read_bytes())
    rows = (suite / "items.jsonl").read_text("utf-8").splitlines()[:6]
    (small / "items.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    for row in rows:
        audio = json.loads(row)["audio"]
        (small / audio).parent.mkdir(parents=True, exist_ok=True)
        (small / audio).write_bytes((suite / audio).read_bytes())
    check(config, small, folder)
