"""Transcripts of rows as tokens, aligned with their references: made once for all families that share it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import BoolArray, FloatArray, ScoredRow
from misheard.metrics.texts import has_transcript, normalised_texts
from misheard.text.interning import token_pairs
from misheard.text.profiles import profile_named
from misheard_kernels.alignment import Alignment, align_pairs

Split = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A reference and a hypothesis as tokens, with their canonical alignment."""

    reference: Sequence[str]
    hypothesis: Sequence[str]
    alignment: Alignment


def aligned_pairs(
    references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]
) -> list[AlignedPair]:
    """Return the alignments of token lists that pair up by position.

    Raises ValueError where there are not as many hypotheses as references.
    """
    pairs = token_pairs(references, hypotheses)
    aligned = align_pairs(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    return [
        AlignedPair(reference, hypothesis, aligned.pair(index))
        for index, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True))
    ]


class Transcripts:
    """The aligned transcripts of rows under one profile and tokeniser.

    The last result is kept: families that share this object and are asked about the same rows, one after the
    other, align once.
    """

    def __init__(self, profile: str, split: Split) -> None:
        self._profile, self._split = profile_named(profile), split
        self._last: tuple[list[tuple[str, str | None, str | None]], list[AlignedPair]] = ([], [])

    def align(self, rows: Sequence[ScoredRow]) -> list[AlignedPair]:
        """Return a pair per row; rows must have a transcript (see `has_transcript`)."""
        asked = [(row.item.reference, row.item.language, row.output.transcript) for row in rows]
        if asked != self._last[0]:
            references, hypotheses = normalised_texts(rows, self._profile)
            split = self._split
            pairs = aligned_pairs([split(text) for text in references], [split(text) for text in hypotheses])
            self._last = (asked, pairs)
        return self._last[1]

    def count(
        self,
        rows: Sequence[ScoredRow],
        columns: int,
        one: Callable[[ScoredRow, AlignedPair], Sequence[float]],
    ) -> tuple[FloatArray, BoolArray]:
        """Return what `one` counts of each row with a transcript, float64[n, columns], and which have one."""
        values = np.zeros((len(rows), columns))
        present = has_transcript(rows)
        counted = [row for row, is_present in zip(rows, present, strict=True) if is_present]
        if counted:
            values[present] = [one(row, pair) for row, pair in zip(counted, self.align(counted), strict=True)]
        return values, present
