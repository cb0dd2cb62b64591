import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from misheard.stats.exact import clopper_pearson, korn_graubard, quantile, quantile_upper_bound


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("events", "trials"), [(0, 1), (1, 1), (0, 50), (1, 50), (3, 8), (49, 50), (50, 50), (7, 100_000)]
)
def test_clopper_pearson_is_scipys(events: int, trials: int, confidence: float) -> None:
    expected = stats.binomtest(events, trials).proportion_ci(confidence, method="exact")
    assert clopper_pearson(events, trials, confidence) == pytest.approx(tuple(expected), rel=1e-8, abs=1e-12)


def test_no_events_follow_the_closed_form() -> None:
    assert clopper_pearson(0, 59) == (0.0, pytest.approx(1 - 0.025 ** (1 / 59), rel=1e-9))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 40), st.integers(1, 60))
def test_clopper_pearson_is_symmetrical_and_holds_the_proportion(events: int, more: int) -> None:
    trials = events + more
    low, high = clopper_pearson(events, trials)
    other_low, other_high = clopper_pearson(trials - events, trials)
    assert low <= events / trials <= high and low < high
    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-9)


@pytest.mark.parametrize("events", [-1, 3, math.nan])
def test_events_must_be_among_the_trials(events: float) -> None:
    with pytest.raises(ValueError, match="events"):
        clopper_pearson(events, 2)


def test_units_that_are_all_alike_count_once_each() -> None:
    none, all_ = np.zeros(12), np.full(12, 10.0)
    assert korn_graubard(none, all_, 0.0) == clopper_pearson(0, 12)
    assert korn_graubard(all_, all_, 0.0) == clopper_pearson(12, 12)
    unequal = np.array([100.0, *[1.0] * 11])
    assert korn_graubard(none, unequal, 0.0) == clopper_pearson(0, 111**2 / 10_011)


def test_effective_trials_follow_the_standard_error() -> None:
    events, trials = np.array([1.0, 0, 2, 0, 1, 0]), np.full(6, 20.0)
    p, error = 4 / 120, 0.03
    ratio = stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 5)
    effective = p * (1 - p) / error**2 * ratio**2
    expected = (
        stats.beta.ppf(0.025, p * effective, effective - p * effective + 1),
        stats.beta.ppf(0.975, p * effective + 1, effective - p * effective),
    )
    assert korn_graubard(events, trials, error) == pytest.approx(expected, rel=1e-6)
    assert korn_graubard(events, trials, 1e-9) == clopper_pearson(4.0, 120.0)


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 4, 58, 59, 60, 93, 299, 5_000])
def test_quantile_bound_is_the_first_order_statistic_that_binomial_chances_allow(
    n: int, probability: float
) -> None:
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    enough = [r for r in range(1, n + 1) if stats.binom.cdf(r - 1, n, probability) >= 0.95]
    assert quantile_upper_bound(values, probability) == (enough[0] if enough else None)


def test_bound_of_p95_needs_59_values() -> None:
    assert quantile_upper_bound(np.zeros(58)) is None
    assert quantile_upper_bound(np.arange(59.0)) == 58.0


def test_quantile_bound_is_above_the_quantile_as_often_as_it_says() -> None:
    values = np.sort(np.random.default_rng(5).exponential(size=(4_000, 120)), axis=1)
    bounds = [quantile_upper_bound(row) for row in values]
    held = np.mean([bound is not None and bound >= -math.log(0.05) for bound in bounds])
    exact = stats.binom.cdf(np.searchsorted(values[0], bounds[0]), 120, 0.95)
    assert held == pytest.approx(exact, abs=4 * math.sqrt(0.05 * 0.95 / 4_000)) and exact >= 0.95


def test_quantile_interpolates_linearly() -> None:
    assert quantile(np.arange(101.0)) == 95.0
    assert quantile(np.array([1.0, 2.0]), 0.75) == 1.75
    assert quantile(np.empty(0)) is None


@pytest.mark.parametrize("function", [quantile, quantile_upper_bound])
def test_missing_values_are_not_sorted_to_the_end(function: type) -> None:
    with pytest.raises(ValueError, match="finite"):
        function(np.array([*range(80), math.nan]))
