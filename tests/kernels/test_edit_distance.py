"""Edit counts against all alignments, other tools and the laws of a distance."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import jiwer
import kaldialign
import meeteval
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from token_pairs import CORPORA, Pair, arrays, noisy_pairs, random_pairs

from misheard_kernels import batches, edit_counts, edit_distance_batch, loading
from misheard_kernels import edit_distance as dispatch
from misheard_kernels.batches import count_batch, distance_batch
from misheard_kernels.edit_distance_numpy import edit_counts_numpy, estimated_cells
from misheard_kernels.small_inputs import count_edits, edit_distance


def compiled(pairs: Sequence[Pair], threads: int = 1) -> np.ndarray:
    with patch.object(batches, "_lanes_pay", return_value=False):
        return count_batch(*arrays(pairs), threads=threads)


def in_lanes(pairs: Sequence[Pair], threads: int = 1) -> np.ndarray:
    with patch.object(batches, "_lanes_pay", return_value=True):
        return count_batch(*arrays(pairs), threads=threads)


def plain(pairs: Sequence[Pair]) -> np.ndarray:
    return edit_counts_numpy(*arrays(pairs))


def without_numpy(pairs: Sequence[Pair]) -> np.ndarray:
    return np.array([count_edits(*pair) for pair in pairs], dtype=np.int64).reshape(-1, 4)


PATHS = pytest.mark.parametrize(
    "count",
    [plain, compiled, in_lanes, without_numpy],
    ids=["numpy", "compiled", "in lanes", "without numpy"],
)


def all_alignments(ref: tuple[int, ...], hyp: tuple[int, ...]) -> Iterator[tuple[int, int, int, int]]:
    """Every alignment's (errors, substitutions, deletions, insertions)."""
    if not ref and not hyp:
        yield (0, 0, 0, 0)
    if ref:
        for e, s, d, i in all_alignments(ref[1:], hyp):
            yield (e + 1, s, d + 1, i)
    if hyp:
        for e, s, d, i in all_alignments(ref, hyp[1:]):
            yield (e + 1, s, d, i + 1)
    if ref and hyp:
        differ = int(ref[0] != hyp[0])
        for e, s, d, i in all_alignments(ref[1:], hyp[1:]):
            yield (e + differ, s + differ, d, i)


@PATHS
def test_counts_are_those_of_the_best_alignment_of_all(count):
    pairs = random_pairs(7, 10_000, 4, 3)
    for (ref, hyp), row in zip(pairs, count(pairs).tolist(), strict=True):
        errors, substitutions, deletions, insertions = min(all_alignments(tuple(ref), tuple(hyp)))
        assert row == [substitutions, deletions, insertions, len(ref) - substitutions - deletions]
        assert substitutions + deletions + insertions == errors


@PATHS
@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_counts_agree_with_other_tools(count, corpus):
    rows = count(corpus)
    errors = rows[:, :3].sum(axis=1)
    assert errors.tolist() == [Levenshtein.distance(ref, hyp) for ref, hyp in corpus]
    for (ref, hyp), row in zip(corpus, rows.tolist(), strict=True):
        # kaldialign finds a minimal alignment too, but not always the one with the fewest substitutions
        assert row[0] <= kaldialign.edit_distance(ref, hyp)["sub"]


@PATHS
def test_counts_of_ordinary_recognition_are_kaldialigns(count):
    corpus = noisy_pairs(6, 1000, 40, 20_000, loop=2)
    others = [kaldialign.edit_distance(ref, hyp) for ref, hyp in corpus]
    assert count(corpus)[:, :3].tolist() == [[other["sub"], other["del"], other["ins"]] for other in others]


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_distances_are_rapidfuzzs(corpus):
    expected = [Levenshtein.distance(*pair) for pair in corpus]
    assert edit_distance_batch(*arrays(corpus)).tolist() == expected
    assert distance_batch(*arrays(corpus)).tolist() == expected
    assert [edit_distance(*pair) for pair in corpus] == expected


