"""Operations on boards: what each does, what a board refuses, and what never stands on one."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_boards import BOARDS, CONNECTIONS, IDS, LABELS, PLANS, SHAPES, same, valid_part

from misheard.scenes.differences import differences
from misheard.scenes.fields import SceneError
from misheard.scenes.operations import (
    AddShape,
    ChangeKind,
    Connect,
    Disconnect,
    Operation,
    Relabel,
    Remove,
    apply,
    operations_as_json,
    read_operations,
)
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape

A, B, C = (Shape(name, "box", name.upper()) for name in "abc")
AB, BA = Connection("a", "b", "to"), Connection("b", "a")
BOARD = Scene((A, B), (AB,))

OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(AddShape, SHAPES),
    st.builds(Relabel, IDS, LABELS),
    st.builds(ChangeKind, IDS, st.sampled_from(["box", "note"])),
    st.builds(Remove, IDS),
    st.builds(Connect, CONNECTIONS),
    st.builds(Disconnect, CONNECTIONS),
)


@pytest.mark.parametrize(
    ("operation", "board"),
    [
        (AddShape(C), Scene((A, B, C), (AB,))),
        (Relabel("a", "new"), Scene((Shape("a", "box", "new"), B), (AB,))),
        (ChangeKind("b", "note"), Scene((A, Shape("b", "note", "B")), (AB,))),
        (Remove("a"), Scene((B,))),
        (Connect(BA), Scene((A, B), (AB, BA))),
        (Connect(Connection("a", "b", "other")), Scene((A, B), (AB, Connection("a", "b", "other")))),
        (Connect(Connection("a", "a")), Scene((A, B), (AB, Connection("a", "a")))),
        (Disconnect(AB), Scene((A, B))),
    ],
)
def test_what_an_operation_does(operation: Operation, board: Scene) -> None:
    applied = apply(BOARD, [operation])
    assert (applied.board, applied.refused) == (board, ())


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (AddShape(Shape("a", "note", "other")), "duplicate_shape"),
        (Relabel("c", "x"), "unknown_shape"),
        (ChangeKind("c", "note"), "unknown_shape"),
        (Remove("c"), "unknown_shape"),
        (Connect(Connection("a", "c")), "dangling_connection"),
        (Connect(Connection("c", "a")), "dangling_connection"),
        (Connect(AB), "duplicate_connection"),
        (Disconnect(BA), "unknown_connection"),
    ],
)
def test_what_a_board_refuses_and_why(operation: Operation, reason: str) -> None:
    applied = apply(BOARD, [operation, Connect(BA)])
    assert [(one.operation, one.reason) for one in applied.refused] == [(operation, reason)]
    assert (applied.board, applied.applied) == (Scene((A, B), (AB, BA)), (Connect(BA),))


def test_arrows_of_a_removed_shape_are_traced() -> None:
    applied = apply(Scene((A, B), (AB, BA, Connection("b", "b"))), [Remove("a")])
    assert applied.applied == (Disconnect(AB), Disconnect(BA), Remove("a"))
    assert applied.board == Scene((B,), (Connection("b", "b"),))


def test_a_board_has_an_end() -> None:
    many = [AddShape(Shape(str(number), "box", "")) for number in range(501)]
    arrows = [Connect(Connection("0", str(number // 3), str(number))) for number in range(1_001)]
    applied = apply(EMPTY_SCENE, [*many, *arrows])
    assert (len(applied.board.shapes), len(applied.board.connections)) == (500, 1_000)
    assert [one.reason for one in applied.refused] == ["board_full", "board_full"]


@given(BOARDS, st.lists(OPERATIONS, max_size=30))
def test_no_operations_make_anything_but_a_board(board: Scene, operations: list[Operation]) -> None:
    applied = apply(board, operations)
    assert valid_part(applied.board) == applied.board
    assert len(applied.refused) <= len(operations)
    # what was done is the whole story
    again = apply(board, applied.applied)
    assert (again.board, again.refused) == (applied.board, ())


@given(BOARDS, BOARDS)
def test_differences_lead_from_any_board_to_any_other(board: Scene, plan: Scene) -> None:
    applied = apply(board, differences(board, plan))
    assert same(applied.board, plan)
    assert applied.refused == ()
    assert applied.applied == differences(board, plan)
    assert differences(applied.board, plan) == ()


@given(BOARDS, PLANS)
def test_of_a_wild_plan_a_board_shows_what_it_can_and_refuses_the_rest(board: Scene, plan: Scene) -> None:
    applied = apply(board, differences(board, plan))
    assert same(applied.board, valid_part(plan))
    surplus = len(plan.shapes) + len(plan.connections)
    surplus -= len(applied.board.shapes) + len(applied.board.connections)
    assert len(applied.refused) == surplus
    assert {one.reason for one in applied.refused} <= {
        "duplicate_shape", "dangling_connection", "duplicate_connection",
    }  # fmt: skip


@given(PLANS)
def test_an_empty_board_is_only_added_to_in_the_order_of_the_plan(plan: Scene) -> None:
    assert differences(EMPTY_SCENE, plan) == (
        *map(AddShape, plan.shapes), *map(Connect, plan.connections),
    )  # fmt: skip


def test_the_order_of_differences_is_fixed() -> None:
    plan = Scene((Shape("a", "note", "new"), C), (Connection("c", "a"),))
    assert differences(Scene((A, B), (AB,)), plan) == (
        Disconnect(AB), Remove("b"), ChangeKind("a", "note"), Relabel("a", "new"), AddShape(C),
        Connect(Connection("c", "a")),
    )  # fmt: skip


@given(st.lists(OPERATIONS, max_size=9))
def test_operations_come_back_from_their_json(operations: list[Operation]) -> None:
    reply = json.loads(json.dumps(operations_as_json(operations)))
    assert read_operations(reply) == tuple(operations)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "must be an object with operations"),
        ({}, "operations: is missing"),
        ({"operations": {}}, "operations: must be a list"),
        ({"operations": [{}] * 5_001}, "operations: 5001 are more than 5000"),
        ({"operations": ["canary"]}, r"operations\[0\]: must be an object"),
        ({"operations": [{"op": "canary"}]}, r"operations\[0\].op: must be one of add_shape, relabel"),
        ({"operations": [{"op": ["remove"]}]}, r"operations\[0\].op: must be one of"),
        ({"operations": [{"op": "remove"}]}, r"operations\[0\].id: is missing"),
        ({"operations": [{"op": "relabel", "id": "a"}]}, r"operations\[0\].label: is missing"),
        ({"operations": [{"op": "connect", "from": "a"}]}, r"operations\[0\].to: is missing"),
        ({"operations": [{"op": "add_shape", "id": "a", "kind": "?", "label": ""}]}, "kind: must match"),
    ],
)
def test_a_reply_that_is_no_operations_is_refused_whole(value: object, problem: str) -> None:
    with pytest.raises(SceneError, match=problem) as raised:
        read_operations(value)
    assert "canary" not in str(raised.value)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["op", "id", "kind", "label", "from", "to"]),
            st.sampled_from(["add_shape", "connect", "remove", "a", "", "\0"]) | st.none() | st.floats(),
        )
    )
)
def test_nothing_but_operations_or_their_error_comes_of_any_rows(rows: list[dict[str, Any]]) -> None:
    with contextlib.suppress(SceneError):
        assert len(read_operations({"operations": rows})) == len(rows)
