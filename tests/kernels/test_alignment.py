"""Alignments against plain tables of costs, other tools, and the counts."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from token_pairs import CORPORA, Pair, arrays, noisy_pairs, random_pairs

from misheard_kernels import align, align_pairs, batches, edit_counts, long_pairs
from misheard_kernels.alignment import DELETION, INSERTION, MATCH, SUBSTITUTION
from misheard_kernels.conventions import check_convention
from misheard_kernels.small_inputs import count_edits, edit_operations

CONVENTIONS = {
    "canonical": {},
    "rapidfuzz": {"ties": "rapidfuzz"},
    "jiwer": {"ties": "jiwer"},
    "sclite": {"costs": "sclite"},
}
SCLITE = shutil.which("sclite") or "/usr/lib/sctk/bin/sclite"


def without_numba(pairs: Sequence[Pair], **convention: str) -> list[list[int]]:
    return [list(edit_operations(*pair, **convention)) for pair in pairs]


def compiled(pairs: Sequence[Pair], threads: int = 1, **convention: str) -> list[list[int]]:
    name = check_convention(convention.get("costs", "unit"), convention.get("ties", "canonical"))
    _, operations, lengths = batches.align_batch(*arrays(pairs), name, threads)
    return [part.tolist() for part in np.split(operations, np.cumsum(lengths)[:-1])]


def long(pairs: Sequence[Pair]) -> list[list[int]]:
    """As if each pair were long: many tiles."""
    return [
        long_pairs.long_path(*(np.array(side, dtype=np.int32) for side in pair)).tolist() for pair in pairs
    ]


PATHS = pytest.mark.parametrize("find", [without_numba, compiled], ids=["without numba", "compiled"])


def canonical_path(ref: Sequence[int], hyp: Sequence[int]) -> list[int]:
    """The definition: (errors, substitutions) to the end of every cell, then a walk from the start."""
    rows, columns = len(ref), len(hyp)

    def ways(i: int, j: int) -> list[tuple[tuple[int, int], int]]:
        found = []
        if i < rows and j < columns:
            differ = int(ref[i] != hyp[j])
            errors, substitutions = best[i + 1, j + 1]
            found.append(((errors + differ, substitutions + differ), SUBSTITUTION if differ else MATCH))
        if i < rows:
            found.append(((best[i + 1, j][0] + 1, best[i + 1, j][1]), DELETION))
        if j < columns:
            found.append(((best[i, j + 1][0] + 1, best[i, j + 1][1]), INSERTION))
        return found

    best = {(rows, columns): (0, 0)}
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            if (i, j) != (rows, columns):
                best[i, j] = min(cost for cost, _ in ways(i, j))
    path, i, j = [], 0, 0
    while (i, j) != (rows, columns):
        operation = next(operation for cost, operation in ways(i, j) if cost == best[i, j])
        path.append(operation)
        i += operation != INSERTION
        j += operation != DELETION
    return path


def rapidfuzz_path(ref: Sequence[int], hyp: Sequence[int]) -> list[int]:
    codes = {"equal": MATCH, "replace": SUBSTITUTION, "delete": DELETION, "insert": INSERTION}
    return [
        codes[code.tag]
        for code in Levenshtein.opcodes(ref, hyp)
        for _ in range(max(code.src_end - code.src_start, code.dest_end - code.dest_start))
    ]


@PATHS
def test_the_path_is_the_one_that_is_documented(find):
    pairs = [pair for symbols in (1, 2, 3, 8, 50) for pair in random_pairs(symbols, 2000, 11, symbols)]
    assert find(pairs) == [canonical_path(*pair) for pair in pairs]


@PATHS
def test_ties_are_broken_as_rapidfuzz_breaks_them(find):
    pairs = [pair for symbols in (1, 2, 3, 8, 50) for pair in random_pairs(symbols, 2000, 14, symbols)]
    pairs += CORPORA["noisy characters"]
    assert find(pairs, ties="rapidfuzz") == [rapidfuzz_path(*pair) for pair in pairs]


@pytest.mark.parametrize("symbols", [2, 30, 3000])
def test_ties_of_pairs_that_rapidfuzz_divides(symbols):
    rng = np.random.default_rng(symbols)
    ref = rng.integers(0, symbols, 4000).astype(np.int32)
    hyp = np.delete(np.where(rng.random(4000) < 0.3, rng.integers(0, symbols, 4000), ref), slice(0, 4000, 13))
    pairs = [(ref.tolist(), hyp.tolist()), (rng.integers(0, symbols, 2300).tolist(), hyp.tolist())]
    assert compiled(pairs, ties="rapidfuzz") == [rapidfuzz_path(*pair) for pair in pairs]


def test_splits_are_jiwers():
    corpus = [pair for pair in noisy_pairs(8, 1000, 30, 60) if pair[0]]
    texts = [[" ".join(map(str, pair[side])) for pair in corpus] for side in (0, 1)]
    other = jiwer.process_words(*texts)
    counts = edit_counts(*arrays(corpus), ties="jiwer").sum(axis=0).tolist()
    assert counts == [other.substitutions, other.deletions, other.insertions, other.hits]
    assert counts != edit_counts(*arrays(corpus)).sum(axis=0).tolist()


@pytest.mark.skipif(not Path(SCLITE).exists(), reason="needs sclite (Debian package sctk)")
@PATHS
def test_sclite_costs_give_sclites_paths(find, tmp_path):
    pairs = [p for p in random_pairs(9, 300, 14, 3) + noisy_pairs(10, 400, 30, 500) if p[0]]
    for side, name in enumerate(("ref", "hyp")):
        lines = [" ".join(f"w{t}" for t in pair[side]) + f" (s-{n:05d})" for n, pair in enumerate(pairs)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [SCLITE, "-r", tmp_path / "ref", "trn", "-h", tmp_path / "hyp", "trn", "-i", "rm", "-o", "sgml",
        "stdout"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.findall(r'<PATH id="\(s-(\d+)\)"[^>]*>\n(.*?)</PATH>', done.stdout, re.DOTALL)
    theirs = {int(name): ["CSDI".index(step[0]) for step in path.strip().split(":")] for name, path in found}
    assert [theirs[n] for n in range(len(pairs))] == find(pairs, costs="sclite")


@PATHS
@pytest.mark.parametrize("name", CONVENTIONS)
def test_counts_and_alignment_agree(find, name):
    for corpus in CORPORA.values():
        paths = find(corpus, **CONVENTIONS[name])
        operations = (SUBSTITUTION, DELETION, INSERTION, MATCH)
        expected = [[path.count(operation) for operation in operations] for path in paths]
        assert edit_counts(*arrays(corpus), **CONVENTIONS[name]).tolist() == expected
        assert [list(count_edits(*pair, **CONVENTIONS[name])) for pair in corpus[:50]] == expected[:50]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_all_thread_counts_and_both_paths_agree(name):
    for corpus in CORPORA.values():
        expected = without_numba(corpus, **CONVENTIONS[name])
        for threads in (1, 2, 5):
            assert compiled(corpus, threads, **CONVENTIONS[name]) == expected


def test_long_pairs_are_aligned_in_tiles_as_short_ones_are_in_one(monkeypatch):
    monkeypatch.setattr(long_pairs, "TILE_CELLS", 1)
    pairs = noisy_pairs(11, 60, 400, 4) + noisy_pairs(12, 60, 400, 400) + random_pairs(13, 30, 300, 2)
    pairs = [([-1, *ref, -2], [-3, *hyp, -4]) for ref, hyp in pairs]  # neither start nor end in common
    expected = without_numba(pairs)
    assert long(pairs) == expected
    for (ref, hyp), path in zip(pairs, expected, strict=True):
        sides = np.array(ref, dtype=np.int32), np.array(hyp, dtype=np.int32)
        errors = len(path) - path.count(MATCH)
        assert long_pairs.long_counts(*sides) == (errors, path.count(SUBSTITUTION))
        assert long_pairs.long_distance(*sides) == errors


def test_tokens_of_any_size_are_aligned():
    pairs = [([-1, 2**31 - 1, -(2**31), 5], [2**31 - 1, -(2**31), -5]), ([-7], [-7])]
    assert compiled(pairs) == [[DELETION, MATCH, MATCH, SUBSTITUTION], [MATCH]]


def test_a_repeated_word_is_inserted_after_the_one_that_was_said():
    assert list(edit_operations(["a", "b", "c"], ["a", "b", "b", "b", "c"])) == [
        MATCH, MATCH, INSERTION, INSERTION, MATCH,
    ]  # fmt: skip


def test_an_alignment_says_where_its_tokens_are():
    found = align(np.array([1, 2, 3, 4], np.int32), np.array([9, 1, 3, 5], np.int32))
    assert found.operations.tolist() == [INSERTION, MATCH, DELETION, MATCH, SUBSTITUTION]
    assert found.reference_index.tolist() == [-1, 0, 1, 2, 3]
    assert found.hypothesis_index.tolist() == [0, 1, -1, 2, 3]
    assert found.counts() == (1, 1, 1, 2)
    assert (found.operations.dtype, found.reference_index.dtype) == (np.int8, np.int32)


def test_pairs_can_be_empty():
    found = align_pairs(*arrays([([], []), ([], [1]), ([1, 2], [])]))
    assert len(found) == 3
    assert found.offsets.tolist() == [0, 0, 1, 3]
    assert found.pair(2).operations.tolist() == [DELETION, DELETION]
    assert len(align_pairs(*arrays([]))) == 0
    with pytest.raises(IndexError):
        found.pair(3)


tokens = st.lists(st.integers(0, 3), max_size=12)


@settings(deadline=None)
@given(ref=tokens, hyp=tokens, name=st.sampled_from(list(CONVENTIONS)))
def test_an_alignment_keeps_every_token_in_order(ref, hyp, name):
    found = align(np.array(ref, np.int32), np.array(hyp, np.int32), **CONVENTIONS[name])
    assert [i for i in found.reference_index.tolist() if i >= 0] == list(range(len(ref)))
    assert [j for j in found.hypothesis_index.tolist() if j >= 0] == list(range(len(hyp)))
    for operation, i, j in zip(
        found.operations.tolist(),
        found.reference_index.tolist(),
        found.hypothesis_index.tolist(),
        strict=True,
    ):
        assert (operation == INSERTION) == (i < 0)
        assert (operation == DELETION) == (j < 0)
        if i >= 0 and j >= 0:
            assert (operation == MATCH) == (ref[i] == hyp[j])


@pytest.mark.parametrize(
    ("convention", "message"),
    [
        ({"costs": "free"}, "costs must be one of unit, sclite"),
        ({"ties": "random"}, "ties must be one of canonical, jiwer, rapidfuzz"),
        ({"costs": "sclite", "ties": "jiwer"}, "breaks ties as sclite does"),
    ],
)
def test_unknown_conventions_are_refused(convention, message):
    for call in (partial(edit_counts, *arrays([])), partial(align_pairs, *arrays([]))):
        with pytest.raises(ValueError, match=message):
            call(**convention)
    with pytest.raises(ValueError, match=message):
        count_edits([1], [2], **convention)


SMALL = """
import sys
from misheard_kernels.small_inputs import count_edits
assert count_edits("a b c".split(), "a c d".split()) == (0, 1, 1, 2)
assert "numpy" not in sys.modules
import numpy as np
import misheard_kernels
flat, offsets = np.arange(100, dtype=np.int32), np.array([0, 60, 100])
for convention in ({}, {"ties": "jiwer"}, {"costs": "sclite"}):
    misheard_kernels.align_pairs(flat, offsets, flat[::-1].copy(), offsets, **convention)
    misheard_kernels.edit_counts(flat, offsets, flat[::-1].copy(), offsets, **convention)
