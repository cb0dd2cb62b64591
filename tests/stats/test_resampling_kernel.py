import subprocess
import sys

import numpy as np
import pytest

from misheard_kernels.resampling import draw_indices, resample_sums, resample_sums_numpy
from misheard_kernels.resampling_parallel import resample_sums_parallel

WORD = 2**64


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def index_by_definition(units: int, resample: int, draw: int, seed: int) -> int:
    golden = 0x9E3779B97F4A7C15
    key = mix((mix((seed + golden) % WORD) + (resample + 1) * golden) % WORD)
    word = mix((key + (draw // 2 + 1) * golden) % WORD)
    half = word % 2**32 if draw % 2 == 0 else word >> 32
    return half * units >> 32


@pytest.mark.parametrize(("units", "seed"), [(1, 0), (2, 1), (7, 2**64 - 1), (54, 20_240_607)])
def test_draws_follow_the_documented_generator(units: int, seed: int) -> None:
    expected = [[index_by_definition(units, r, d, seed) for r in range(3, 9)] for d in range(units)]
    np.testing.assert_array_equal(draw_indices(units, 3, 9, seed), expected)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 5), (54, 12), (301, 2), (5, 0)])
def test_numpy_and_compiled_sums_are_equal_to_the_bit(shape: tuple[int, int]) -> None:
    totals = np.random.default_rng(3).random(shape) * 10.0 ** np.arange(-3, shape[1] - 3)
    np.testing.assert_array_equal(
        resample_sums_numpy(totals, 500, 11), resample_sums_parallel(totals, 500, 11), strict=True
    )


def test_sums_add_the_drawn_rows_in_draw_order() -> None:
    totals = np.random.default_rng(4).random((9, 2))
    sums = resample_sums(totals, 40, 5)
    for resample in range(40):
        by_hand = np.zeros(2)
        for draw in range(9):
            by_hand += totals[index_by_definition(9, resample, draw, 5)]
        np.testing.assert_array_equal(sums[resample], by_hand)


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_number_of_threads_changes_nothing(threads: int) -> None:
    totals = np.random.default_rng(5).random((120, 6))
    one = resample_sums_parallel(totals, 1000, 9, threads=1)
    np.testing.assert_array_equal(one, resample_sums_parallel(totals, 1000, 9, threads=threads))


def test_large_inputs_take_the_compiled_loop_and_agree() -> None:
    totals = np.random.default_rng(6).random((2000, 1))
    np.testing.assert_array_equal(resample_sums(totals, 10_000, 1)[:50], resample_sums_numpy(totals, 50, 1))


def test_columns_summed_together_or_apart_see_the_same_draws() -> None:
    totals = np.random.default_rng(7).random((20, 4))
    together = resample_sums(totals, 200, 8)
    for column in range(4):
        np.testing.assert_array_equal(resample_sums(totals[:, [column]], 200, 8)[:, 0], together[:, column])


def test_draws_are_uniform_and_independent_of_their_place() -> None:
    draws = draw_indices(10, 0, 20_000, 42)
    counts = np.bincount(draws.ravel(), minlength=10)
    # 9 degrees of freedom: 27.9 is exceeded once in a thousand seeds, and the seed is fixed
    assert ((counts - 20_000) ** 2 / 20_000).sum() < 27.9
    neighbours = np.bincount((draws[0] * 10 + draws[1]).ravel(), minlength=100)
    assert ((neighbours - 200) ** 2 / 200).sum() < 149


def test_another_seed_gives_other_samples() -> None:
    totals = np.random.default_rng(8).random((12, 1))
    assert not np.array_equal(resample_sums(totals, 100, 1), resample_sums(totals, 100, 2))


def test_a_small_input_never_imports_numba() -> None:
    code = (
        "import sys, numpy\n"
        "from misheard_kernels.resampling import resample_sums\n"
        "resample_sums(numpy.ones((54, 60)), 10_000, 1)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("totals", "resamples", "seed"),
    [(np.ones((0, 2)), 10, 1), (np.ones(3), 10, 1), (np.ones((3, 1)), 0, 1), (np.ones((3, 1)), 10, -1)],
)
def test_bad_arguments_are_refused(totals: np.ndarray, resamples: int, seed: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        resample_sums(totals, resamples, seed)
