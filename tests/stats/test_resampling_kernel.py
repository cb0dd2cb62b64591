import bisect
import math
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from misheard_kernels import resampling_groups
from misheard_kernels.resampling import draw_indices, resample_sums, unit_sums_numpy
from misheard_kernels.resampling_groups import Groups, group_units, poisson_bounds
from misheard_kernels.resampling_packing import pack_columns, split_columns
from misheard_kernels.resampling_parallel import group_sums, unit_sums

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def key_by_definition(resample: int, seed: int) -> int:
    return mix((mix((seed + GOLDEN) % WORD) + (resample + 1) * GOLDEN) % WORD)


def word_by_definition(key: int, place: int) -> int:
    return mix((key + (place + 1) * GOLDEN) % WORD)


def indices_by_definition(units: int, key: int, place: int) -> Iterator[int]:
    for pair in count(place):
        word = word_by_definition(key, pair)
        yield word % 2**32 * units >> 32
        yield (word >> 32) * units >> 32


def index_by_definition(units: int, resample: int, draw: int, seed: int) -> int:
    return next(islice(indices_by_definition(units, key_by_definition(resample, seed), 0), draw, None))


def sums_numpy(totals: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    columns = split_columns(totals)
    return columns.join(*unit_sums_numpy(pack_columns(columns.values), columns.fractional, resamples, seed))


def sums_compiled(totals: np.ndarray, resamples: int, seed: int, threads: int | None = None) -> np.ndarray:
    columns = split_columns(totals)
    packed = pack_columns(columns.values)
    return columns.join(*unit_sums(packed, columns.fractional, resamples, seed, threads))


def sums_in_draw_order(totals: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    out = np.zeros((resamples, totals.shape[1]))
    drawn = draw_indices(len(totals), 0, resamples, seed)
    for resample in range(resamples):
        for draw in drawn[:, resample]:
            out[resample] += totals[draw]
    return out


MIXED = np.array(
    [[0.5, 3.0, -7.0, 2.0**29, 0.0], [0.25, 1.0, 12.0, -(2.0**29), 0.0], [0.1, 0.0, 5.0, 1.0, 0.0]]
)


@pytest.mark.parametrize(("units", "seed"), [(1, 0), (2, 1), (3, 5), (7, 2**64 - 1), (54, 20_240_607)])
def test_draws_follow_the_documented_generator(units: int, seed: int) -> None:
    expected = [[index_by_definition(units, r, d, seed) for r in range(3, 9)] for d in range(units)]
    np.testing.assert_array_equal(draw_indices(units, 3, 9, seed), expected)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 5), (54, 12), (301, 2), (5, 0), (2050, 9)])
@pytest.mark.parametrize("kind", ["fractional", "whole"])
def test_numpy_and_compiled_sums_are_those_in_draw_order(shape: tuple[int, int], kind: str) -> None:
    rng = np.random.default_rng(3)
    totals = rng.random(shape) * 10.0 ** np.arange(-3, shape[1] - 3)
    if kind == "whole":
        totals = rng.integers(-5, 10 ** np.arange(1, shape[1] + 1) % 10**8 + 1, shape).astype(float)
    expected = sums_in_draw_order(totals, 20, 11)
    np.testing.assert_array_equal(sums_numpy(totals, 20, 11), expected, strict=True)
    np.testing.assert_array_equal(sums_compiled(totals, 20, 11), expected, strict=True)


def test_whole_and_fractional_columns_see_the_same_draws() -> None:
    expected = sums_in_draw_order(MIXED, 200, 4)
    np.testing.assert_array_equal(sums_numpy(MIXED, 200, 4), expected)
    np.testing.assert_array_equal(sums_compiled(MIXED, 200, 4), expected)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-(2**29), 2**29), min_size=columns, max_size=columns),
            min_size=1,
            max_size=12,
        )
    )
)
def test_any_integers_add_up_exactly(rows: list[list[int]]) -> None:
    totals = np.array(rows, dtype=float)
    drawn = draw_indices(len(rows), 0, 5, 3)
    expected = [[sum(rows[unit][k] for unit in drawn[:, r]) for k in range(len(rows[0]))] for r in range(5)]
    np.testing.assert_array_equal(sums_compiled(totals, 5, 3), expected)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 2.0**30, 0.5])
def test_what_is_no_small_integer_is_added_as_it_is(bad: float) -> None:
    totals = np.array([[1.0, bad], [2.0, 3.0]])
    assert split_columns(totals).whole.tolist() == [True, False]
    np.testing.assert_array_equal(sums_compiled(totals, 50, 1), sums_in_draw_order(totals, 50, 1))


