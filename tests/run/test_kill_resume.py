"""A run that is killed again and again ends like one that was not.

Every kill is a SIGKILL at a random moment of a real process. It has its imports done when it starts, so that
the moments fall into its work. Afterwards `report.json` must be the same bytes as the unbroken run's, timings
aside.
"""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import Warm, warm_process

KILLS = 20
TRANSFORMERS = (
    "transformers", "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
    "transformers.models.llama.modeling_llama",
)  # fmt: skip


class Runs:
    """Runs of one config over one suite, in forks of a process that has imported what they need."""

    def __init__(self, warm: Warm, config: Path, suite: Path) -> None:
        self._warm = warm
        self._arguments = ["run", str(config), "--cpu", "--suite", str(suite), "--out"]

    def start(self, out: Path, resume: bool) -> None:
        with (out.with_name(f"{out.name}.log")).open("ab") as log, Path(os.devnull).open("rb") as nothing:
            self._warm.start(
                [*self._arguments, str(out), *["--resume"] * resume], Path.cwd(), os.environ,
                [nothing.fileno(), log.fileno(), log.fileno()],
            )  # fmt: skip

    def is_killed(self, after: float) -> bool:
        """Return whether the run had to be killed because it had not ended after that many seconds."""
        try:
            status = self._warm.wait(after)
        except TimeoutError:
            self._warm.kill()
            status = self._warm.wait()
            if status == -signal.SIGKILL:
                return True
        assert status in (0, 1)
        return False

    def finish(self, out: Path, resume: bool = False) -> float:
        """Run to the end; return how long it took."""
        self.start(out, resume)
        started = time.monotonic()
        assert self._warm.wait() in (0, 1), out.with_name(f"{out.name}.log").read_text()
        return time.monotonic() - started


def kill_many_times(runs: Runs, folder: Path, seconds: float) -> list[Path]:
    """Kill `KILLS` runs; one that ended before its kill is followed by a new one. Return all directories."""
    rng = random.Random(20)
    kills = 0
    directories = [folder / "killed-0"]
    resume = False
    while kills < KILLS:
        runs.start(directories[-1], resume)
        if runs.is_killed(after=rng.uniform(0.0, 1.1 * seconds)):
            kills += 1
        else:
            directories.append(folder / f"killed-{len(directories)}")
        resume = (directories[-1] / "journal").exists()
    runs.finish(directories[-1], resume)
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


def check(config: Path, suite: Path, folder: Path, *modules: str) -> None:
    unbroken = folder / "unbroken"
    with warm_process(*modules) as warm:
        runs = Runs(warm, config, suite)
        seconds = runs.finish(unbroken)
        directories = kill_many_times(runs, folder, seconds)
    for directory in directories:
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
    check(config, first_items(demo, tmp_path), tmp_path, "ctranslate2", "torch", *TRANSFORMERS)


def first_items(suite: Path, folder: Path) -> Path:
    """Lay the first items of a suite out as a suite of their own."""
    small = folder / "small"
    small.mkdir()
    (small / "suite.yaml").write_bytes((suite / "suite.yaml").read_bytes())
    rows = (suite / "items.jsonl").read_text("utf-8").splitlines()[:6]
    (small / "items.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    for row in rows:
        audio = json.loads(row)["audio"]
        (small / audio).parent.mkdir(parents=True, exist_ok=True)
        (small / audio).write_bytes((suite / audio).read_bytes())
    return small
