"""The render stage: the request, and what of any reply stands on the board."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.failures import Failure, FailureKind
from misheard.scenes.operations import AddShape, Connect, Disconnect, Refused, Remove
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape
from misheard.stages.render import Drawn, read_render_reply, render_request

A, B = Shape("a", "box", "A"), Shape("b", "note", "B")
AB = Connection("a", "b", "to")
BOARD = Scene((A, B), (AB,))


def reply(*operations: dict[str, Any]) -> str:
    return json.dumps({"operations": operations})


def test_a_renderer_gets_what_stands_and_what_shall() -> None:
    assert render_request(Scene((A,)), BOARD) == {"board": Scene((A,)).as_json(), "plan": BOARD.as_json()}


def test_operations_go_on_from_the_board_that_is_there() -> None:
    text = reply(
        {"op": "add_shape", "id": "b", "kind": "note", "label": "B"},
        {"op": "connect", "from": "a", "to": "b"},
    )
    connection = Connection("a", "b")
    assert read_render_reply(Scene((A,)), text, None, "") == Drawn(
        Scene((A, B), (connection,)), (AddShape(B), Connect(connection)), ()
    )


def test_a_board_that_is_not_touched_stays() -> None:
    assert read_render_reply(BOARD, reply(), None, "") == Drawn(BOARD, (), ())


def test_what_the_board_cannot_take_is_refused_and_the_rest_is_done() -> None:
    text = reply(
        {"op": "connect", "from": "a", "to": "nowhere"},
        {"op": "remove", "id": "b"},
        {"op": "add_shape", "id": "a", "kind": "box", "label": "again"},
    )
    dangling, again = Connect(Connection("a", "nowhere")), AddShape(Shape("a", "box", "again"))
    assert read_render_reply(BOARD, text, None, "") == Drawn(
        Scene((A,)),
        (Disconnect(AB), Remove("b")),
        (Refused(dangling, "dangling_connection"), Refused(again, "duplicate_shape")),
    )


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("canary", "the reply is no JSON"),
        ("[]", "the reply is no JSON object"),
        ("{}", "the operations: operations: is missing"),
        (reply({"op": "explode", "id": "canary"}), "the operations: operations[0].op: must be one of"),
        (
            reply({"op": "remove", "id": "b"}, {"op": "remove"}),
            "the operations: operations[1].id: is missing",
        ),
    ],
)  # fmt: skip
def test_a_reply_that_is_none_draws_nothing(text: str, detail: str) -> None:
    found = read_render_reply(BOARD, text, None, "")
    assert isinstance(found, Failure)
    assert (found.stage, found.kind) == ("render", FailureKind.INVALID_OUTPUT)
    assert found.detail.startswith(detail) and "canary" not in found.detail


def test_a_failed_request_stays_what_it_is() -> None:
    found = read_render_reply(BOARD, None, "renderer_error", "why")
    assert found == Failure("render", FailureKind.RENDERER_ERROR, "why")


@given(st.text(max_size=60))
def test_no_text_is_anything_but_a_board_or_a_failure(text: str) -> None:
    assert isinstance(read_render_reply(EMPTY_SCENE, text, None, ""), Drawn | Failure)
