import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from misheard.stats.multiplicity import benjamini_hochberg, holm

p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=12)


def slow_holm(p: list[float]) -> list[float]:
    """Return, for each value, the smallest alpha at which the step-down procedure rejects it."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    return [
        min(1.0, max((len(p) - rank) * p[order[rank]] for rank in range(order.index(place) + 1)))
        for place in range(len(p))
    ]


@given(p_values)
def test_holm_follows_its_definition(p: list[float]) -> None:
    assert holm(p) == pytest.approx(slow_holm(p))


@given(p_values)
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    expected = stats.false_discovery_control(p) if p else []
    assert benjamini_hochberg(p) == pytest.approx(list(expected))


@given(p_values)
def test_order_does_not_matter_and_nothing_gets_smaller(p: list[float]) -> None:
    order = np.random.default_rng(len(p)).permutation(len(p))
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p)
        assert all(a >= q for a, q in zip(adjusted, p, strict=True))
        assert adjust([p[place] for place in order]) == pytest.approx([adjusted[place] for place in order])


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="p-values"):
            adjust([0.5, wrong])
