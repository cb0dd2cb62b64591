"""Planning with a pilot: closed forms, other libraries, and suites that are drawn anew."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from misheard.metrics.base import FloatArray, divide
from misheard.stats.power import (
    MAX_UNITS,
    Spread,
    items_of,
    measure_spread,
    smallest_effect,
    units_needed,
)
from misheard.stats.resampling import draw_sample, estimate_intervals
from misheard.stats.student import t_quantile


def ratio(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 0], sums[..., 1])


def spread_of(sessions: FloatArray, per_session: int = 5) -> Spread:
    """Return the spread of a mean over sessions whose items all have their session's value."""
    values = np.repeat(sessions, per_session)
    counts = np.stack([values, np.ones(values.size)], axis=1)
    units = np.repeat(np.arange(sessions.size), per_session).astype(np.intp)
    return measure_spread(counts, np.ones(values.size, dtype=bool), units, ratio)


def pilot(error: float = 0.05, units: int = 12, n: int = 60) -> Spread:
    return Spread(n, units, 0.4, error, None)


def test_standard_error_of_equal_sessions_is_that_of_their_mean() -> None:
    sessions = np.random.default_rng(3).normal(0.3, 0.1, 12)
    found = spread_of(sessions)
    assert (found.n, found.units, found.reason) == (60, 12, None)
    assert found.value == pytest.approx(sessions.mean())
    assert found.standard_error == pytest.approx(sessions.std(ddof=1) / math.sqrt(12))


@pytest.mark.parametrize("units", [6, 12, 40, 320])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_smallest_effect_is_two_quantiles_of_t_in_standard_errors(units: int, power: float) -> None:
    found = smallest_effect(pilot(), units, power)
    error = 0.05 * math.sqrt(12 / units)
    expected = (stats.t.ppf(0.975, units - 1) + stats.t.ppf(power, units - 1)) * error
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("effect", [0.02, 0.05, 0.1])
def test_units_needed_are_those_of_the_noncentral_t_distribution(effect: float) -> None:
    """The exact power of the t test; two central quantiles come within a unit or two of it."""
    deviation = 0.05 * math.sqrt(12)

    def missing(units: float) -> float:
        critical = stats.t.ppf(0.975, units - 1)
        return float(stats.nct.sf(critical, units - 1, effect * math.sqrt(units) / deviation) - 0.8)

    exact = math.ceil(optimize.brentq(missing, 3, 10_000))
    found = units_needed(pilot(n=6_000), effect, 0.8)
    assert found is not None and abs(found - exact) <= 2


@given(st.floats(0.001, 1.0), st.floats(0.001, 0.5), st.integers(6, 60), st.sampled_from([0.5, 0.8, 0.9]))
@settings(max_examples=60, deadline=None)
def test_units_needed_are_the_fewest(effect: float, error: float, units: int, power: float) -> None:
    spread = pilot(error, units, 5 * units)
    found = units_needed(spread, effect, power)
    if found is None:
        at_most = smallest_effect(spread, MAX_UNITS, power)
        assert at_most is not None and at_most > effect
        return
    reached = smallest_effect(spread, found, power)
    assert reached is not None and reached <= effect
    if found > 10:  # 10 sessions of 5 are the fewest that hold 50 items
        before = smallest_effect(spread, found - 1, power)
        assert before is not None and before > effect


def test_a_suite_needs_the_units_and_items_of_a_verdict_however_large_the_effect() -> None:
    assert units_needed(pilot(units=12, n=60), 1.0, 0.8) == 10
    assert units_needed(pilot(units=12, n=1_200), 1.0, 0.8) == 6
    assert smallest_effect(pilot(), 5, 0.8) is None


@pytest.mark.parametrize(
    ("n", "units", "wanted", "items"), [(60, 12, 10, 50), (61, 12, 10, 51), (7, 7, 9, 9)]
)
def test_items_are_those_of_sessions_of_the_pilots_mean_size(
    n: int, units: int, wanted: int, items: int
) -> None:
    assert items_of(pilot(units=units, n=n), wanted) == items


def test_size_that_was_computed_shows_the_effect_in_eight_of_ten_suites() -> None:
    """Sessions drawn anew from the pilot's distribution, with the effect, judged by the t interval."""
    random = np.random.default_rng(11)
    effect, deviation, trials = 0.1, 0.2, 4_000
    known = Spread(60, 12, 0.0, deviation / math.sqrt(12), None)
    units = units_needed(known, effect, 0.8)
    assert units is not None
    sessions = random.normal(effect, deviation, (trials, units))
    half = t_quantile(0.975, units - 1) * sessions.std(axis=1, ddof=1) / math.sqrt(units)
    shown = float(np.mean(sessions.mean(axis=1) > half))
    # three standard errors of a share over the trials
    assert shown == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / trials) + 0.005)


@pytest.mark.parametrize(("effect", "units"), [(0.2, 10), (0.1, 34), (0.08, 52)])
def test_the_deciding_interval_shows_it_about_as_often(effect: float, units: int) -> None:
    """The verdicts' own interval, with few sessions the span of bootstrap and jackknife."""
    random = np.random.default_rng(7)
    trials = 400
    assert units_needed(Spread(60, 12, 0.0, 0.2 / math.sqrt(12), None), effect, 0.8) == units
    shown = 0
    for _ in range(trials):
        sessions = random.normal(effect, 0.2, units)
        totals = np.stack([5 * sessions, np.full(units, 5.0)], axis=1)
        interval = estimate_intervals(draw_sample(totals, 1_000), ratio).deciding
        shown += interval is not None and interval.low > 0
    # three standard errors, and what the span and the jackknife's own noise take or give
    assert shown / trials == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / trials) + 0.03)


@pytest.mark.parametrize(
    ("sessions", "reason"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5], "under_6_units"),
        ([0.3] * 8, "no_spread"),
        ([1 / 3] * 7, "no_spread"),
        ([0.1, 0.2] * 4, None),
        ([0.5], "under_6_units"),
        ([], "no_items"),
    ],
)
def test_pilot_that_tells_nothing_says_why(sessions: list[float], reason: str | None) -> None:
    spread = spread_of(np.array(sessions, dtype=float))
    assert spread.reason == reason
    assert (smallest_effect(spread, 20, 0.8) is None) == (reason is not None)
    assert (units_needed(spread, 0.1, 0.8) is None) == (reason is not None)


def test_rate_that_is_undefined_or_hangs_on_one_session_is_no_pilot() -> None:
    rows, units = np.ones(8, dtype=bool), np.arange(8).astype(np.intp)
    nothing = np.zeros((8, 2))
    assert measure_spread(nothing, rows, units, ratio).reason == "undefined"
    one = nothing.copy()
    one[3] = [1, 2]
    assert measure_spread(one, rows, units, ratio).reason == "undefined_without_one_unit"


def test_effect_that_no_suite_can_show_needs_no_number() -> None:
    assert units_needed(pilot(error=0.5), 1e-6, 0.8) is None


@pytest.mark.parametrize("effect", [0.0, -0.1, math.nan])
def test_effects_are_positive(effect: float) -> None:
    with pytest.raises(ValueError, match="effect must be positive"):
        units_needed(pilot(), effect, 0.8)
