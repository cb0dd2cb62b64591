"""The renderer that ships with misheard, and how renderers are chosen."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.plugins.protocol import PluginRequest
from misheard.plugins.python_class import PythonPlugin
from misheard.plugins.settings import PythonPluginSettings
from misheard.renderers.board import BoardRenderer
from misheard.renderers.registry import make_renderer
from misheard.renderers.settings import BoardRendererSettings
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape
from misheard.stages.render import Drawn, read_render_reply, render_request

SHAPES = [Shape(name, kind, name.upper()) for name in "abc" for kind in ("box", "note")]
PLANS = st.builds(
    lambda shapes, connections: Scene(tuple(shapes), tuple(connections)),
    st.lists(st.sampled_from(SHAPES), max_size=5),
    st.lists(st.builds(Connection, st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=6),
)


def drawn(board: Scene, plan: Scene) -> Drawn:
    renderer = make_renderer(None, Path())
    renderer.check()
    renderer.start()
    (found,) = renderer.complete([PluginRequest("k", render_request(board, plan))])
    renderer.close()
    assert found.key == "k"
    done = read_render_reply(board, found.text, found.failure, found.detail)
    assert isinstance(done, Drawn)
    return done


@given(PLANS, PLANS)
def test_every_shape_and_every_arrow_with_both_ends_is_drawn(first: Scene, second: Scene) -> None:
    board = drawn(EMPTY_SCENE, first).board
    done = drawn(board, second)
    ids = {shape.id for shape in second.shapes}
    ends = {c for c in second.connections if {c.source, c.target} <= ids}
    assert {shape.id for shape in done.board.shapes} == ids
    assert set(done.board.connections) == ends
    assert len(done.refused) == len(second.shapes) - len(ids) + len(second.connections) - len(ends)


def test_dangling_connections_are_refused_by_reason() -> None:
    plan = Scene((SHAPES[0],), (Connection("a", "x"), Connection("y", "z")))
    assert [one.reason for one in drawn(EMPTY_SCENE, plan).refused] == ["dangling_connection"] * 2


@pytest.mark.parametrize("settings", [None, BoardRendererSettings()])
def test_without_settings_the_shipped_renderer_draws(settings: BoardRendererSettings | None) -> None:
    renderer = make_renderer(settings, Path())
    assert isinstance(renderer, BoardRenderer)
    assert renderer.fingerprint() == {"kind": "board", "version": 1}


def test_a_renderer_of_the_users_is_a_plugin() -> None:
    renderer = make_renderer(PythonPluginSettings(target="a:B"), Path())
    assert isinstance(renderer, PythonPlugin)
