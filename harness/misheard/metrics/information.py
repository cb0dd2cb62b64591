"""Family `information`: how much of the words' information is lost, and how many sentences have an error.

With H hits over N1 reference and N2 hypothesis words, word information preserved is WIP = H² / (N1 · N2), and
word information lost is WIL = 1 − WIP (Morris, Maier and Green, "From WER and RIL to MER and WIL",
Interspeech 2004, with the hits of the canonical alignment). Both are made from sums. Without reference words
they are undefined; with reference words and none heard, nothing is preserved: WIP is 0. Sentence error rate
is the share of items with at least one edit.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, FloatArray, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.transcripts import AlignedPair, Transcripts
from misheard_kernels.alignment import MATCH

_HITS, _REFERENCE, _HYPOTHESIS, _WITH_ERROR, _SENTENCES = range(5)


def information_preserved(sums: FloatArray) -> FloatArray:
    """Return WIP of sums of this family's columns."""
    heard = divide(sums[..., _HITS], sums[..., _HYPOTHESIS])
    said = divide(sums[..., _HITS], sums[..., _REFERENCE])
    # nothing heard of what was said is a hit rate of 0, also where 0 / 0 words were heard
    return np.where(sums[..., _HITS] == 0, said, said * heard)


class Information:
    """Word information lost and preserved, and sentence error rate: speech items, audio arm."""

    name = "information"
    columns: tuple[str, ...] = (
        "hits",
        "reference_words",
        "hypothesis_words",
        "sentences_with_error",
        "sentences",
    )
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "word_information_lost",
            "1 - hits² / (reference words x hypothesis words)",
            "lower",
            lambda sums: 1.0 - information_preserved(sums),
        ),
        Rate(
            "word_information_preserved",
            "hits² / (reference words x hypothesis words)",
            "higher",
            information_preserved,
        ),
        share_of_rows(
            "sentence_error_rate",
            "share of items with at least one error",
            "lower",
            _WITH_ERROR,
            _SENTENCES,
        ),
    )

    def __init__(self, words: Transcripts) -> None:
        self._words = words

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        return Counts(*self._words.count(rows, len(self.columns), _count))


def _count(_row: ScoredRow, pair: AlignedPair) -> tuple[float, ...]:
    operations = pair.alignment.operations
    hits = int(np.count_nonzero(operations == MATCH))
    return (hits, len(pair.reference), len(pair.hypothesis), hits < len(operations), 1)