def test_corpus_counts_of_ordinary_recognition_are_meeteval_s():
    corpus = noisy_pairs(6, 300, 40, 20_000, loop=2)
    sides = [{str(n): " ".join(map(str, pair[side])) for n, pair in enumerate(corpus)} for side in (0, 1)]
    other = meeteval.wer.combine_error_rates(
        *(meeteval.wer.siso_word_error_rate(sides[0][name], sides[1][name]) for name in sides[0])
    )
    expected = [other.substitutions, other.deletions, other.insertions]
    assert edit_counts(*arrays(corpus))[:, :3].sum(axis=0).tolist() == expected


@PATHS
def test_total_errors_agree_with_jiwer(count):
    corpus = [(ref, hyp) for ref, hyp in CORPORA["noisy words"] if ref]
    texts = [[" ".join(map(str, pair[side])) for pair in corpus] for side in (0, 1)]
    other = jiwer.process_words(*texts)
    assert count(corpus)[:, :3].sum() == other.substitutions + other.deletions + other.insertions


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
def test_both_paths_and_all_thread_counts_agree(corpus):
    expected = plain(corpus)
    for threads in (1, 2, 5):
        assert np.array_equal(compiled(corpus, threads), expected)
        assert np.array_equal(in_lanes(corpus, threads), expected)


@PATHS
@pytest.mark.parametrize(
    ("ref", "hyp", "expected"),
    [
        ([], [], [0, 0, 0, 0]),
        ([], [1, 2], [0, 0, 2, 0]),
        ([1, 2], [], [0, 2, 0, 0]),
        ([1], [2], [1, 0, 0, 0]),
        ([1, 2], [2, 3], [0, 1, 1, 1]),  # not two substitutions
        ([1, 2, 3], [9, 1, 2, 3], [0, 0, 1, 3]),
        ([1, 2, 3], [1], [0, 2, 0, 1]),
        ([5] * 40, [5] * 300, [0, 0, 260, 40]),
        (list(range(300)), list(range(300, 0, -1)), [299, 0, 0, 1]),
    ],
)
def test_known_counts(count, ref, hyp, expected):
    assert count([(ref, hyp)]).tolist() == [expected]


def test_no_pairs_give_no_rows():
    assert edit_counts(*arrays([])).shape == (0, 4)


tokens = st.lists(st.integers(0, 3), max_size=12)


@settings(deadline=None)
@given(ref=tokens, hyp=tokens, third=tokens)
def test_laws_of_counts_and_distance(ref, hyp, third):
    rows = edit_counts(*arrays([(ref, hyp), (hyp, ref), (hyp, third), (ref, third)])).tolist()
    substitutions, deletions, insertions, hits = rows[0]
    assert substitutions + deletions + hits == len(ref)
    assert substitutions + insertions + hits == len(hyp)
    assert rows[1] == [substitutions, insertions, deletions, hits]
    there, _, onward, direct = (sum(row[:3]) for row in rows)
    assert direct <= there + onward
    assert (there == 0) == (ref == hyp)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(tokens, tokens), max_size=6))
def test_a_pair_counts_the_same_alone_and_among_others(pairs):
    together = plain(pairs).tolist()
    assert together == [plain([pair]).tolist()[0] for pair in pairs]
    assert together == compiled(pairs, 2).tolist() == in_lanes(pairs, 2).tolist()


def test_offsets_may_leave_tokens_out():
    flat = np.array([9, 1, 2, 9], dtype=np.int32)
    offsets = np.array([1, 3], dtype=np.int64)
    assert edit_counts(flat, offsets, flat, offsets).tolist() == [[0, 0, 0, 2]]


def test_arrays_that_cannot_be_written_are_accepted_on_both_paths():
    sides = arrays(CORPORA["noisy words"])
    for side in sides:
        side.setflags(write=False)
    assert np.array_equal(edit_counts_numpy(*sides), count_batch(*sides, threads=1))


