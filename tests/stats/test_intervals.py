import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from misheard.metrics.base import FloatArray, divide
from misheard.stats.exact import clopper_pearson
from misheard.stats.resampling import (
    MAX_RESAMPLED,
    Interval,
    draw_sample,
    draw_samples,
    estimate_intervals,
    jackknife_error,
    jackknife_interval,
    percentile_errors,
    percentile_interval,
    unit_totals,
)


def ratio(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 0], sums[..., 1])


def ratio_difference(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 1] - sums[..., 0], sums[..., 2])


def made_up_totals(units: int) -> FloatArray:
    random = np.random.default_rng(units)
    reference = random.integers(20, 80, units)
    errors = random.binomial(reference, 0.2)
    worse = errors + random.integers(0, 5, units)
    return np.stack([errors, worse, reference], axis=1).astype(float)


@pytest.mark.parametrize("units", [12, 60, 300])
def test_bootstrap_agrees_with_scipys_paired_percentile_bootstrap(units: int) -> None:
    totals = made_up_totals(units)
    ours = estimate_intervals(draw_sample(totals), ratio_difference).bootstrap
    assert ours is not None
    theirs = stats.bootstrap(
        tuple(totals.T),
        lambda a, b, n, axis=-1: (b.sum(axis) - a.sum(axis)) / n.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        method="percentile",
        rng=1,
    )
    # a percentile of 10,000 resamples has a standard error of about 2.7 % of the standard deviation
    tolerance = 5 * 0.03 * theirs.standard_error
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


@pytest.mark.parametrize("units", [2, 6, 39, 200])
def test_jackknife_of_a_mean_is_the_t_interval(units: int) -> None:
    values = np.random.default_rng(units).normal(size=units)
    sample = draw_sample(np.stack([values, np.ones(units)], axis=1), resamples=10)
    interval = jackknife_interval(float(values.mean()), ratio(sample.left_out))
    assert interval is not None
    expected = stats.t.interval(0.95, units - 1, loc=values.mean(), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_jackknife_of_a_ratio_leaves_each_unit_out() -> None:
    totals = made_up_totals(9)
    left_out = np.array([ratio_difference(np.delete(totals, unit, axis=0).sum(axis=0)) for unit in range(9)])
    np.testing.assert_allclose(ratio_difference(draw_sample(totals, 10).left_out), left_out, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 30)), min_size=2, max_size=30),
    units=st.integers(2, 30),
)
def test_identical_systems_give_exactly_zero(rows: list[tuple[float, int]], units: int) -> None:
    one = np.array(rows, dtype=float)
    doubled = np.concatenate([one, one], axis=1)
    numbers = np.arange(len(rows)) % min(units, len(rows))
    sample = draw_sample(unit_totals(doubled, numbers, int(numbers.max()) + 1), resamples=200)
    intervals = estimate_intervals(sample, lambda s: ratio(s[..., 2:]) - ratio(s[..., :2]))
    if sample.units > 1:
        assert intervals.bootstrap == Interval(0.0, 0.0) == intervals.jackknife


def test_one_unit_has_no_interval() -> None:
    intervals = estimate_intervals(draw_sample(np.array([[3.0, 10.0]])), ratio)
    assert intervals.bootstrap is None and intervals.jackknife is None
    assert intervals.reasons == {"bootstrap": "one_unit", "jackknife": "one_unit"}


def test_undefined_resamples_are_left_out_and_counted() -> None:
    totals = np.array([[1.0, 4.0], [2.0, 5.0], [0.0, 3.0], [1.0, 6.0], [9.0, 0.0]])
    sample = draw_sample(totals)
    intervals = estimate_intervals(sample, ratio)
    undefined = int((sample.resampled[:, 1] == 0).sum())
    assert intervals.undefined_resamples == undefined > 0
    defined = ratio(sample.resampled[sample.resampled[:, 1] > 0])
    assert intervals.bootstrap == Interval(*np.percentile(defined, [2.5, 97.5]))


def test_mostly_undefined_resamples_give_no_interval() -> None:
    intervals = estimate_intervals(draw_sample(np.array([[1.0, 4.0], [0.0, 0.0], [0.0, 0.0]])), ratio)
    assert intervals.bootstrap is None and intervals.jackknife is None
    assert intervals.reasons == {
        "bootstrap": "undefined_resamples",
        "jackknife": "undefined_without_one_unit",
    }
    assert intervals.undefined_resamples == pytest.approx(10_000 * (2 / 3) ** 3, rel=0.1)


def test_undefined_point_has_no_interval() -> None:
    intervals = estimate_intervals(draw_sample(np.zeros((4, 2))), ratio)
    assert set(intervals.reasons.values()) == {"undefined"}


def test_percentiles_interpolate_linearly() -> None:
    interval, undefined = percentile_interval(np.array([*range(101), math.nan], dtype=float))
    assert interval == Interval(2.5, 97.5)
    assert undefined == 1


