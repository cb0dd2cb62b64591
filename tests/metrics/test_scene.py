"""Boards against golden plans, by hand and against a brute-force count."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scenes import drawn, scene, scenes
from scored_rows import NOT_HEARD, named_counts, named_rates, speech

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.scene import COLUMNS, SceneMatch
from misheard.metrics.scene_labels import label_key
from misheard.metrics.scoring import count_run
from misheard.scenes.scene import Connection, Scene, Shape

FAMILY = SceneMatch()
GOLDEN = scene(["Login page", "Database", "Cache", "Cache"], (0, 1, "reads"), (0, 2), (1, 3))
BOARD = scene(["login page.", "Data base", "cache"], (0, 2, "writes"), (0, 1), (2, 0))


def test_counts_by_hand():
    row = drawn(GOLDEN, BOARD, plan=BOARD, refused=2)
    assert named_counts(FAMILY, row) == {
        "shapes": 3,
        "golden_shapes": 4,
        "label_hits": 2,  # login page, one cache
        "connections": 3,
        "golden_connections": 3,
        "connection_hits": 1,  # login page -> cache
        "labelled_connection_hits": 0,
        "boards": 1,
        "empty_boards": 0,
        "boards_with_golden_shapes": 1,
        "accepted_connections": 3,
        "undrawn_connections": 0,
        "refused_operations": 2,
    }
    assert named_rates(FAMILY, [row]) == {
        "label_f1": pytest.approx(4 / 7),
        "label_precision": pytest.approx(2 / 3),
        "label_recall": pytest.approx(2 / 4),
        "connection_f1": pytest.approx(2 / 6),
        "connection_precision": pytest.approx(1 / 3),
        "connection_recall": pytest.approx(1 / 3),
        "labelled_connection_f1": 0.0,
        "empty_board_rate": 0.0,
        "undrawn_connection_rate": 0.0,
        "shapes_per_board": 3.0,
        "connections_per_board": 3.0,
        "refused_operations_per_board": 2.0,
    }


def test_rates_are_made_from_sums():
    rows = [drawn(GOLDEN, BOARD), drawn(scene(["x"]), scene(["x"])), drawn(scene(["x"]), scene([]))]
    rates = named_rates(FAMILY, rows)
    assert rates["label_f1"] == pytest.approx(2 * 3 / (4 + 6))
    assert rates["empty_board_rate"] == pytest.approx(1 / 3)
    assert rates["shapes_per_board"] == pytest.approx(4 / 3)


def definition(board: Scene, golden: Scene) -> dict[str, int]:
    """The hits counted by crossing members off a list, one by one."""

    def hits(first: list[object], second: list[object]) -> int:
        left = list(second)
        return sum(1 for member in first if member in left and left.remove(member) is None)

    def parts(one: Scene) -> tuple[list[object], list[object], list[object]]:
        label = {shape.id: label_key(shape.label, "en") for shape in one.shapes}
        pairs = [(label[c.source], label[c.target]) for c in one.connections]
        own = [label_key(c.label, "en") for c in one.connections]
        return list(label.values()), list(pairs), list(zip(pairs, own, strict=True))

    names = ("label_hits", "connection_hits", "labelled_connection_hits")
    return {name: hits(a, b) for name, a, b in zip(names, parts(board), parts(golden), strict=True)}


@given(scenes(), scenes())
def test_hits_are_those_of_the_definition(board, golden):
    counts = named_counts(FAMILY, drawn(golden, board))
    assert {name: counts[name] for name in definition(board, golden)} == definition(board, golden)
    assert counts["shapes"] == len(board.shapes) and counts["golden_shapes"] == len(golden.shapes)
    assert counts["connections"] == len(board.connections)
    assert counts["labelled_connection_hits"] <= counts["connection_hits"]


@given(scenes(), scenes(), st.randoms(use_true_random=False))
def test_order_and_ids_do_not_matter(board, golden, dice):
    assert named_counts(FAMILY, drawn(golden, board)) == named_counts(
        FAMILY, drawn(golden, renamed(board, dice), plan=golden)
    )


def renamed(given_scene: Scene, dice: random.Random) -> Scene:
    names = {shape.id: f"new-{shape.id}" for shape in given_scene.shapes}
    shapes = [replace(shape, id=names[shape.id], kind="circle") for shape in given_scene.shapes]
    arrows = [Connection(names[c.source], names[c.target], c.label) for c in given_scene.connections]
    dice.shuffle(shapes)
    dice.shuffle(arrows)
    return Scene(tuple(shapes), tuple(arrows))


@given(scenes(), scenes(least=1), st.data())
def test_a_right_shape_never_lowers_recall(board, golden, data):
    shape = data.draw(st.sampled_from(golden.shapes))
    more = replace(board, shapes=(*board.shapes, replace(shape, id="another")))
    before, after = (named_rates(FAMILY, [drawn(golden, one)]) for one in (board, more))
    assert after["label_recall"] >= before["label_recall"]


@given(scenes())
def test_a_board_like_the_golden_plan_is_all_right(golden):
    rates = named_rates(FAMILY, [drawn(golden, golden)])
    labels = {rates[name] for name in ("label_f1", "label_precision", "label_recall")}
    connections = {rates[f"connection_{name}"] for name in ("f1", "precision", "recall")}
    assert labels == ({1.0} if golden.shapes else {None})
    assert connections | {rates["labelled_connection_f1"]} == ({1.0} if golden.connections else {None})
    assert rates["undrawn_connection_rate"] == (0.0 if golden.connections else None)
    assert rates["empty_board_rate"] == (0.0 if golden.shapes else None)


def test_nothing_to_hit_is_undefined_and_pools_what_was_drawn():
    alone = named_rates(FAMILY, [drawn(Scene(), BOARD)])
    of_golden = [name for name in alone if name.rpartition("_")[2] in ("f1", "precision", "recall")]
    assert len(of_golden) == 7 and {alone[name] for name in of_golden} == {None}
    assert (alone["empty_board_rate"], alone["shapes_per_board"]) == (None, 3.0)
    together = named_rates(FAMILY, [drawn(Scene(), BOARD), drawn(scene(["x"]), scene(["x"]))])
    assert together["label_precision"] == pytest.approx(1 / 4)
    assert together["label_recall"] == 1.0


def test_an_empty_board_has_no_precision():
    rates = named_rates(FAMILY, [drawn(GOLDEN, Scene())])
    assert (rates["label_precision"], rates["label_recall"], rates["label_f1"]) == (None, 0.0, 0.0)
    assert rates["empty_board_rate"] == 1.0


@pytest.mark.parametrize(
    ("first", "second", "language", "equal"),
    [
        ("Login-Page", "login page!", "en", True),
        ("fifty users", "50 users", "en", True),
        ("fifty users", "50 users", None, False),
        ("user", "users", "en", False),
        ("登录 页面", "登录页面", "zh", True),
        ("४ सर्वर", "4 सर्वर", "hi", True),
        ("सर्वर", "सरवर", "hi", False),
        ("٣ خوادم", "3 خوادم", "ar", True),
        ("?", " ？ ", "en", True),
        ("?", "!", "en", False),
        ("?", "", "en", False),
        ("", " ", "en", True),
        ("a", "a ?", "en", True),
    ],
)
def test_labels_that_are_equal(first, second, language, equal):
    assert (label_key(first, language) == label_key(second, language)) is equal


@pytest.mark.parametrize(
    ("plan", "board", "undrawn"),
    [
        (GOLDEN, GOLDEN, 0),
        (GOLDEN, scene(["Login page", "Database", "Cache"], (0, 1)), 2),
        (scene(["a", "b"], (0, 1), (0, 1)), scene(["a", "b"], (0, 1)), 1),
        (scene(["a"], (0, 7)), scene(["a"]), 1),  # to a shape that the plan lacks
        (scene(["a", "b"], (0, 1)), scene(["a", "b"], (1, 0)), 1),
        (GOLDEN, Scene(), 3),
    ],
)
def test_connections_that_never_became_an_arrow(plan, board, undrawn):
    counts = named_counts(FAMILY, drawn(GOLDEN, board, plan=plan))
    assert counts["undrawn_connections"] == undrawn
    assert counts["accepted_connections"] == len(plan.connections)


def test_of_a_plan_with_one_id_twice_the_first_shape_is_meant():
    plan = Scene(
        (Shape("a", "box", "x"), Shape("a", "box", "y"), Shape("b", "box", "z")), (Connection("a", "b"),)
    )
    counts = named_counts(FAMILY, drawn(GOLDEN, scene(["x", "z"], (0, 1)), plan=plan))
    assert counts["undrawn_connections"] == 0


def test_what_does_not_count():
    assert named_counts(FAMILY, drawn(GOLDEN, None)) is None
    assert named_counts(FAMILY, drawn(None, BOARD)) is None
    assert named_counts(FAMILY, ScoredRow(speech(), Arm.AUDIO, ArmOutput("x"))) is None
    assert named_counts(FAMILY, drawn(GOLDEN, GOLDEN, plan=None))["accepted_connections"] == 0


NOT_PLANNED = Failure("plan", FailureKind.INVALID_OUTPUT, "no scene")
NOT_DRAWN = Failure("render", FailureKind.RENDERER_ERROR, "broken")


@pytest.mark.parametrize(
    ("failure", "accepted"), [(NOT_HEARD, 0), (NOT_PLANNED, 0), (NOT_DRAWN, len(GOLDEN.connections))]
)
def test_a_failed_board_is_all_wrong_under_worst_and_left_out_else(failure, accepted):
    item = speech("w1", "draw it", plan=GOLDEN)
    outputs = {arm: [ArmOutput("draw it", plan=GOLDEN, failure=failure)] for arm in Arm}
    for policy in ("exclude", "worst"):
        table = count_run([item], ["0"], outputs, {}, {}, [FAMILY], policy)
        assert set(table.arms) == set(Arm)
        for arm in table.arms.values():
            counts = arm.counts["scene"]
            assert counts.present.tolist() == [policy == "worst"]
            found = dict(zip(COLUMNS, counts.values[0].tolist(), strict=True))
            expected = dict.fromkeys(COLUMNS, 0.0)
            if policy == "worst":
                expected |= {"golden_shapes": 4, "golden_connections": 3, "boards": 1, "empty_boards": 1}
                expected |= {"boards_with_golden_shapes": 1}
                expected |= {"accepted_connections": accepted, "undrawn_connections": accepted}
            assert found == expected
