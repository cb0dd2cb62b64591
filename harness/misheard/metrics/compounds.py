"""Family `compounds`: words written together or apart, such as `near by` for `nearby`.

The word error rate charges them in full; nothing is forgiven there. Here a second alignment may also pair two
or more words with one that spells the same, hyphens aside, at no cost: a *merge* where the reference has the
several words, a *split* where the hypothesis has them. Of its alignments with the fewest errors that with the
fewest merges and splits counts, then that with the fewest splits. What it saves are the errors that compounds
account for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide
from misheard.metrics.dynamic_rows import IntRow, after_insertions, prefix_costs, token_ids
from misheard.metrics.transcripts import AlignedPair, Transcripts
from misheard_kernels.alignment import MATCH

_ERROR, _COMPOUND, _SPLIT = 1 << 42, 1 << 21, 1
_MAX_TOKENS = (1 << 21) - 1
_HYPHENS = str.maketrans("", "", "-\u00ad\u2010\u2011")
_STRICT, _JOINED, _MERGES, _SPLITS, _UNITS = range(5)


@dataclass(frozen=True, slots=True)
class CompoundCounts:
    """Errors of one pair with merges and splits free, and how many of each there are."""

    errors: int
    merges: int
    splits: int


def compound_counts(reference: Sequence[str], hypothesis: Sequence[str]) -> CompoundCounts:
    """Return the fewest errors where words written together or apart cost nothing.

    Raises ValueError for a text of more than 2,097,151 words.
    """
    if max(len(reference), len(hypothesis)) > _MAX_TOKENS:
        raise ValueError(f"more than {_MAX_TOKENS} words; give one utterance at a time")
    merges, splits = _joins(reference, hypothesis), _joins(hypothesis, reference)
    said, heard = token_ids(tuple(reference), tuple(hypothesis))
    best = int(_table(said, heard, merges, splits)[-1, -1])
    compounds, split_count = best % _ERROR // _COMPOUND, best % _COMPOUND
    return CompoundCounts(best // _ERROR, compounds - split_count, split_count)


def _joins(parts: Sequence[str], wholes: Sequence[str]) -> dict[int, list[tuple[int, int]]]:
    """Return, per end of a run of two or more parts, its length and the place of a word that spells it."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(wholes):
        places.setdefault(word.translate(_HYPHENS), []).append(place)
    longest = max(map(len, places), default=0)
    bare = [part.translate(_HYPHENS) for part in parts]
    found: dict[int, list[tuple[int, int]]] = {}
    for start in range(len(bare)):
        joined = bare[start]
        for end in range(start + 2, len(bare) + 1):
            joined += bare[end - 1]
            if len(joined) > longest or not bare[end - 1] or not bare[start]:
                break
            found.setdefault(end, []).extend((end - start, place) for place in places.get(joined, ()))
    return {end: joins for end, joins in found.items() if joins}


def _table(
    reference: IntRow,
    hypothesis: IntRow,
    merges: dict[int, list[tuple[int, int]]],
    splits: dict[int, list[tuple[int, int]]],
) -> IntRow:
    split_ends: dict[int, list[tuple[int, int]]] = {}
    for end, joins in splits.items():
        for length, place in joins:
            split_ends.setdefault(place, []).append((end, length))
    prefix = prefix_costs(np.full(len(hypothesis), _ERROR, dtype=np.int64))
    table = np.empty((len(reference) + 1, len(hypothesis) + 1), dtype=np.int64)
    table[0] = prefix
    for row, token in enumerate(reference, start=1):
        above = table[row - 1]
        candidates = above + _ERROR
        np.minimum(candidates[1:], above[:-1] + np.where(hypothesis == token, 0, _ERROR), out=candidates[1:])
        for length, place in merges.get(row, ()):
            candidates[place + 1] = min(candidates[place + 1], table[row - length, place] + _COMPOUND)
        for end, length in split_ends.get(row - 1, ()):
            candidates[end] = min(candidates[end], above[end - length] + _COMPOUND + _SPLIT)
        table[row] = after_insertions(candidates, prefix)
    return table


class Compounds:
    """Merges and splits in transcripts: speech items, audio arm."""

    name = "compounds"
    columns: tuple[str, ...] = ("strict_errors", "joined_errors", "merges", "splits", "reference_words")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "compound_error_rate",
            "word errors that come from words written together or apart, per reference word",
            "lower",
            lambda sums: divide(sums[..., _STRICT] - sums[..., _JOINED], sums[..., _UNITS]),
        ),
        Rate(
            "wer_compounds_joined",
            "word error rate if words written together or apart cost nothing",
            "lower",
            lambda sums: divide(sums[..., _JOINED], sums[..., _UNITS]),
        ),
    )

    def __init__(self, words: Transcripts) -> None:
        self._words = words

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        return Counts(*self._words.count(rows, len(self.columns), _count))


def _count(_row: ScoredRow, pair: AlignedPair) -> tuple[float, ...]:
    strict = int(np.count_nonzero(pair.alignment.operations != MATCH))
    found = CompoundCounts(strict, 0, 0)
    if strict and (_joins(pair.reference, pair.hypothesis) or _joins(pair.hypothesis, pair.reference)):
        found = compound_counts(pair.reference, pair.hypothesis)
    return (strict, found.errors, found.merges, found.splits, len(pair.reference))