@pytest.mark.parametrize("threads", [2, 3, 7, 16])
def test_number_of_threads_changes_nothing(threads: int) -> None:
    rng = np.random.default_rng(5)
    for totals in (rng.random((120, 6)), rng.integers(0, 9, (120, 6)).astype(float)):
        one = sums_compiled(totals, 1000, 9, threads=1)
        np.testing.assert_array_equal(one, sums_compiled(totals, 1000, 9, threads=threads))


def test_a_longer_bootstrap_begins_with_the_shorter_one() -> None:
    totals = np.random.default_rng(6).random((2000, 1))
    np.testing.assert_array_equal(resample_sums(totals, 10_000, 1)[:50], sums_numpy(totals, 50, 1))


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


def test_samples_of_three_units_are_multinomial() -> None:
    sums = resample_sums(np.eye(3), 27_000, 12)
    outcomes, seen = np.unique(sums, axis=0, return_counts=True)
    expected = 27_000 * stats.multinomial(3, [1 / 3] * 3).pmf(outcomes)
    assert len(outcomes) == 10
    assert stats.chisquare(seen, expected).pvalue > 0.001


def test_the_largest_number_of_units_reaches_the_first_and_the_last() -> None:
    units = 2**24
    assert (2**32 - 1) * units >> 32 == units - 1
    totals = np.arange(units, dtype=float)[:, np.newaxis]
    [total] = sums_compiled(totals, 1, 2)[0]
    assert total == float(draw_indices(units, 0, 1, 2).sum())


def test_another_seed_gives_other_samples() -> None:
    totals = np.random.default_rng(8).random((12, 1))
    assert not np.array_equal(resample_sums(totals, 100, 1), resample_sums(totals, 100, 2))


