"""Shares with few events: their intervals do not collapse, and hold what they say."""

import numpy as np
import pytest

from made_up_tables import MadeUpFamily, ratio_table, with_counts
from misheard.metrics.answer_class import AnswerClass
from misheard.metrics.base import Arm, Counts, Rate, divide, share_of_rows
from misheard.metrics.registry import ScoringSettings, families
from misheard.stats.compare import compare_tables
from misheard.stats.estimates import Estimate, Estimator
from misheard.stats.exact import clopper_pearson
from misheard.stats.resampling import FEW_EVENTS, Interval, draw_samples, estimate_intervals

SHARE = MadeUpFamily("share", ("events", "trials"), (share_of_rows("share", "a share", "lower", 0, 1),))


def estimate(events: list[int], sessions: list[str], trials: list[float] | None = None) -> Estimate:
    table = ratio_table(events, trials or [1] * len(events), sessions)
    counts = table.arms[Arm.AUDIO].counts["ratio"]
    table = with_counts(table, Arm.AUDIO, "share", counts)
    (found,) = Estimator(table, (SHARE,)).estimate(np.ones(len(events), dtype=bool))
    return found


def sessions(count: int, each: int) -> list[str]:
    return [f"s{number}" for number in range(count) for _ in range(each)]


def test_a_share_without_events_is_bounded_and_no_point() -> None:
    found = estimate([0] * 60, sessions(12, 5))
    assert found.intervals is not None
    assert found.intervals.bootstrap == Interval(0.0, 0.0)
    assert found.intervals.deciding == found.intervals.exact == Interval(*clopper_pearson(0, 12))


def test_items_that_are_units_are_independent_trials() -> None:
    found = estimate([1, *[0] * 59], sessions(60, 1))
    assert found.intervals is not None and found.intervals.deciding is not None
    # the jackknife's variance has n - 1 where the binomial's has n
    expected = clopper_pearson(59 / 60, 59)
    assert (found.intervals.deciding.low, found.intervals.deciding.high) == pytest.approx(expected, rel=1e-6)


def test_every_item_an_event_is_bounded_too() -> None:
    found = estimate([1] * 30, sessions(6, 5))
    assert found.intervals is not None
    assert found.intervals.deciding == Interval(*clopper_pearson(6, 6))


def test_a_share_that_is_equal_in_all_sessions_is_no_point() -> None:
    found = estimate([1, 0] * 40, sessions(8, 10))
    assert found.intervals is not None
    assert found.intervals.deciding == Interval(*clopper_pearson(4, 8))


def test_many_events_are_left_to_resampling() -> None:
    random = np.random.default_rng(1)
    events = random.permutation([1] * FEW_EVENTS + [0] * 90).tolist()
    found = estimate(events, sessions(20, 5))
    assert found.intervals is not None and found.intervals.exact is None
    fewer = estimate([*events[: events.index(1)], 0, *events[events.index(1) + 1 :]], sessions(20, 5))
    assert fewer.intervals is not None and fewer.intervals.exact is not None


@pytest.mark.parametrize("trials", [[2.0] * 20, [0.5] * 20])
def test_rows_of_other_than_one_trial_have_no_exact_bounds(trials: list[float]) -> None:
    found = estimate([0] * 20, sessions(10, 2), trials)
    assert found.intervals is not None and found.intervals.exact is None
    assert found.intervals.deciding == Interval(0.0, 0.0)


def test_a_ratio_that_is_no_share_of_items_has_no_exact_bounds() -> None:
    rate = Rate("ratio", "errors per word", "lower", lambda sums: divide(sums[..., 0], sums[..., 1]))
    family = MadeUpFamily("ratio", ("wrong", "total"), (rate,))
    table = ratio_table([0] * 20, [1] * 20, sessions(10, 2))
    (found,) = Estimator(table, (family,)).estimate(np.ones(20, dtype=bool))
    assert found.intervals is not None and found.intervals.exact is None


def test_one_session_has_no_interval() -> None:
    found = estimate([0] * 20, sessions(1, 20))
    assert found.intervals is not None and found.intervals.deciding is None


def test_differences_of_identical_systems_stay_exactly_zero() -> None:
    table = ratio_table([0] * 60, [1] * 60, sessions(12, 5))
    table = with_counts(table, Arm.AUDIO, "share", table.arms[Arm.AUDIO].counts["ratio"])
    (difference,) = compare_tables(table, table, (SHARE,)).differences
    assert difference.intervals is not None and difference.intervals.deciding == Interval(0.0, 0.0)


@pytest.mark.parametrize(("alike", "least"), [(0.0, 0.97), (0.1, 0.96)])
def test_rare_events_are_covered_where_resampling_does_not(alike: float, least: float) -> None:
    random, share, count = np.random.default_rng(11), 0.01, 20
    exact = resampled = 0
    for _ in range(250):
        sizes = random.integers(5, 40, count)
        own = np.full(count, share)
        if alike:
            odds = (1 - alike) / alike
            own = random.beta(share * odds, (1 - share) * odds, count)
        units = np.repeat(np.arange(count), sizes)
        values = np.stack([random.random(units.size) < own[units], np.ones(units.size)], axis=1)
        (sample,) = draw_samples([(values, np.ones(units.size, dtype=bool))], units, 400, 1)
        found = estimate_intervals(sample, SHARE.rates[0].compute, (0, 1))
        assert found.deciding is not None and found.bootstrap is not None
        exact += found.deciding.low <= share <= found.deciding.high
        resampled += found.bootstrap.low <= share <= found.bootstrap.high
    assert exact / 250 >= least
    assert resampled / 250 <= 0.93


def test_shares_of_items_say_so() -> None:
    named = {
        rate.name: (family.columns[rate.proportion[0]], family.columns[rate.proportion[1]])
        for family in (*families(ScoringSettings(), {}), AnswerClass({}))
        for rate in family.rates
        if rate.proportion is not None
    }
    assert named["correct_rate"] == ("correct", "answers")
    assert named["non_speech_hallucination_rate"] == ("clips_with_text", "clips")
    assert {"flip_rate", "degraded_fraction", "sentence_error_rate", "exact_match_rate"} <= named.keys()
    assert not {"wer", "wer_mean", "response_quality", "quality_drop"} & named.keys()


def test_a_declared_share_is_the_ratio_of_its_columns() -> None:
    for family in families(ScoringSettings(), {}):
        sums = np.arange(1.0, len(family.columns) + 1)
        for rate in family.rates:
            if rate.proportion is not None:
                events, trials = rate.proportion
                assert float(rate.compute(sums)) == sums[events] / sums[trials]


def test_counts_without_values_are_never_a_share() -> None:
    empty = Counts(np.zeros((3, 2)), np.zeros(3, dtype=bool))
    table = with_counts(ratio_table([0] * 3, [1] * 3, ["x", "y", "z"]), Arm.AUDIO, "share", empty)
    (found,) = Estimator(table, (SHARE,)).estimate(np.ones(3, dtype=bool))
    assert found.intervals is None and found.reason == "no_scored_items"
