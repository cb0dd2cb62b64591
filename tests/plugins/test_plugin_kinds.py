"""The same planner as a Python class, as a command and as an HTTP endpoint."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plain_planner
import pytest
from asking import ask
from plugin_server import answers, endpoint

from misheard.plugins.protocol import PLANNER, RENDERER
from misheard.plugins.settings import (
    CommandPluginSettings,
    HttpPluginSettings,
    PluginSettings,
    PythonPluginSettings,
)
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.stages.plan import plan_request, read_plan_reply
from misheard.stages.render import Drawn, read_render_reply, render_request

PROGRAM = str(Path(plain_planner.__file__))
PAYLOADS = [
    plan_request([], None),
    plan_request(["a box called Login"], "en"),
    plan_request(["एक डिब्बा", 'draw "quotes" \\ and\nbreaks', "\u2028"], "hi"),
    plan_request(["x" * 100_000], "en"),
]


@pytest.fixture(params=["python", "command", "http"])
def settings(request: pytest.FixtureRequest) -> Iterator[PluginSettings]:
    if request.param == "python":
        yield PythonPluginSettings(target="plain_planner:Planner")
    elif request.param == "command":
        yield CommandPluginSettings(command=(sys.executable, PROGRAM))
    else:
        pytest.importorskip("httpx", reason="needs the extra run")
        with endpoint(answers(plain_planner.Planner().plan)) as server:
            yield HttpPluginSettings(url=server.url, concurrency=3)


def test_every_kind_gives_the_same_replies(settings: PluginSettings) -> None:
    found = ask(settings, PAYLOADS)
    planner = plain_planner.Planner()
    assert [json.loads(one.text or "") for one in found] == [planner.plan(payload) for payload in PAYLOADS]
    assert all(one.failure is None and one.seconds > 0.0 and one.attempts == 1 for one in found)


def test_a_plan_comes_out_of_every_kind(settings: PluginSettings) -> None:
    (found,) = ask(settings, [plan_request(["Login", "डेटाबेस"], "hi")])
    assert read_plan_reply(found.text, found.failure, found.detail) == Scene(
        (Shape("s0", "box", "hi: Login"), Shape("s1", "box", "hi: डेटाबेस")), (Connection("s0", "s1"),)
    )


@pytest.mark.parametrize("kind", ["python", "command", "http"])
def test_a_renderer_is_reached_the_same_way(kind: str) -> None:
    a, b = Shape("a", "box", "A"), Shape("b", "note", "B")
    board, plan = Scene((a,)), Scene((a, b), (Connection("a", "b"),))
    made: dict[str, Any] = {
        "python": PythonPluginSettings(target="plain_planner:Renderer"),
        "command": CommandPluginSettings(command=(sys.executable, PROGRAM)),
    }
    if kind == "http":
        pytest.importorskip("httpx", reason="needs the extra run")
        with endpoint(answers(plain_planner.Renderer().render)) as server:
            (found,) = ask(HttpPluginSettings(url=server.url), [render_request(board, plan)], RENDERER)
    else:
        (found,) = ask(made[kind], [render_request(board, plan)], RENDERER)
    drawn = read_render_reply(board, found.text, found.failure, found.detail)
    assert isinstance(drawn, Drawn) and drawn.board == Scene((a, b)) and drawn.refused == ()


def test_requests_are_not_changed(settings: PluginSettings) -> None:
    payload = plan_request(["one", "two"], "en")
    before = json.dumps(payload)
    ask(settings, [payload])
    assert json.dumps(payload) == before


def test_roles_name_the_sections_of_a_config() -> None:
    assert (PLANNER.name, RENDERER.name) == ("plan", "render")
