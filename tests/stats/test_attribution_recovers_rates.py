"""Attribution of a table whose truth is known: recognition, planner and renderer that fail at set rates."""

from collections.abc import Iterator

import numpy as np
import pytest

from made_up_tables import SCENE, FailureRates, MadeUpFamily, scene_table
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.stats.attribution import Attributor
from misheard.stats.losses import Attribution, Share
from misheard.stats.resampling import Intervals

RECALL = MadeUpFamily(
    SCENE.name, SCENE.columns, tuple(rate for rate in SCENE.rates if rate.name == "label_recall"), SCENE.arms
)
CHAIN = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.PLAN)
RATES = FailureRates(recognition=0.12, planning=0.30, rendering=0.05)


def attribute(table: CountTable, resamples: int) -> Attribution:
    (found,) = Attributor(table, (RECALL,), resamples).attribute(np.ones(len(table.items), dtype=bool))
    return found


def true_parts(rates: FailureRates) -> dict[str, float]:
    """Return what each stage loses of the share of labels that are drawn.

    A label is drawn where no stage lost it, and what a stage loses is what its golden value wins back.
    """
    p, q, r = rates.recognition, rates.planning, rates.rendering
    return {"recognition": p * (1 - q) * (1 - r), "planning": q * (1 - r), "rendering": r}


def parts(found: Attribution) -> dict[str, Share]:
    return {**{loss.stage: loss.part for loss in found.losses}, found.rest: found.remainder}


def holds(intervals: Intervals | None, value: float) -> bool:
    assert intervals is not None and intervals.deciding is not None
    return intervals.deciding.low <= value <= intervals.deciding.high


def is_near(value: float | None, intervals: Intervals | None, truth: float) -> bool:
    """Whether a value is within four of its own standard errors of the truth."""
    assert value is not None and intervals is not None and intervals.standard_error is not None
    return abs(value - truth) <= 4 * intervals.standard_error


@pytest.mark.parametrize(
    "rates",
    [
        RATES,
        FailureRates(0.30, 0.08, 0.02),
        FailureRates(0.05, 0.05, 0.25),
        FailureRates(0.15, 0.60, 0.01),
    ],
    ids=["planner", "recognizer", "renderer", "a planner that fails mostly"],
)
def test_the_rates_that_stages_fail_at_are_recovered(rates: FailureRates) -> None:
    found = attribute(scene_table(rates, sessions=100, per_session=30, seed=4), 2000)
    truth, shown = true_parts(rates), parts(found)
    whole = sum(truth.values())
    assert is_near(found.shortfall, found.intervals, whole)
    for stage, lost in truth.items():
        assert is_near(shown[stage].amount, shown[stage].amount_intervals, lost), stage
        assert is_near(shown[stage].share, shown[stage].intervals, lost / whole), stage
    amounts = {stage: part.amount or 0.0 for stage, part in shown.items()}
    r = amounts["rendering"]
    q = amounts["planning"] / (1 - r)
    p = amounts["recognition"] / ((1 - q) * (1 - r))
    assert (p, q, r) == pytest.approx((rates.recognition, rates.planning, rates.rendering), abs=0.02)
    assert found.largest is not None and found.largest.is_shown
    assert found.largest.stage == max(truth, key=lambda stage: truth[stage])


def repetitions(count: int, sessions: int) -> Iterator[Attribution]:
    for seed in range(count):
        yield attribute(scene_table(RATES, sessions, 6, seed=seed, arms=CHAIN), 400)


@pytest.mark.slow
@pytest.mark.parametrize("sessions", [20, 90])
def test_intervals_of_losses_and_shares_hold_the_truth_in_about_95_of_100_repetitions(sessions: int) -> None:
    truth = true_parts(RATES)
    whole = sum(truth.values())
    count, covered = 200, dict.fromkeys([*truth, *(f"share of {stage}" for stage in truth)], 0)
    for found in repetitions(count, sessions):
        for stage, part in parts(found).items():
            covered[stage] += holds(part.amount_intervals, truth[stage])
            covered[f"share of {stage}"] += holds(part.intervals, truth[stage] / whole)
    assert len(covered) == 6
    # four standard errors of a coverage of 95 % below, and what both intervals together may add above
    for name, hits in covered.items():
        assert 0.95 - 4 * (0.95 * 0.05 / count) ** 0.5 <= hits / count <= 0.99, (name, hits / count)


@pytest.mark.slow
def test_a_stage_is_seldom_named_the_largest_where_two_lose_the_same() -> None:
    # recognition loses what the planner left, so that both lose 0.2
    even = FailureRates(recognition=0.25, planning=0.2, rendering=0.0)
    named = []
    for seed in range(100):
        largest = attribute(scene_table(even, 90, 6, seed=seed, arms=CHAIN), 400).largest
        named.append(largest is not None and largest.is_shown)
    assert np.mean(named) <= 0.05 + 4 * (0.05 * 0.95 / 100) ** 0.5
