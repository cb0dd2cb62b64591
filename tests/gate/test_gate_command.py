"""The commands as a person or a CI job runs them: exit codes, files, annotations."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from made_up_runs import MadeUpRun
from typer.testing import CliRunner

import command_line
from misheard.commands import app

BASE = MadeUpRun(wrong=lambda number: 3, system="base")
GATE: dict[str, Any] = {"format": "misheard-gate/1", "primary": {"metric": "wer", "must": "improve"}}

CANDIDATES: dict[str, tuple[Callable[[int], int], int, str]] = {
    "better": (lambda number: 1 + number % 2, 0, "SHIP"),
    "worse": (lambda number: 4 + number % 2, 1, "NO SHIP"),
    "unsure": (lambda number: 1 + number % 12 // 2, 3, "INCONCLUSIVE"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate") / "runs"
    folder.mkdir()
    BASE.write(folder / "base")
    for name, (wrong, _, _) in CANDIDATES.items():
        replace(BASE, wrong=wrong, system=name).write(folder / name)
    replace(BASE, limit=60, wrong=lambda number: 0).write(folder / "limited")
    return folder


@pytest.fixture
def files(tmp_path: Path, runs: Path) -> Path:
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    (tmp_path / "gate.yaml").write_text(yaml.safe_dump(GATE))
    return tmp_path


def misheard(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")}
    return command_line.misheard(*arguments, cwd=folder, env=outside | environment)


def test_exit_code_terminal_json_and_junit_agree(files: Path) -> None:
    for name, (_, code, word) in CANDIDATES.items():
        done = misheard(
            files, "gate", "gate.yaml", name, "--baseline", "base", "--json", "v.json", "--junit", "v.xml"
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.splitlines()[-1].startswith(f"{word}: ")
        document = json.loads((files / "v.json").read_bytes())
        assert (document["exit_code"], document["candidate"]) == (code, name)
        root = ElementTree.parse(files / "v.xml").getroot()  # noqa: S314
        assert root.get("failures") == ("0" if code == 0 else "1")
        assert "::" not in done.stdout


def test_refusals_are_verdicts_and_usage_errors_are_not(files: Path) -> None:
    limited = misheard(files, "gate", "gate.yaml", "limited", "--baseline", "base", "--json", "v.json")
    assert limited.returncode == 4
    assert "--limit 60" in limited.stdout
    assert json.loads((files / "v.json").read_bytes())["outcome"] == "not_comparable"
    (files / "gate.yaml").write_text(
        yaml.safe_dump(GATE | {"primary": {"metric": "werr", "must": "improve"}})
    )
    wrong = misheard(files, "gate", "gate.yaml", "better", "--baseline", "base", "--json", "v.json")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "primary.metric: no metric 'werr'" in wrong.stderr
    assert not (files / "v.json").exists()


@pytest.mark.parametrize(
    "options",
    [("--json", "same", "--junit", "same"), ("--json", "gate.yaml"), ("--junit", "./x/../gate.yaml")],
)
def test_documents_do_not_overwrite_each_other_or_the_gate(files: Path, options: tuple[str, ...]) -> None:
    (files / "x").mkdir()
    before = (files / "gate.yaml").read_text()
    done = misheard(files, "gate", "gate.yaml", "better", "--baseline", "base", *options)
    assert (done.returncode, "must be different files" in done.stderr) == (2, True)
    assert (files / "gate.yaml").read_text() == before


def test_a_document_that_cannot_be_written_leaves_no_verdict(files: Path) -> None:
    done = misheard(
        files, "gate", "gate.yaml", "better", "--baseline", "base", "--json", "no/such/folder/v.json"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no/such/folder" in done.stderr


@pytest.mark.parametrize("name", ["base/report.json", "better/items.parquet", "./better/../base/run.json"])
def test_a_document_takes_the_place_of_no_file_of_a_run(files: Path, name: str) -> None:
    before = (files / name).read_bytes()
    done = misheard(files, "gate", "gate.yaml", "better", "--baseline", "base", "--json", name)
    assert (done.returncode, "is a file of a run" in done.stderr) == (2, True)
    assert (files / name).read_bytes() == before


def test_a_document_goes_to_a_pipe(files: Path) -> None:
    done = misheard(files, "gate", "gate.yaml", "better", "--baseline", "base", "--json", "/dev/stderr")
    assert done.returncode == 0
    assert json.loads(done.stderr)["outcome"] == "ship"


def test_a_summary_that_cannot_be_written_leaves_no_document(files: Path) -> None:
    done = misheard(
        files, "gate", "gate.yaml", "better", "--baseline", "base", "--json", "v.json", "--junit", "v.xml",
        GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(files),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert not (files / "v.json").exists()
    assert not (files / "v.xml").exists()


def test_github_gets_annotations_and_a_summary(files: Path) -> None:
    (files / "summary.md").write_text("# before\n")
    on_github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(files / "summary.md")}
    done = misheard(files, "gate", "gate.yaml", "worse", "--baseline", "base", **on_github)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    commands = [line for line in lines if line.startswith("::")]
    token = commands[0].removeprefix("::stop-commands::")
    assert commands[1] == f"::{token}::"
    assert lines[0] == commands[0]
    assert commands[2].startswith("::error title=misheard gate%3A primary/wer/audio::word error rate")
    assert commands[-1] == "::error title=misheard gate::NO SHIP: of 2 checks 1 failed"
    summary = (files / "summary.md").read_text()
    assert summary.startswith("# before\n## NO SHIP")
    assert "| **fail** | primary/wer/audio |" in summary
    quiet = misheard(files, "gate", "gate.yaml", "worse", "--baseline", "base", "--no-github", **on_github)
    assert "::" not in quiet.stdout
    assert (files / "summary.md").read_text() == summary
    asked = misheard(files, "gate", "gate.yaml", "worse", "--baseline", "base", "--github")
    assert "::error " in asked.stdout


def test_the_same_verdict_has_the_same_bytes(files: Path) -> None:
    for name in ("1", "2"):
        misheard(
            files, "gate", "gate.yaml", "better", "--baseline", "base",
            "--json", f"{name}.json", "--junit", f"{name}.xml",
        )  # fmt: skip
    for kind in ("json", "xml"):
        assert (files / f"1.{kind}").read_bytes() == (files / f"2.{kind}").read_bytes()


def test_promote_show_and_gate_against_what_was_promoted(files: Path) -> None:
    assert "no promotion in baselines" in misheard(files, "baseline", "show").stdout
    done = misheard(files, "baseline", "promote", "base", "--reason", "first release")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "base is the baseline of made up: baselines/promotions.jsonl\n"
    shown = misheard(files, "baseline", "show").stdout
    assert shown.startswith("*  ")
    assert shown.rstrip().endswith("first release")
    assert misheard(files, "gate", "gate.yaml", "better", "--baseline", "promoted").returncode == 0
    assert misheard(files, "gate", "gate.yaml", "worse", "--baseline", "promoted").returncode == 1
    elsewhere = misheard(
        files, "gate", "gate.yaml", "better", "--baseline", "promoted", "--baselines", "elsewhere"
    )
    assert (elsewhere.returncode, "no run was promoted" in elsewhere.stdout) == (4, True)
    refused = misheard(files, "baseline", "promote", "limited")
    assert (refused.returncode, "--limit 60" in refused.stderr) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["gate"], 2),
        (["gate", "gate.yaml"], 2),
        (["gate", "missing.yaml", "better"], 2),
        (["gate", "gate.yaml", "missing", "--baseline", "base"], 4),
        (["gate", "gate.yaml", "better", "--baseline", "missing"], 4),
        (["gate", "gate.yaml", "better", "--baseline", ""], 4),
        (["gate", "gate.yaml", "better"], 4),
        (["gate", "gate.yaml", "better", "--baseline", "better"], 4),
        (["gate", "gate.yaml", "gate.yaml", "--baseline", "base"], 4),
        (["baseline", "promote", "missing"], 4),
        (["baseline", "promote"], 2),
    ],
)
def test_missing_things_have_their_exit_codes(files: Path, arguments: list[str], code: int) -> None:
    done = misheard(files, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_both_commands_explain_themselves() -> None:
    for arguments in (["gate", "--help"], ["baseline", "promote", "--help"], ["baseline", "show", "--help"]):
        shown = CliRunner().invoke(app, arguments)
        assert (shown.exit_code, "Usage: " in shown.output) == (0, True)