def _with(index: int, value: np.ndarray) -> list[np.ndarray]:
    changed = list(arrays([([1, 2], [1])]))
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (_with(0, np.array([1.0, 2.0])), TypeError, "ref_flat must be a one-dimensional int32"),
        (
            _with(3, np.array([0, 1], dtype=np.int32)),
            TypeError,
            "hyp_offsets must be a one-dimensional int64",
        ),
        (_with(1, np.array([0, 3])), ValueError, "ref_offsets must ascend"),
        (_with(1, np.array([-1, 2])), ValueError, "ref_offsets must ascend"),
        (_with(3, np.array([1, 0])), ValueError, "hyp_offsets must ascend"),
        (_with(3, np.array([], dtype=np.int64)), ValueError, "hyp_offsets must ascend"),
        (_with(3, np.array([0, 1, 1])), ValueError, "1 references but 2 hypotheses"),
    ],
)
def test_wrong_arrays_are_refused(inputs, error, message):
    with pytest.raises(error, match=message):
        edit_counts(*inputs)


def test_threads_must_be_at_least_one():
    with pytest.raises(ValueError, match="threads"):
        edit_counts(*arrays([([1], [1])]), threads=0)


def test_a_job_that_takes_long_without_them_loads_the_compiled_kernels():
    thin = estimated_cells(np.array([1]), np.array([100_000])) * dispatch._NUMPY_SECONDS
    demo = estimated_cells(np.full(60, 60), np.full(60, 60)) * dispatch._NUMPY_SECONDS
    assert thin > loading.LOADING_SECONDS > 10 * demo


def test_many_small_jobs_load_the_compiled_kernels_in_the_end(monkeypatch):
    monkeypatch.setattr(loading, "_COMPILED", ())
    monkeypatch.setattr(loading, "_spent", 0.0)
    assert [loading.compiled_pays(0.4 * loading.LOADING_SECONDS) for _ in range(4)] == [
        False,
        False,
        True,
        True,
    ]
    assert not loading.compiled_pays(0.1 * loading.LOADING_SECONDS)
    monkeypatch.setattr(loading, "_COMPILED", ("misheard_kernels.batches",))
    assert loading.compiled_pays(0.0)


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("compile_it", [True, False])
def test_the_choice_of_a_path_changes_nothing(monkeypatch, compile_it, corpus):
    monkeypatch.setattr(dispatch, "compiled_loaded", lambda: False)
    monkeypatch.setattr(dispatch, "compiled_pays", lambda seconds: compile_it)
    assert np.array_equal(edit_counts(*arrays(corpus)), plain(corpus))
    assert np.array_equal(edit_distance_batch(*arrays(corpus)), plain(corpus)[:, :3].sum(axis=1))
    for convention in ({"ties": "rapidfuzz"}, {"costs": "sclite"}):
        expected = [list(count_edits(*pair, **convention)) for pair in corpus[:60]]
        assert edit_counts(*arrays(corpus[:60]), **convention).tolist() == expected


def test_a_huge_vocabulary_of_equal_texts():
    flat = np.arange(1_200_000, dtype=np.int32)
    offsets = np.array([0, len(flat)])
    assert edit_counts(flat, offsets, flat, offsets).tolist() == [[0, 0, 0, len(flat)]]


LONG_PAIR = """
import resource, sys
import numpy as np
from misheard_kernels import batches, edit_counts, edit_distance_batch
rng = np.random.default_rng(0)
ref = rng.integers(0, 5000, 20_000).astype(np.int32)
hyp = np.where(rng.random(20_000) < 0.15, rng.integers(0, 5000, 20_000), ref).astype(np.int32)
one = np.array([0, 1])
edit_counts(np.zeros(1, np.int32), one, np.ones(1, np.int32), one)
import misheard_kernels.batches, misheard_kernels.long_pairs
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
offsets = np.array([0, 20_000])
counts = edit_counts(ref, offsets, hyp, offsets)[0]
assert 2_000 < counts[0] < 3_500 and counts[0] + counts[1] + counts[3] == 20_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_a_long_pair_needs_little_memory():
    done = subprocess.run([sys.executable, "-c", LONG_PAIR], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200 * 1024
