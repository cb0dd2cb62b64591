"""The page about planners and renderers of the user's: short, and every block of it is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from misheard.config import parse_config
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.stages.plan import plan_request, read_plan_reply
from misheard.stages.render import Drawn, read_render_reply

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-planner.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_has_under_60_lines() -> None:
    assert len(PAGE.splitlines()) < 60


@pytest.mark.parametrize("line", next(block for kind, block in BLOCKS if kind == "yaml").splitlines())
def test_every_line_of_the_config_is_one(line: str) -> None:
    plan = {"plan": {"kind": "python", "target": "a:B"}}
    parse_config("page", {"recognizer": {"kind": "fake"}, **plan, **yaml.safe_load(line)})


def test_the_replies_are_what_is_read() -> None:
    plan, operations = (block for kind, block in BLOCKS if kind == "json")
    board = read_plan_reply(plan, None, "")
    assert isinstance(board, Scene) and len(board.shapes) == 2
    drawn = read_render_reply(board, operations, None, "")
    assert isinstance(drawn, Drawn) and drawn.refused == () and len(drawn.operations) == 6
    assert drawn.board == Scene(
        (Shape("s1", "circle", "Sign in"), Shape("s3", "box", "Audit")), (Connection("s1", "s3"),)
    )


def test_the_request_is_what_is_sent_and_the_example_answers_it() -> None:
    (request, program) = re.findall(r"echo '(.*)' \| python3 (\S+)", PAGE)[0]
    assert yaml.safe_load(request) == plan_request(["Draw a box called Login."], "en")
    done = subprocess.run(
        [sys.executable, str(ROOT / program)], input=request, capture_output=True, text=True, check=True
    )
    assert read_plan_reply(done.stdout, None, "") == Scene((Shape("s1", "box", "Login"),))
