"""How planners of the user's are made from their settings, and what settings are refused."""

import datetime
import sys
from pathlib import Path
from typing import Any

import pytest

from misheard.config import parse_config
from misheard.errors import ConfigError
from misheard.planners.registry import make_planner
from misheard.planners.settings import (
    CommandPlannerSettings,
    HttpPlannerSettings,
    PythonPlannerSettings,
)
from misheard.plugins.command import CommandPlugin
from misheard.plugins.http import HttpPlugin
from misheard.plugins.python_class import PythonPlugin


def test_every_kind_has_a_plugin() -> None:
    made = [
        make_planner(settings, Path())
        for settings in (
            PythonPlannerSettings(target="a:B", scope="session"),
            CommandPlannerSettings(command=(sys.executable,)),
            HttpPlannerSettings(url="http://127.0.0.1:1/plan"),
        )
    ]
    assert [type(one) for one in made] == [PythonPlugin, CommandPlugin, HttpPlugin]
    assert [one.batch_size for one in made] == [None] * 3
    for one in made[:2]:
        with pytest.raises(RuntimeError, match=r"start\(\) comes before"):
            one.fingerprint()
        one.close()


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"kind": "python", "target": "no colon"}, "must read module:Class"),
        ({"kind": "python", "target": "a:B", "options": {"x": float("nan")}}, "only finite numbers"),
        ({"kind": "python", "target": "a:B", "options": {"x": datetime.date(2026, 1, 1)}}, "no dates"),
        ({"kind": "command", "command": []}, "begin with a program"),
        ({"kind": "command", "command": [""]}, "begin with a program"),
        ({"kind": "command", "command": ["p", "a\0"]}, "NUL"),
        ({"kind": "command", "command": ["p"], "version_command": ["\0"]}, "NUL"),
        ({"kind": "command", "command": ["p"], "env": {"A=B": "x"}}, "without ="),
        ({"kind": "command", "command": ["p"], "env": {"A": "\0"}}, "NUL"),
        ({"kind": "command", "command": ["p"], "timeout_seconds": 0}, "greater than 0"),
        ({"kind": "http", "url": "file:///etc/passwd"}, "must be a URL"),
        ({"kind": "http", "url": "http://user:canary@127.0.0.1/"}, "no credentials"),
        ({"kind": "http", "url": "http://127.0.0.1/?key=canary"}, "no query"),
        ({"kind": "http", "url": "http://127.0.0.1/", "api_key_env": "A B"}, "pattern"),
        ({"kind": "http", "url": "http://127.0.0.1/", "scope": "suite"}, "'item' or 'session'"),
        ({"kind": "socket"}, "no kind 'socket'"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as raised:
        parse_config("run.yaml", {"recognizer": {"kind": "fake"}, "plan": settings})
    assert "  plan" in str(raised.value)
    assert "canary" not in str(raised.value)
