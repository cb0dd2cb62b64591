"""Pairs counted side by side against the other paths, rapidfuzz, and the limits of a 64-bit word."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from token_pairs import CORPORA, Pair, arrays, noisy_pairs, random_pairs

from misheard_kernels import batches, bit_parallel
from misheard_kernels.edit_distance_numpy import edit_counts_numpy
from misheard_kernels.lanes import LANES, MOST_COLUMNS, MOST_ERRORS, count_range

OPEN = bit_parallel.OPEN


def counted(pairs: Sequence[Pair], substitutions: bool = True, start: int = 0, stop: int | None = None):
    """Return errors and substitutions, and which pairs were left."""
    sides = arrays(pairs)
    packed = np.full(len(pairs), OPEN, np.int64)
    most = max((token for pair in pairs for side in pair for token in side), default=0)
    masks = np.zeros((most + 1, 2), np.uint64)
    stop = len(pairs) if stop is None else stop
    count_range(*sides, start, stop, substitutions, masks, packed)
    assert not masks.any()
    return packed >> 32, packed & 0xFFFFFFFF, packed == OPEN


def without_common_ends(ref: Sequence[int], hyp: Sequence[int]) -> Pair:
    ref, hyp = list(ref), list(hyp)
    while ref and hyp and ref[0] == hyp[0]:
        del ref[0], hyp[0]
    while ref and hyp and ref[-1] == hyp[-1]:
        del ref[-1], hyp[-1]
    return ref, hyp


def is_left(ref: Sequence[int], hyp: Sequence[int]) -> bool:
    ref, hyp = without_common_ends(ref, hyp)
    within = Levenshtein.distance(ref, hyp) <= MOST_ERRORS and len(hyp) <= MOST_COLUMNS
    return bool(ref) and bool(hyp) and not within


def check(pairs: Sequence[Pair]) -> int:
    """Compare with numpy's counts and rapidfuzz's distances; return how many pairs were left."""
    errors, substitutions, left = counted(pairs)
    rows = edit_counts_numpy(*arrays(pairs))
    assert left.tolist() == [is_left(*pair) for pair in pairs]
    assert errors[~left].tolist() == rows[~left, :3].sum(axis=1).tolist()
    assert substitutions[~left].tolist() == rows[~left, 0].tolist()
    distances, nothing, _ = counted(pairs, substitutions=False)
    there = np.flatnonzero(~left).tolist()
    assert distances[there].tolist() == [Levenshtein.distance(*pairs[n]) for n in there]
    assert not nothing[there].any()
    return int(left.sum())


def changed(seed: int, length: int, replaced: int, dropped: int, added: int, symbols: int) -> Pair:
    """A random reference, and a copy of it with so many changes at random places."""
    rng = np.random.default_rng(seed)
    ref = rng.integers(0, symbols, length).tolist()
    hyp = list(ref)
    for place in rng.choice(length, replaced, replace=False).tolist():
        hyp[place] = int(rng.integers(0, symbols))
    for place in sorted(rng.choice(length, dropped, replace=False).tolist(), reverse=True):
        del hyp[place]
    for _ in range(added):
        hyp.insert(int(rng.integers(0, len(hyp) + 1)), int(rng.integers(0, symbols)))
    return ref, hyp


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_corpora_of_all_kinds(corpus):
    check(corpus)


KINDS = [(62, 0, 0), (0, 61, 0), (0, 0, 61), (0, 30, 30), (20, 20, 20), (2, 58, 1)]


@pytest.mark.parametrize("symbols", [2, 4, 26, 1000])
def test_about_as_many_errors_as_a_word_can_tell(symbols):
    pairs = [
        changed(seed, int(length), replaced, dropped, added, symbols)
        for seed, length in enumerate(np.random.default_rng(symbols).integers(62, 400, 120))
        for replaced, dropped, added in KINDS
    ]
    left = check(pairs)
    assert 0 < left < len(pairs)


@pytest.mark.parametrize("errors", range(MOST_ERRORS - 2, MOST_ERRORS + 3))
def test_the_limit_is_where_it_is_said_to_be(errors):
    one, other = list(range(200)), list(range(200))
    other[5 : 5 + errors] = range(1000, 1000 + errors)
    ends = [0, *range(500, 700), 1]
    pairs = [
        (one, other),
        (ends, [2, *ends[1 + errors - 2 : -1], 3]),
        ([2, *ends[1 + errors - 2 : -1], 3], ends),
        ([7] * 100 + [8], [9] + [7] * (101 - errors) + [10]),
    ]
    assert [Levenshtein.distance(*pair) for pair in pairs] == [errors] * 4
    assert check(pairs) == (4 if errors > MOST_ERRORS else 0)


@pytest.mark.parametrize(
    "length", [1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 1023, 1024, 1025]
)
def test_lengths_about_the_borders_of_words(length):
    rng = np.random.default_rng(length)
    pairs = []
    for other in range(max(0, length - 3), length + 4):
        ref, hyp = rng.integers(0, 3, length).tolist(), rng.integers(0, 3, other).tolist()
        near = list(ref[:other]) + hyp[: other - length]
        pairs += [
            (ref, hyp),
            (hyp, ref),
            ([5, *near, 6], [7, *ref, 8]),
            ([4], hyp),
            (ref, [4]),
            (ref, [4, *near, 9]),
        ]
    check(pairs)


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES + 3])
def test_any_number_of_pairs_of_unequal_lengths(count):
    check([*noisy_pairs(count, count, 150, 5, 3)])


def test_pairs_outside_the_range_are_left_as_they_are():
    pairs = random_pairs(3, 40, 30, 3)
    whole = counted(pairs)[0]
    errors, _, left = counted(pairs, start=7, stop=31)
    assert left[:7].all()
    assert left[31:].all()
    assert errors[7:31].tolist() == whole[7:31].tolist()


def test_astral_code_points_are_tokens_like_others():
    check([([0x10FFFF, 5, 0x1F600], [5, 0x1F600, 7]), ([0x10FFFF], [0x10FFFE]), ([0], [0x10FFFF])])


def test_repetitions_have_many_alignments():
    check([([1, 2] * n, [2, 1, 1] * k) for n in range(0, 40, 3) for k in range(0, 40, 3)])


letters = st.lists(st.integers(0, 2), max_size=90)


@settings(deadline=None)
@given(pairs=st.lists(st.tuples(letters, letters), max_size=20))
def test_any_pairs(pairs):
    check(pairs)


@pytest.mark.parametrize("pay", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_batches_count_the_same_with_and_without(monkeypatch, pay, threads):
    monkeypatch.setattr(batches, "_lanes_pay", lambda *offsets: pay)
    monkeypatch.setattr(batches, "_LANES_PAIRS", 70)
    pairs = [*noisy_pairs(1, 300, 400, 30, 5), *random_pairs(2, 200, 150, 4)]
    rows = edit_counts_numpy(*arrays(pairs))
    assert np.array_equal(batches.count_batch(*arrays(pairs), threads=threads), rows)
    distances = batches.distance_batch(*arrays(pairs), threads=threads)
    assert distances.tolist() == rows[:, :3].sum(axis=1).tolist()


def test_work_that_adds_up_loads_the_lanes_but_long_pairs_do_not(monkeypatch):
    monkeypatch.delitem(batches.sys.modules, "misheard_kernels.lanes")
    monkeypatch.setattr(batches, "_cells_so_far", 0)
    one_each = np.arange(batches._LANES_CELLS // 1_000_000 * 2 // 3 + 1)
    half, longest = one_each * 1_000, np.array([0, 1 << 30])
    assert not batches._lanes_pay(longest, longest)
    assert [batches._lanes_pay(half, half), batches._lanes_pay(half, half)] == [False, True]
