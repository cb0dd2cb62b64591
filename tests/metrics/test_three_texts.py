"""Reference, raw and corrected in one alignment: with a table, without one, and its memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misheard.metrics.correction import CorrectionCounts, correction_counts
from misheard.metrics.dynamic_rows import token_ids
from misheard.metrics.three_texts import GAP, MOST_CELLS, edit_columns, with_reference

tokens = st.lists(st.sampled_from("abc"), max_size=9)


def columns_of(reference, raw, corrected, **limit):
    said, *texts = token_ids(tuple(reference), tuple(raw), tuple(corrected))
    before, after = edit_columns(*texts)
    columns = with_reference(said, before, after, **limit)
    return [tuple(map(int, column)) for column in zip(*columns, strict=True)], (said, before, after)


def slow_columns(reference, raw, corrected):
    """Every cell with its cost as a tuple, and the way back by the rule of the docstring."""

    def error(said, heard):
        return (int(said != heard), int(said != heard and GAP not in (said, heard)))

    def plus(cost, said, column):
        return tuple(
            a + b for a, b in zip(cost, error(said, column[0]) + error(said, column[1]), strict=True)
        )

    diff = list(zip(raw.tolist(), corrected.tolist(), strict=True))
    cost = {(0, 0): (0, 0, 0, 0)}
    step = {}
    for i in range(len(reference) + 1):
        for j in range(len(diff) + 1):
            ways = []
            if i and j:
                ways.append((plus(cost[i - 1, j - 1], reference[i - 1], diff[j - 1]), (1, 1)))
            if j:
                ways.append((plus(cost[i, j - 1], GAP, diff[j - 1]), (0, 1)))
            if i:
                ways.append((plus(cost[i - 1, j], reference[i - 1], (GAP, GAP)), (1, 0)))
            if ways:
                cost[i, j], step[i, j] = min(ways, key=lambda way: way[0])
    i, j, found = len(reference), len(diff), []
    while i or j:
        back = step[i, j]
        i, j = i - back[0], j - back[1]
        found.append((int(reference[i]) if back[0] else GAP, *(diff[j] if back[1] else (GAP, GAP))))
    return found[::-1]


@settings(deadline=None)
@given(tokens, tokens, tokens)
def test_the_table_has_the_columns_of_the_definition(reference, raw, corrected):
    found, texts = columns_of(reference, raw, corrected)
    assert found == slow_columns(*texts)


@settings(deadline=None)
@given(tokens, tokens, tokens)
def test_without_a_table_errors_and_edits_are_as_many_and_no_token_is_lost(reference, raw, corrected):
    best, texts = columns_of(reference, raw, corrected)
    found, _ = columns_of(reference, raw, corrected, most_cells=-1)
    for count in (lambda said, heard, _: said != heard, lambda _, heard, mended: heard != mended):
        assert sum(count(*column) for column in found) == sum(count(*column) for column in best)
    for side, text in enumerate(texts):
        assert sorted(c[side] for c in found if c[side] != GAP) == sorted(text[text != GAP].tolist())


@pytest.mark.parametrize(
    ("reference", "raw", "corrected", "columns"),
    [
        ("a b c", "a x c", "a b c", ["aaa", "bxb", "ccc"]),
        ("a b c", "a c", "a b c", ["aaa", "b-b", "ccc"]),
        ("a b c d", "a d", "a x c y d", ["aaa", "b-x", "c-c", "--y", "ddd"]),
        ("a", "a uh", "a", ["aaa", "-u-"]),
        ("", "u", "v", ["-uv"]),
        ("a b", "", "b", ["a--", "b-b"]),
    ],
)
def test_columns_without_a_table(reference, raw, corrected, columns):
    texts = [[word[0] for word in text.split()] for text in (reference, raw, corrected)]
    found, _ = columns_of(*texts, most_cells=-1)
    ids: dict[str, int] = {"-": GAP}
    for text in texts:
        for word in text:
            ids.setdefault(word, len(ids) - 1)
    assert sorted(found) == sorted(tuple(ids[char] for char in column) for column in columns)


def test_a_table_takes_two_bits_a_cell():
    rng = np.random.default_rng(3)
    said, heard = rng.integers(0, 50, 400), rng.integers(0, 50, 20_000)
    tracemalloc.start()
    with_reference(said, heard, heard[::-1].copy())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # 2 MB of table, and rows; 64 MB with eight bytes a cell


def test_texts_of_more_than_32767_tokens_count():
    reference = ["a", "b", "c", "d"]
    loop = ["c", "d"] * 20_000
    found = correction_counts(reference, ["a", "x", *loop], ["a", "b", *loop])
    assert found == CorrectionCounts(3, 39_999, 1, 1, 0, 0)


def test_texts_too_long_for_a_table_count():
    reference = ["a"] * 23_171
    raw, corrected = [*reference[1:], "x"], [*reference[1:], "y"]
    assert len(reference) * len(raw) > MOST_CELLS
    assert correction_counts(reference, raw, corrected) == CorrectionCounts(23_170, 1, 1, 0, 0, 0)