assert "numba" not in sys.modules
"""


def test_small_inputs_need_neither_numba_nor_numpy():
    subprocess.run([sys.executable, "-c", SMALL], check=True)


LONG = """
import resource, sys
import numpy as np
from misheard_kernels import align_pairs
rng = np.random.default_rng(0)
symbols, errors = int(sys.argv[1]), float(sys.argv[2])
ref = rng.integers(0, symbols, 20_000).astype(np.int32)
hyp = np.where(rng.random(20_000) < errors, rng.integers(0, symbols, 20_000), ref).astype(np.int32)
import misheard_kernels.batches, misheard_kernels.long_pairs, misheard_kernels.weighted
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
offsets = np.array([0, 20_000])
path = align_pairs(ref, offsets, hyp, offsets, costs=sys.argv[3], ties=sys.argv[4]).pair(0)
assert np.array_equal(path.operations == 0, (path.reference_index >= 0) & (path.hypothesis_index >= 0)
    & (ref[path.reference_index] == hyp[path.hypothesis_index]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
@pytest.mark.parametrize(
    ("symbols", "errors", "costs", "ties"),
    [
        (5000, 0.15, "unit", "canonical"),
        (5000, 0.15, "unit", "rapidfuzz"),
        (5000, 0.15, "sclite", "canonical"),
        (2, 1.0, "unit", "canonical"),
        (20_000, 1.0, "unit", "canonical"),
    ],
)
def test_20_000_by_20_000_tokens_are_aligned_in_less_than_100_megabytes(symbols, errors, costs, ties):
    done = subprocess.run(
        [sys.executable, "-c", LONG, str(symbols), str(errors), costs, ties],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 100 * 1024
