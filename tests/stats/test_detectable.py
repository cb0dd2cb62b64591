import numpy as np
import pytest
from scipy import stats

from misheard.stats.detectable import smallest_detectable


@pytest.mark.parametrize(
    ("units", "power", "confidence"), [(2, 0.8, 0.95), (12, 0.8, 0.95), (200, 0.9, 0.99)]
)
def test_smallest_effect_follows_the_t_distribution(units: int, power: float, confidence: float) -> None:
    expected = (stats.t.ppf(0.5 + confidence / 2, units - 1) + stats.t.ppf(power, units - 1)) * 0.02
    assert smallest_detectable(0.02, units, power, confidence) == pytest.approx(expected, rel=1e-8)


def test_an_effect_of_that_size_is_found_about_as_often_as_promised() -> None:
    random, units = np.random.default_rng(3), 12
    samples = random.normal(size=(20_000, units))
    errors = samples.std(axis=1, ddof=1) / np.sqrt(units)
    effect = smallest_detectable(1 / np.sqrt(units), units)
    assert effect is not None
    found = samples.mean(axis=1) + effect > stats.t.ppf(0.975, units - 1) * errors
    assert found.mean() == pytest.approx(0.8, abs=0.03)


def test_nothing_is_said_where_no_spread_was_seen() -> None:
    assert smallest_detectable(0.0, 30) is None
    assert smallest_detectable(0.1, 1) is None


@pytest.mark.parametrize(("error", "power"), [(-0.1, 0.8), (float("nan"), 0.8), (0.1, 1.0), (0.1, 0.4)])
def test_bad_arguments_are_refused(error: float, power: float) -> None:
    with pytest.raises(ValueError, match="must"):
        smallest_detectable(error, 10, power)
