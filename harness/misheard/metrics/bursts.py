"""Family `bursts`: runs of inserted words, split into loops of words already heard and novel words.

A burst is a run of at least three words that follow each other in the hypothesis and are all insertions. A
word of a burst is part of a loop where the hypothesis has the same word outside the burst or earlier in it,
and novel otherwise: a recognizer that repeats itself makes loops, one that invents speech makes novel words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.transcripts import AlignedPair, Transcripts
from misheard_kernels.alignment import INSERTION

MIN_BURST = 3
_BURSTS, _LOOP, _NOVEL, _UNITS, _WITH_BURST, _ITEMS = range(6)


@dataclass(frozen=True, slots=True)
class BurstCounts:
    """Bursts of one hypothesis and their words."""

    bursts: int
    loop_words: int
    novel_words: int


def burst_counts(hypothesis: Sequence[str], inserted: Sequence[bool]) -> BurstCounts:
    """Return the bursts of a hypothesis; `inserted` says of each token whether it is an insertion."""
    bursts = loops = novel = 0
    for start, end in _runs(inserted):
        if end - start < MIN_BURST:
            continue
        bursts += 1
        heard = {*hypothesis[:start], *hypothesis[end:]}
        for word in hypothesis[start:end]:
            loops, novel = (loops + 1, novel) if word in heard else (loops, novel + 1)
            heard.add(word)
    return BurstCounts(bursts, loops, novel)


class Bursts:
    """Insertion bursts of transcripts: speech items, audio arm."""

    name = "bursts"
    columns: tuple[str, ...] = (
        "bursts",
        "loop_words",
        "novel_words",
        "reference_words",
        "items_with_burst",
        "items",
    )
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        share_of_rows(
            "burst_item_rate",
            f"share of items with {MIN_BURST} or more inserted words in a row",
            "lower",
            _WITH_BURST,
            _ITEMS,
        ),
        Rate(
            "burst_loop_rate",
            "words already heard, inserted in bursts, per reference word",
            "lower",
            lambda sums: divide(sums[..., _LOOP], sums[..., _UNITS]),
        ),
        Rate(
            "burst_novel_rate",
            "novel words, inserted in bursts, per reference word",
            "lower",
            lambda sums: divide(sums[..., _NOVEL], sums[..., _UNITS]),
        ),
    )

    def __init__(self, words: Transcripts) -> None:
        self._words = words

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        return Counts(*self._words.count(rows, len(self.columns), _count))


def _count(_row: ScoredRow, pair: AlignedPair) -> tuple[float, ...]:
    alignment = pair.alignment
    inserted = np.zeros(len(pair.hypothesis), dtype=bool)
    inserted[alignment.hypothesis_index[alignment.operations == INSERTION]] = True
    found = burst_counts(pair.hypothesis, inserted.tolist())
    return (found.bursts, found.loop_words, found.novel_words, len(pair.reference), found.bursts > 0, 1)


def _runs(inserted: Sequence[bool]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(inserted, dtype=bool), [False]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
