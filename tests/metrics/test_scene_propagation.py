"""What recognition does to the boards, each against its transcript arm."""

from dataclasses import replace

import pytest
from hypothesis import given
from made_scenes import drawn, scene, scenes
from scored_rows import NOT_HEARD, named_counts, named_rates, speech

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.scene_propagation import ScenePropagation, look_the_same
from misheard.metrics.scoring import count_run
from misheard.scenes.scene import Connection, Scene, Shape

FAMILY = ScenePropagation()
GOLDEN = scene(["a", "b"], (0, 1))


def pair(before: Scene | None, after: Scene | None, golden: Scene | None = GOLDEN) -> ScoredRow:
    return replace(drawn(golden, after), baseline=ArmOutput("draw it", board=before))


def test_rates_by_hand():
    rows = [
        pair(GOLDEN, GOLDEN),
        pair(GOLDEN, scene(["a", "c"], (0, 1))),  # label F1 1/2, connection F1 0
        pair(scene(["a"]), scene(["a", "b"])),  # label F1 2/3 to 1, connection F1 0
        pair(GOLDEN, scene(["a", "b"], (0, 1, "yes"))),  # seen, but no other F1
        pair(scene(["x"]), scene(["y"]), Scene()),  # nothing to hit
    ]
    assert named_rates(FAMILY, rows) == {
        "label_f1_drop": pytest.approx((0 + 1 / 2 - 1 / 3 + 0) / 4),
        "connection_f1_drop": pytest.approx((0 + 1 + 0 + 0) / 4),
        "degraded_board_fraction": pytest.approx(1 / 4),
        "improved_board_fraction": pytest.approx(1 / 4),
        "board_flip_rate": pytest.approx(4 / 5),
    }


@pytest.mark.parametrize(
    "row",
    [
        pair(None, GOLDEN),
        pair(GOLDEN, None),
        pair(GOLDEN, GOLDEN, None),
        drawn(GOLDEN, GOLDEN),
        ScoredRow(speech(), Arm.AUDIO, ArmOutput("x"), ArmOutput("x")),
    ],
)
def test_what_does_not_count(row):
    assert named_counts(FAMILY, row) is None


@given(scenes(), scenes())
def test_equal_boards_lose_nothing(golden, board):
    counts = named_counts(FAMILY, pair(board, board, golden))
    assert (counts["flips"], counts["degraded"], counts["improved"], counts["pairs"]) == (0, 0, 0, 1)
    assert counts["baseline_label_f1"] == counts["arm_label_f1"]
    assert counts["baseline_connection_f1"] == counts["arm_connection_f1"]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Scene((Shape("2", "box", "b"), Shape("1", "box", "a")), (Connection("1", "2"),)), True),
        (scene(["a", "b"], (1, 0)), False),
        (scene(["a", "B"], (0, 1)), False),
        (scene(["a", "b"], (0, 1, "yes")), False),
        (scene(["a", "b"]), False),
        (scene(["a", "b", "b"], (0, 1)), False),
        (Scene((Shape("1", "box", "a"), Shape("2", "circle", "b")), (Connection("1", "2"),)), False),
    ],
)
def test_what_shows_is_what_differs(other, same):
    assert look_the_same(GOLDEN, other) is same


def test_arms_and_policy():
    item = speech("w1", "draw it", plan=GOLDEN)
    fine = ArmOutput("draw it", plan=GOLDEN, board=GOLDEN)
    outputs = {arm: [fine] for arm in Arm} | {Arm.AUDIO: [ArmOutput(None, failure=NOT_HEARD)]}
    counted = {
        policy: count_run([item], ["0"], outputs, {}, {}, [FAMILY], policy).arms
        for policy in ("exclude", "worst")
    }
    assert {arm for arm, table in counted["worst"].items() if table.counts} == {
        Arm.AUDIO,
        Arm.UNCORRECTED,
        Arm.CONTROL,
    }
    assert not counted["exclude"][Arm.AUDIO].counts["scene_propagation"].present[0]
    worst = counted["worst"][Arm.AUDIO].counts["scene_propagation"].values[0]
    assert worst.tolist() == [1, 0, 1, 0, 1, 1, 0, 1, 1, 1]


def test_a_plan_that_fails_in_both_arms_is_no_noise_and_in_one_it_is():
    failed = Failure("plan", FailureKind.INVALID_OUTPUT, "")
    one = pair(Scene(), Scene(), GOLDEN)
    broken = replace(one, output=replace(one.output, failure=failed))
    assert named_counts(FAMILY, broken)["flips"] == 1
    assert named_counts(FAMILY, replace(broken, baseline=broken.output))["flips"] == 0
