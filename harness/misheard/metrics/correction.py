"""What a corrector does to a transcript: three texts in one alignment, each edit judged once.

The raw and the corrected transcript are aligned with each other first, so that the *modifications* are the
edits of their canonical alignment: substitutions, deletions and insertions. Their columns, each a raw and a
corrected token of which one may be missing, are then aligned with the reference: fewest errors of the raw
transcript, then its fewest substitutions, then fewest errors of the corrected one, then its fewest
substitutions; of equal ones, the one that, read from the end, pairs a column with a reference token where it
can, and then passes over a column first. The errors and hits of the raw transcript are therefore exactly
those of its error counts. Where reference tokens times columns are more than 2^29, such as 2,000 by 268,436,
the reference is aligned with the raw transcript alone, whose errors and hits stay exact; of equally good
alignments it is then not the one in which the corrected transcript has the fewest errors
(`misheard.metrics.three_texts`).

A column of the result holds a reference, a raw and a corrected token; a missing token is a value like any
other.

* raw error: raw differs from the reference (a wrong, a missing or an inserted token);
* raw correct token: raw equals a reference token;
* modification: corrected differs from raw;
* improvement: a raw error whose corrected value equals the reference: a token put right, put in, or an
  inserted one taken out. Every improvement is a modification of a raw error, so precision and recall stay in
  [0, 1];
* over-correction: a raw correct token whose corrected value is something else;
* added error: a token that the corrector inserted where neither reference nor raw transcript has one.

ETCR compares the embedded-language words of the two transcripts and needs no reference.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from misheard.metrics.dynamic_rows import token_ids
from misheard.metrics.three_texts import GAP, Columns, edit_columns, with_reference
from misheard.text.interning import token_pairs
from misheard_kernels import edit_counts


@dataclass(frozen=True, slots=True)
class CorrectionCounts:
    """Sums over one or more corrected transcripts; rates are None where their denominator is 0.

    Attributes:
        raw_correct_tokens: reference tokens that the raw transcript has right.
        raw_error_tokens: substitutions, deletions and insertions of the raw transcript.
        modifications: edits between the raw and the corrected transcript.
        improvements: raw errors that the corrector put right.
        over_corrections: raw correct tokens that the corrector changed or took out.
        added_errors: tokens that it put in where there is nothing.
    """

    raw_correct_tokens: int = 0
    raw_error_tokens: int = 0
    modifications: int = 0
    improvements: int = 0
    over_corrections: int = 0
    added_errors: int = 0

    def __add__(self, other: "CorrectionCounts") -> "CorrectionCounts":
        return CorrectionCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def over_correction_rate(self) -> float | None:
        """Over-corrections / raw correct tokens."""
        return _ratio(self.over_corrections, self.raw_correct_tokens)

    @property
    def precision(self) -> float | None:
        """Improvements / modifications."""
        return _ratio(self.improvements, self.modifications)

    @property
    def recall(self) -> float | None:
        """Improvements / raw error tokens."""
        return _ratio(self.improvements, self.raw_error_tokens)


@dataclass(frozen=True, slots=True)
class TokenChange:
    """Sums of edits between the embedded-language words of raw and corrected transcripts (ETCR).

    `rate` is edits / max(raw words, corrected words) of the sums, None without words on either side.
    """

    edits: int = 0
    raw_words: int = 0
    corrected_words: int = 0

    def __add__(self, other: "TokenChange") -> "TokenChange":
        return TokenChange(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def rate(self) -> float | None:
        """The English token change rate, or that of any other embedded language."""
        return _ratio(self.edits, max(self.raw_words, self.corrected_words))


def correction_counts(
    reference: Sequence[str], raw: Sequence[str], corrected: Sequence[str]
) -> CorrectionCounts:
    """Return the counts of one corrected transcript.

    Args:
        reference: tokens of the human transcript, for code-switched text the `mixed` ones.
        raw: tokens of what was recognized.
        corrected: tokens of what the corrector made of it.
    """
    if raw == corrected:
        return _unchanged(reference, raw)
    said, heard, mended = token_ids(tuple(reference), tuple(raw), tuple(corrected))
    return _judge(with_reference(said, *edit_columns(heard, mended)))


def _unchanged(reference: Sequence[str], raw: Sequence[str]) -> CorrectionCounts:
    """Return the counts of a transcript that was left as it is: those of its own errors.

    It takes no table, which matters: long transcripts are those that a corrector most often leaves.
    """
    pairs = token_pairs([reference], [raw])
    counts = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    *errors, hits = counts[0].tolist()
    return CorrectionCounts(raw_correct_tokens=hits, raw_error_tokens=sum(errors))


def token_change(raw: Sequence[str], corrected: Sequence[str]) -> TokenChange:
    """Return how far the corrector changed the embedded-language words, given those words alone, in order."""
    heard, mended = token_ids(tuple(raw), tuple(corrected))
    before, after = edit_columns(heard, mended)
    return TokenChange(int(np.count_nonzero(before != after)), len(raw), len(corrected))


def _judge(columns: Columns) -> CorrectionCounts:
    reference, raw, corrected = columns
    raw_right, right, changed = raw == reference, corrected == reference, corrected != raw
    spoken = reference != GAP
    return CorrectionCounts(
        raw_correct_tokens=int(np.count_nonzero(raw_right & spoken)),
        raw_error_tokens=int(np.count_nonzero(~raw_right)),
        modifications=int(np.count_nonzero(changed)),
        improvements=int(np.count_nonzero(~raw_right & right)),
        over_corrections=int(np.count_nonzero(raw_right & spoken & ~right)),
        added_errors=int(np.count_nonzero(raw_right & ~spoken & ~right)),
    )


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None
