"""One planner of the user's in a whole run: as a Python class, as a command, as an HTTP endpoint."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("soundfile", reason="needs the extra run")
pytest.importorskip("httpx", reason="needs the extra run")

from scene_runs import scene_config, write_scenes

from misheard.commands import app

RULES = Path(__file__).parents[2] / "examples" / "planners" / "rules.py"
SAID = ("Draw a square named login and a circle named database.", "Draw a square named mail.")


@pytest.fixture
def endpoint() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(RULES), "--serve", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def golden(text: str) -> Any:
    spec = importlib.util.spec_from_file_location("rules_of_the_example", RULES)
    assert spec is not None and spec.loader is not None
    rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)
    return rules.RulePlanner().plan({"utterances": [text], "language": "en"})


def test_a_class_a_command_and_an_endpoint_give_the_same_boards(tmp_path: Path, endpoint: str) -> None:
    rows = [
        {"id": f"i{number}", "reference": text, "session": f"s{number}", "plan": golden(text)}
        for number, text in enumerate(SAID)
    ]
    assert all(row["plan"]["shapes"] for row in rows)
    hashes = write_scenes(tmp_path / "suite", rows)
    heard = {hashes["i0"]: SAID[0].replace("login", "logging"), hashes["i1"]: SAID[1]}
    shutil.copy(RULES, tmp_path / "rules.py")
    planners = {
        "python": {"kind": "python", "target": "rules:RulePlanner"},
        "command": {"kind": "command", "command": [sys.executable, "./rules.py"]},
        "http": {"kind": "http", "url": endpoint},
    }
    found = {}
    for name, planner in planners.items():
        config = scene_config(tmp_path, heard, plan=planner)
        out = tmp_path / name
        arguments = ["run", str(config), "--suite", str(tmp_path / "suite"), "--out", str(out)]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, (name, done.output, done.exception)
        report = json.loads((out / "report.json").read_text())
        found[name] = {arm: metrics["label_f1"]["value"] for arm, metrics in report["arms"].items()}
    assert found["python"] == {
        "audio": pytest.approx(2 / 3), "transcript": 1.0, "plan": 1.0, "control": 1.0,
    }  # fmt: skip
    assert found["command"] == found["http"] == found["python"]
