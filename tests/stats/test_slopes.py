"""The slope of a line, held to scipy."""

import numpy as np
import pytest
from scipy import stats

from misheard.stats.slopes import least_squares_slope


@pytest.mark.parametrize("n", [3, 4, 30, 500])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_slope_and_interval_are_those_of_linregress(n: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    x = np.sort(rng.uniform(0, 3600, n))
    y = 5e8 + 3.0 * x + rng.normal(0, 1000, n)
    slope = least_squares_slope(x, y, confidence)
    theirs = stats.linregress(x, y)
    reach = stats.t.ppf(0.5 + confidence / 2, n - 2) * theirs.stderr
    assert slope is not None
    assert slope.value == pytest.approx(theirs.slope, rel=1e-7)
    assert slope.interval.low == pytest.approx(theirs.slope - reach, rel=1e-6)
    assert slope.interval.high == pytest.approx(theirs.slope + reach, rel=1e-6)


def test_a_line_without_noise_has_an_interval_of_one_value() -> None:
    slope = least_squares_slope(np.arange(5.0), 2.0 * np.arange(5.0) + 1.0)
    assert slope is not None
    assert (slope.value, slope.interval.low, slope.interval.high) == (2.0, 2.0, 2.0)
    assert slope.over(10.0).value == 20.0


@pytest.mark.parametrize("x", [[], [1.0], [1.0, 2.0], [4.0, 4.0, 4.0]])
def test_too_few_points_have_no_slope(x: list[float]) -> None:
    assert least_squares_slope(np.array(x), np.array(x)) is None


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        least_squares_slope(np.array([1.0, 2.0, 3.0]), np.array([1.0, np.nan, 3.0]))
