"""JSON of others as scenes: what is read, what is refused, and that nothing of it is quoted."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_boards import BOARDS, PLANS

from misheard.scenes.reading import MAX_CONNECTIONS, MAX_SHAPES, SceneError, check_golden, read_scene
from misheard.scenes.scene import EMPTY_SCENE, Connection, Scene, Shape

KIND = "shapes[0].kind: must match [a-z][a-z0-9_]*, at most 40 characters"
PRINTED = "holds a character that cannot be printed"


def shape(**changes: Any) -> dict[str, Any]:
    row = {"id": "canary id", "kind": "box", "label": "canary label", **changes}
    return {key: value for key, value in row.items() if value != "gone"}


def arrow(**changes: Any) -> dict[str, Any]:
    row = {"from": "a", "to": "b", "label": "canary", **changes}
    return {key: value for key, value in row.items() if value != "gone"}


@given(PLANS)
def test_a_plan_comes_back_from_its_json(plan: Scene) -> None:
    assert read_scene(json.loads(json.dumps(plan.as_json()))) == plan


@pytest.mark.parametrize(
    ("value", "scene"),
    [
        ({"shapes": []}, EMPTY_SCENE),
        ({"shapes": [], "connections": None}, EMPTY_SCENE),
        ({"shapes": [], "connections": [arrow(label="gone")]}, Scene((), (Connection("a", "b"),))),
        ({"shapes": [], "connections": [arrow(label=None)]}, Scene((), (Connection("a", "b"),))),
        ({"shapes": [shape(id="a", label="")]}, Scene((Shape("a", "box", ""),))),
        (
            {"shapes": [shape(id="a", label=" two\n lines\t here ", colour="red")], "confidence": 0.5},
            Scene((Shape("a", "box", "two lines here"),)),
        ),
    ],
)
def test_what_may_be_left_out_and_what_is_passed_over(value: object, scene: Scene) -> None:
    assert read_scene(value) == scene


@pytest.mark.parametrize(
    "label",
    ["क्\u200dष", "می\u200cخواهم", "مرحبا \u200fworld", "👩\u200d👩\u200d👧", "வணக்கம்",
     "数据库", "<b>&amp;", "\u00ad", "x" * 200],
)  # fmt: skip
def test_every_script_is_printable(label: str) -> None:
    assert read_scene({"shapes": [shape(label=label)]}).shapes[0].label == label


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        (None, ["must be an object with shapes and connections"]),
        ([shape()], ["must be an object with shapes and connections"]),
        ({}, ["shapes: is missing"]),
        ({"shapes": {"canary": 1}}, ["shapes: must be a list"]),
        ({"shapes": [], "connections": "canary"}, ["connections: must be a list"]),
        ({"shapes": ["canary"]}, ["shapes[0]: must be an object"]),
        ({"shapes": [{}]}, [f"shapes[0].{name}: is missing" for name in ("id", "kind", "label")]),
        ({"shapes": [shape(), shape(id=1)]}, ["shapes[1].id: must be a text"]),
        ({"shapes": [shape(id="")]}, ["shapes[0].id: must have 1 to 80 characters"]),
        ({"shapes": [shape(id="x" * 81)]}, ["shapes[0].id: must have 1 to 80 characters"]),
        ({"shapes": [shape(id="a\nb")]}, [f"shapes[0].id: {PRINTED}"]),
        ({"shapes": [shape(kind="Canary")]}, [KIND]),
        ({"shapes": [shape(kind="k" * 41)]}, [KIND]),
        ({"shapes": [shape(kind="box\n")]}, [KIND]),
        ({"shapes": [shape(label=None)]}, ["shapes[0].label: is missing"]),
        ({"shapes": [shape(label="x" * 201)]}, ["shapes[0].label: is longer than 200 characters"]),
        ({"shapes": [shape(label="a\0")]}, [f"shapes[0].label: {PRINTED}"]),
        ({"shapes": [shape(label="\x1b[2J")]}, [f"shapes[0].label: {PRINTED}"]),
        ({"shapes": [shape(label="\ud83d")]}, [f"shapes[0].label: {PRINTED}"]),
        ({"shapes": [shape(label="\uffff")]}, [f"shapes[0].label: {PRINTED}"]),
        ({"shapes": [], "connections": [arrow(to="gone")]}, ["connections[0].to: is missing"]),
        ({"shapes": [], "connections": [arrow(label=["canary"])]}, ["connections[0].label: must be a text"]),
        ({"shapes": [shape()] * (MAX_SHAPES + 1)}, ["shapes: 501 are more than 500"]),
        (
            {"shapes": [], "connections": [arrow()] * (MAX_CONNECTIONS + 1)},
            ["connections: 1001 are more than 1000"],
        ),
        (
            {"shapes": [shape(kind=3)], "connections": [arrow(**{"from": True})]},
            ["shapes[0].kind: must be a text", "connections[0].from: must be a text"],
        ),
    ],
)  # fmt: skip
def test_every_problem_is_named_by_its_place_and_not_quoted(value: object, problems: list[str]) -> None:
    with pytest.raises(SceneError) as raised:
        read_scene(value)
    assert list(raised.value.problems) == problems
    assert "canary" not in str(raised.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["shapes", "connections", "id", "kind", "label", "from", "to"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_nothing_but_a_scene_or_its_error_comes_of_any_value(value: object) -> None:
    with contextlib.suppress(SceneError):
        assert isinstance(read_scene(value), Scene)


@given(BOARDS)
def test_a_board_with_labels_may_be_a_golden_plan(board: Scene) -> None:
    empty = [index for index, one in enumerate(board.shapes) if not one.label]
    assert check_golden(board) == [f"shapes[{index}].label: is empty" for index in empty]


def test_a_golden_plan_is_held_to_what_a_board_takes() -> None:
    a, again = Shape("a", "box", "canary"), Shape("a", "note", "canary")
    twice, dangling = Connection("a", "a", "canary"), Connection("canary", "a")
    assert check_golden(Scene((a, again), (twice, dangling, twice))) == [
        "shapes[1].id: is the id of another shape",
        "connections[1].from: no shape has this id",
        "connections[2]: is there twice",
    ]
