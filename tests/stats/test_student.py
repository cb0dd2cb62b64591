import pytest
from scipy import special, stats

from misheard.stats.student import regularized_incomplete_beta, t_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 10, 39, 53, 128, 999, 10_000, 1_000_000])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.995, 0.9999])
def test_quantile_is_scipys(probability: float, degrees: int) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=5e-9, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2.5, 0.5), (0.5, 30.0), (40.0, 40.0)])
@pytest.mark.parametrize("x", [0.0, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9, 1.0])
def test_incomplete_beta_is_scipys(a: float, b: float, x: float) -> None:
    assert regularized_incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-11)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 5), (1.0, 5), (0.975, 0)])
def test_bad_arguments_are_refused(probability: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        t_quantile(probability, degrees)