def test_a_small_input_never_imports_numba() -> None:
    code = (
        "import sys, numpy\n"
        "from misheard_kernels.resampling import resample_sums\n"
        "resample_sums(numpy.arange(54.0 * 60).reshape(54, 60), 10_000, 1)\n"
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


# Many units of which many are alike

ALIKE = [9000, 4000, 2000, 1000, 500, 40, 9, 7, 3, 1]
"""How many of 16,560 units have each row; the last three rows are too rare for a count of their own."""


def one_hot(alike: list[int] = ALIKE) -> np.ndarray:
    return np.repeat(np.eye(len(alike), dtype=np.int64), alike, axis=0)


def grouped(values: np.ndarray) -> Groups:
    groups = group_units(values)
    assert groups is not None
    return groups


def group_sums_by_definition(
    groups: Groups, means: list[int], gap_bits: int, resample: int, seed: int
) -> list[int]:
    units = groups.units.words.shape[1]
    rows = groups.units.take_apart(groups.units.words).T.tolist()
    key = key_by_definition(resample, seed)
    while True:
        counts = [0] * (groups.rows.shape[1] + 1)
        for part, (group, mean) in enumerate(zip(groups.part_group, means, strict=True)):
            first, bounds = poisson_bounds(mean * (2**gap_bits - 1), gap_bits)
            counts[group] += first + bisect.bisect_left(bounds.tolist(), word_by_definition(key, part))
        if sum(counts) <= units:
            break
        key = mix(key)
    parts, others = len(means), counts[-1]
    draws = [*islice(indices_by_definition(groups.others, key, parts), others)]
    draws += islice(indices_by_definition(units, key, parts + (others + 1) // 2), units - sum(counts))
    sums = [sum(rows[draw][column] for draw in draws) for column in range(len(groups.rows))]
    for group, drawn in enumerate(counts[:-1]):
        sums = [total + drawn * int(value) for total, value in zip(sums, groups.rows[:, group], strict=True)]
    return sums


@pytest.mark.parametrize("gap_bits", [None, 12], ids=["as it is", "often drawn twice"])
def test_groups_follow_the_documented_generator(
    gap_bits: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).integers(0, 50, (len(ALIKE), 3)).repeat(ALIKE, axis=0)
    if gap_bits is not None:
        monkeypatch.setattr(resampling_groups, "_gap_bits", lambda units: gap_bits)
    groups = grouped(values)
    gap = resampling_groups._gap_bits(len(values))
    means = sorted(mean for count in [*ALIKE[:7], 11] for mean in resampling_groups._parts(count))
    assert sum(means) == len(values)
    expected = [group_sums_by_definition(groups, means, gap, resample, 77) for resample in range(8)]
    np.testing.assert_array_equal(group_sums(groups, 8, 77, 1), expected)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_number_of_threads_changes_no_group(threads: int) -> None:
    groups = grouped(one_hot())
    np.testing.assert_array_equal(group_sums(groups, 500, 3, 1), group_sums(groups, 500, 3, threads))


def test_groups_are_the_same_in_any_order_of_the_units() -> None:
    values = one_hot()
    other = np.random.default_rng(2).permutation(values)
    np.testing.assert_array_equal(group_sums(grouped(values), 50, 3), group_sums(grouped(other), 50, 3))


def test_many_alike_units_take_groups_and_few_do_not() -> None:
    rng = np.random.default_rng(3)
    alike = rng.integers(0, 4, (20_000, 3))
    minimum = [-3.0, 0.0, 100.0]
    expected = group_sums(grouped(alike), 40, 6) + 20_000 * np.array(minimum)
    np.testing.assert_array_equal(resample_sums(alike + minimum, 40, 6, group_alike=True), expected)
    assert group_units(rng.integers(0, 4, (10_000, 3))) is None
    assert group_units(rng.integers(0, 2**20, (20_000, 3))) is None
    assert group_units(rng.integers(0, 2, (20_000, 65))) is None
    halves = alike + 0.5
    by_draws = sums_in_draw_order(halves, 3, 6)
    np.testing.assert_array_equal(resample_sums(halves, 3, 6, group_alike=True), by_draws)


def test_draws_depend_on_the_rows_only_where_that_is_asked_for() -> None:
    alike = np.random.default_rng(3).integers(0, 4, (20_000, 3)).astype(float)
    by_draws = sums_in_draw_order(alike, 3, 6)
    np.testing.assert_array_equal(resample_sums(alike, 3, 6), by_draws)
    assert not np.array_equal(resample_sums(alike, 3, 6, group_alike=True), by_draws)


@pytest.fixture(scope="module")
def drawn() -> np.ndarray:
    return group_sums(grouped(one_hot()), 20_000, 20_240_607)


def test_every_sample_has_as_many_draws_as_units(drawn: np.ndarray) -> None:
    assert (drawn.sum(axis=1) == sum(ALIKE)).all()


def test_counts_have_the_mean_and_covariance_of_a_multinomial(drawn: np.ndarray) -> None:
    alike, units = np.array(ALIKE), sum(ALIKE)
    covariance = np.diag(alike) - np.outer(alike, alike) / units
    variance = np.diag(covariance)
    assert (np.abs(drawn.mean(axis=0) - alike) < 4.0 * np.sqrt(variance / len(drawn))).all()
    # of a sample covariance under a normal distribution; rare rows have heavier tails, 3 + 1 / variance
    error = np.sqrt(
        (np.outer(variance, variance) * (1 + np.eye(len(alike)) / variance) + covariance**2) / len(drawn)
    )
    assert (np.abs(np.cov(drawn.T) - covariance) < 4.0 * error).all()


@pytest.mark.parametrize("row", range(len(ALIKE)))
def test_each_count_is_binomial(row: int, drawn: np.ndarray) -> None:
    units = sum(ALIKE)
    binomial = stats.binom(units, ALIKE[row] / units)
    edges = np.unique(binomial.ppf(np.linspace(0.02, 0.98, 33)))
    expected = np.diff([0.0, *binomial.cdf(edges), 1.0]) * len(drawn)
    seen = np.bincount(np.searchsorted(edges, drawn[:, row]), minlength=len(expected))
    assert stats.chisquare(seen, expected).pvalue > 0.001


def test_counts_of_two_resamples_are_independent(drawn: np.ndarray) -> None:
    first, second = drawn[:-1, 0], drawn[1:, 0]
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.0 / math.sqrt(len(first))


def test_all_units_alike_give_one_sum() -> None:
    values = np.full((2**14, 2), [3, 7])
    np.testing.assert_array_equal(
        resample_sums(values.astype(float), 30, 1), 2**14 * np.tile([3, 7], (30, 1))
    )


@pytest.mark.parametrize(("mean", "gap_bits"), [(1, 1), (3, 5), (32, 4), (896, 6), (1024, 7), (5, 12)])
def test_poisson_tables_are_exact(mean: int, gap_bits: int) -> None:
    numerator = mean * (2**gap_bits - 1)
    first, bounds = poisson_bounds(numerator, gap_bits)
    rate = Fraction(numerator, 2**gap_bits)
    # the series of e**rate, to far more digits than the tables have
    terms = [2**400]
    while terms[-1]:
        terms.append(terms[-1] * rate.numerator // (rate.denominator * len(terms)))
    total, below = sum(terms), sum(terms[:first])
    assert bounds[-1] == WORD - 1
    for k, bound in enumerate(bounds.tolist(), first):
        below += terms[k]
        assert abs(bound + 1 - Fraction(below * WORD, total)) <= 1
