"""Paths of correction, planning, rendering and judging start from the config's folder."""

import sys
from pathlib import Path
from typing import Any

import pytest

from misheard.config import RunConfig, parse_config
from misheard.errors import InputError
from misheard.run.resolve import resolve_config

FAKE_MODEL: dict[str, Any] = {"kind": "fake"}


def resolved(base: Path, **sections: Any) -> RunConfig:
    data = {"recognizer": {"kind": "fake"}, "language_model": FAKE_MODEL, **sections}
    return resolve_config(parse_config("run.yaml", data), base)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "plan.py").write_text("")
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "config.json").write_text("{}")
    return tmp_path


def test_prompts_that_are_files(base: Path) -> None:
    found = resolved(
        base,
        correct={"prompt": "mine.yaml"},
        plan={"kind": "language_model", "prompt": "sub/mine.yml"},
        judge={"meaning_prompt": "../m.yaml", "calibration": "calibration.json"},
    )
    assert found.correct is not None and found.correct.prompt == str(base / "mine.yaml")
    assert found.plan is not None and found.plan.kind == "language_model"
    assert found.plan.prompt == str(base / "sub" / "mine.yml")
    assert found.judge is not None and found.judge.calibration == str(base / "calibration.json")
    assert found.judge.meaning_prompt == str(base / "../m.yaml")
    assert found.judge.answer_prompt == "judge-answer-v1"


def test_what_is_not_there_stays_away(base: Path) -> None:
    found = resolved(base)
    assert (found.correct, found.plan, found.render, found.judge) == (None, None, None, None)
    assert resolved(base, plan={"kind": "language_model"}).plan is not None


def test_commands_of_planner_and_renderer(base: Path) -> None:
    command = {"kind": "command", "command": [sys.executable, "./plan.py"], "version_command": ["./plan.py"]}
    found = resolved(base, plan={**command, "scope": "session"}, render=command)
    for section in (found.plan, found.render):
        assert section is not None and section.kind == "command"
        assert section.command == (sys.executable, str(base / "plan.py"))
        assert section.version_command == (str(base / "plan.py"),)
    assert found.plan is not None and found.plan.scope == "session"
    assert resolve_config(found, Path("/nowhere")) == found
    for section_name in ("plan", "render"):
        sections = {"plan": command, section_name: {**command, "command": ["./absent"]}}
        with pytest.raises(InputError, match=rf"{section_name}\.command: .*absent"):
            resolved(base, **sections)


def test_other_kinds_have_no_paths(base: Path) -> None:
    sections = {"plan": {"kind": "python", "target": "a:B"}, "render": {"kind": "board"}}
    found = resolved(base, **sections)
    assert found.plan is not None and found.plan.kind == "python" and found.plan.target == "a:B"
    assert found.render is not None and found.render.kind == "board"


def test_the_judges_own_model(base: Path) -> None:
    model = {"kind": "embedded", "model": "./weights"}
    found = resolved(base, judge={"language_model": model})
    assert found.judge is not None and found.judge.language_model is not None
    assert found.judge.language_model.kind == "embedded"
    assert found.judge.language_model.model == str(base / "weights")
    with pytest.raises(InputError, match=r"judge\.language_model\.model"):
        resolved(base, judge={"language_model": {**model, "model": "./absent"}})
