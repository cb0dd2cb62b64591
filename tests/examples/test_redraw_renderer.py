"""The example renderer: whatever stood on the board, the plan does afterwards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from misheard.scenes.scene import Connection, Scene, Shape
from misheard.stages.render import Drawn, read_render_reply, render_request

FILE = Path(__file__).parents[2] / "examples" / "renderers" / "redraw.py"
A, B, C = (Shape(name, "box", name.upper()) for name in "abc")
PLAN = Scene((A, B), (Connection("a", "b", "reads"),))


def drawn(board: Scene, plan: Scene) -> Drawn:
    request = json.dumps(render_request(board, plan)).encode()
    done = subprocess.run([sys.executable, str(FILE)], input=request, capture_output=True, check=True)
    result = read_render_reply(board, done.stdout.decode(), None, "")
    assert isinstance(result, Drawn)
    return result


@pytest.mark.parametrize("board", [Scene(), PLAN, Scene((C, A), (Connection("c", "a"),))])
def test_the_board_shows_the_plan(board: Scene) -> None:
    after = drawn(board, PLAN)
    assert after.board == PLAN
    assert after.refused == ()


def test_an_arrow_without_its_end_is_refused() -> None:
    after = drawn(Scene(), Scene((A,), (Connection("a", "nowhere"),)))
    assert after.board == Scene((A,))
    assert [refused.reason for refused in after.refused] == ["dangling_connection"]