def test_blocks_over_the_same_units_share_every_draw() -> None:
    random = np.random.default_rng(1)
    values = random.random((40, 2))
    units = np.arange(40) // 4
    everything = np.ones(40, dtype=bool)
    odd = np.arange(40) % 2 == 1
    some_units = units < 7
    first, second, third = draw_samples(
        [(values, everything), (values[:, :1], odd), (values, some_units)], units, 300, 5
    )
    assert (first.units, second.units, third.units) == (10, 10, 7)
    alone = draw_sample(unit_totals(values[odd][:, :1], units[odd], 10), 300, 5)
    np.testing.assert_array_equal(second.resampled, alone.resampled)
    np.testing.assert_array_equal(
        first.resampled, draw_sample(unit_totals(values, units, 10), 300, 5).resampled
    )


def test_order_of_a_blocks_rows_does_not_renumber_its_units() -> None:
    # the first row that counts lies in the last unit
    values = np.array([[0.0], [1.0], [2.0], [3.0]])
    units = np.array([0, 2, 1, 0])
    (sample,) = draw_samples([(values, np.array([False, True, True, True]))], units, 10, 1)
    np.testing.assert_array_equal(sample.totals, [[3.0], [2.0], [1.0]])


def test_standard_error_of_a_mean_is_the_closed_form() -> None:
    values = np.random.default_rng(2).normal(size=30)
    sample = draw_sample(np.stack([values, np.ones(30)], axis=1), resamples=200)
    assert estimate_intervals(sample, ratio).standard_error == pytest.approx(stats.sem(values))


def test_monte_carlo_error_is_the_spread_of_the_ends_over_seeds() -> None:
    totals = made_up_totals(25)
    found = [estimate_intervals(draw_sample(totals, 1_000, seed), ratio_difference) for seed in range(150)]
    ends = np.array([(one.bootstrap.low, one.bootstrap.high) for one in found if one.bootstrap is not None])
    errors = np.array([one.monte_carlo_error for one in found])
    np.testing.assert_allclose(errors.mean(axis=0), ends.std(axis=0), rtol=0.25)


def test_monte_carlo_error_of_known_ranks() -> None:
    values = np.arange(10_001.0)
    half = math.sqrt(10_001 * 0.025 * 0.975)
    assert percentile_errors(values) == pytest.approx((half, half), rel=1e-3)
    assert percentile_errors(np.zeros(500)) == (0.0, 0.0)
    assert percentile_errors(np.array([*values, math.nan])) == pytest.approx((half, half), rel=1e-3)


def test_largest_share_counts_the_items_of_a_unit() -> None:
    values, units = np.ones((10, 2)), np.array([0] * 7 + [1, 2, 3])
    counted = np.array([True] * 6 + [False] + [True] * 3)
    (sample,) = draw_samples([(values, counted)], units, 100)
    assert estimate_intervals(sample, ratio).largest_unit_share == 6 / 9


@pytest.mark.parametrize(
    ("differences", "keeps"),
    [
        ([3, 1, 1, 1], True),
        ([3, -1, -1, 0], False),
        ([3, -2, 0, 0], False),
        ([0, 0, 0], True),
        ([1, -1, 0], False),
    ],
)
def test_a_sign_that_hangs_on_one_unit_is_seen(differences: list[float], keeps: bool) -> None:
    totals = np.stack([differences, np.ones(len(differences))], axis=1)
    assert estimate_intervals(draw_sample(totals, 100), ratio).keeps_sign is keeps


def test_very_many_units_are_resampled_in_groups_that_say_the_same() -> None:
    random = np.random.default_rng(6)
    units = np.arange(3 * MAX_RESAMPLED + 5)
    values = np.stack([random.random(units.size) < 0.2, np.ones(units.size)], axis=1)
    everything = np.ones(units.size, dtype=bool)
    (grouped,) = draw_samples([(values, everything)], units, 500)
    assert (grouped.units, len(grouped.totals)) == (units.size, MAX_RESAMPLED)
    np.testing.assert_array_equal(grouped.sums, values.sum(axis=0))
    found = estimate_intervals(grouped, ratio)
    apart = jackknife_error(ratio(values.sum(axis=0) - values))
    assert found.standard_error == pytest.approx(apart, rel=4 / math.sqrt(2 * MAX_RESAMPLED))
    assert found.units == units.size and found.largest_unit_share == 1 / units.size
    (alike,) = draw_samples([(values, everything)], units, 100, group_alike=True)
    assert len(alike.totals) == units.size


@pytest.mark.parametrize("share", [1 / 5, 1 / 3, 0.1, 1 / 7, 0.7])
@pytest.mark.parametrize("units", [6, 11, 12, 23, 90])
def test_equal_units_have_no_spread_however_their_sums_round(share: float, units: int) -> None:
    totals = np.stack([np.full(units, share * 7), np.full(units, 7.0)], axis=1)
    found = estimate_intervals(draw_sample(totals, 1000, seed=1), ratio)
    assert found.standard_error == 0.0
    for interval in (found.bootstrap, found.jackknife):
        assert interval is not None
        assert interval.low == interval.high


@pytest.mark.parametrize("units", [6, 12, 30])
def test_equal_proportions_have_the_exact_interval_of_the_units(units: int) -> None:
    # their standard error is 0, and not what the mean of equal values rounds to
    totals = np.stack([np.full(units, 2.0), np.full(units, 10.0)], axis=1)
    found = estimate_intervals(draw_sample(totals, 1000, seed=1), ratio, (0, 1))
    assert found.exact is not None
    assert (found.exact.low, found.exact.high) == pytest.approx(clopper_pearson(0.2 * units, units), rel=1e-9)
