import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from misheard.metrics.base import FloatArray, divide
from misheard.stats.sign_flip import MAX_BLOCKS, MAX_EXACT_UNITS, sign_flip, swap_units


def ratio(sums: FloatArray) -> FloatArray:
    return divide(sums[..., 0], sums[..., 1])


def made_up(units: int, effect: float = 0.0, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 30, units)
    a, b = random.binomial(sizes, 0.3), random.binomial(sizes, 0.3 + effect)
    return np.stack([a, sizes], axis=1).astype(float), np.stack([b, sizes], axis=1).astype(float)


def by_enumeration(a: FloatArray, b: FloatArray) -> float:
    observed = abs(ratio(b.sum(0)) - ratio(a.sum(0)))
    extreme = []
    for swaps in itertools.product([False, True], repeat=len(a)):
        swap = np.array(swaps)[:, None]
        sums_a, sums_b = np.where(swap, b, a).sum(0), np.where(swap, a, b).sum(0)
        extreme.append(abs(ratio(sums_b) - ratio(sums_a)) >= observed - 1e-12)
    return float(np.mean(extreme))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("units", [1, 2, 5, 9])
def test_exact_test_is_the_enumeration_of_all_swaps(units: int, seed: int) -> None:
    a, b = made_up(units, 0.1, seed)
    b[:, 1] += np.random.default_rng(seed).integers(0, 3, units)
    found = sign_flip(a, b, ratio, seed=1)
    assert found is not None and found.exact
    assert found.p == pytest.approx(by_enumeration(a, b))


def test_exact_test_is_scipys() -> None:
    a, b = made_up(12, 0.1)
    theirs = stats.permutation_test(
        (a[:, 0], b[:, 0]),
        lambda x, y, axis: y.sum(axis) - x.sum(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = sign_flip(a, b, ratio, seed=1)
    assert found is not None and found.p == pytest.approx(theirs.pvalue)


def test_a_loss_in_every_unit_has_the_smallest_p_there_is() -> None:
    a = np.ones((8, 2))
    found = sign_flip(a, a + np.array([1.0, 0.0]), ratio, seed=1)
    assert found is not None and (found.p, found.exact) == (2 / 2**8, True)


@pytest.mark.parametrize("units", [1, 10, 60, 3_000])
def test_identical_systems_have_p_one(units: int) -> None:
    a, _ = made_up(units)
    found = sign_flip(a, a.copy(), ratio, seed=1)
    assert found is not None and (found.p, found.exact, found.assignments) == (1.0, True, 1)


def test_units_without_a_difference_are_no_assignments() -> None:
    a, b = made_up(40)
    b[:-MAX_EXACT_UNITS] = a[:-MAX_EXACT_UNITS]
    found = sign_flip(a, b, ratio, seed=1)
    assert found is not None and found.exact
    assert found == sign_flip(a, b, ratio, seed=2)


@pytest.mark.parametrize("units", [30, 400, 5_000])
def test_sampled_test_agrees_with_the_normal_approximation(units: int) -> None:
    a, b = made_up(units, 0.5 / math.sqrt(units), seed=3)
    difference = b[:, 0] - a[:, 0]
    found = sign_flip(a, b, ratio, seed=7)
    assert found is not None and not found.exact and found.assignments == 10_001
    z = abs(difference.sum()) / math.sqrt((difference**2).sum())
    assert found.p == pytest.approx(2 * stats.norm.sf(z), abs=0.03)


def test_sampled_p_is_never_zero() -> None:
    a = np.ones((100, 2))
    found = sign_flip(a, a + np.array([1.0, 0.0]), ratio, seed=1, samples=500)
    assert found is not None and found.p == 1 / 501


def test_p_is_uniform_where_the_systems_do_not_differ() -> None:
    ps = [
        found.p
        for seed in range(400)
        if (found := sign_flip(*made_up(20, seed=seed), ratio, seed=seed, samples=400))
    ]
    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=0.04)
    assert np.mean(np.array(ps) <= 0.5) == pytest.approx(0.5, abs=0.1)


def test_draws_are_fair_and_independent() -> None:
    a = np.eye(40)
    swaps = swap_units(a, np.zeros((40, 40)), seed=5)
    signs = (swaps.a > 0.5).astype(float)[1:]
    assert np.abs(signs.mean(axis=0) - 0.5).max() < 4 * 0.5 / 100
    assert np.abs(np.corrcoef(signs.T) - np.eye(40)).max() < 5 / 100


def test_many_units_are_swapped_in_blocks() -> None:
    a = np.ones((MAX_BLOCKS * 2, 1))
    a[MAX_BLOCKS:] = -1.0
    # the two units of a block cancel, so that only being swapped together leaves every sum at zero
    swaps = swap_units(a, np.zeros_like(a), seed=1, samples=50)
    assert swaps.a.shape == (51, 1) and not swaps.a.any()


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=10),
    st.randoms(use_true_random=False),
)
def test_order_of_units_and_systems_does_not_change_an_exact_p(
    rows: list[tuple[float, float, int]], random: object
) -> None:
    def p(rows: list[tuple[float, float, int]], mirrored: bool = False) -> tuple[float, int] | None:
        a = np.array([(x, n) for x, _, n in rows], dtype=float)
        b = np.array([(y, n) for _, y, n in rows], dtype=float)
        found = sign_flip(b, a, ratio, seed=1) if mirrored else sign_flip(a, b, ratio, seed=1)
        return None if found is None else (found.p, found.undefined)

    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert p(rows) == p(shuffled) == p(rows, mirrored=True)


def test_fractions_give_the_same_sums_in_any_order() -> None:
    random = np.random.default_rng(9)
    a, b = random.random((900, 3)), random.random((900, 3))
    whole = swap_units(a, b, seed=4, samples=300)
    parts = [swap_units(a[:, [k]], b[:, [k]], seed=4, samples=300) for k in range(3)]
    np.testing.assert_array_equal(whole.b, np.concatenate([part.b for part in parts], axis=1))
    np.testing.assert_allclose(whole.b[0], b.sum(axis=0), rtol=1e-13)


def test_undefined_assignments_count_against_a_difference() -> None:
    a, b = np.array([[0.0, 5.0], [0.0, 0.0]]), np.array([[5.0, 5.0], [0.0, 5.0]])
    # swapping the second unit alone leaves both sides a denominator; undefined: none
    found = sign_flip(a, b, ratio, seed=1)
    assert found is not None and found.undefined == 0
    a, b = np.array([[1.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [3.0, 4.0]])
    found = sign_flip(a, b, ratio, seed=1)
    assert found is not None and (found.undefined, found.p) == (1, 1.0)
    assert sign_flip(np.zeros((2, 2)), np.ones((2, 2)), ratio, seed=1) is None


def test_number_of_threads_changes_nothing() -> None:
    code = (
        "import hashlib, numpy as np\n"
        "from misheard.stats.sign_flip import swap_units\n"
        "a, b = np.random.default_rng(3).random((2, 900, 5))\n"
        "print(hashlib.sha256(swap_units(a, b, seed=1).b.tobytes()).hexdigest())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
