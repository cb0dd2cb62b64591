"""What a corrector does to a transcript: three texts in one alignment, each edit judged once.

The raw and the corrected transcript are aligned with each other first, so that the *modifications* are the
edits of their canonical alignment: substitutions, deletions and insertions. Their columns, each a raw and a
corrected token of which one may be missing, are then aligned with the reference: fewest errors of the raw
transcript, then its fewest substitutions, then fewest errors of the corrected one, then its fewest
substitutions; of equal ones, the one that, read from the end, pairs a column with a reference token where it
can, and then passes over a column first. The errors and hits of the raw transcript are therefore exactly
those of its error counts.

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
import numpy.typing as npt

from misheard.metrics.dynamic_rows import IntRow, after_insertions, prefix_costs, token_ids
from misheard.text.interning import token_pairs
from misheard_kernels import edit_counts
from misheard_kernels.alignment import align

_RAW_ERROR, _RAW_SUBSTITUTION = 1 << 48, 1 << 32
_ERROR, _SUBSTITUTION = 1 << 16, 1
_MAX_TOKENS = (1 << 15) - 1
_GAP = -1


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

    Raises ValueError for a text of more than 32,767 tokens that the corrector changed.
    """
    if raw == corrected:
        return _unchanged(reference, raw)
    _check_length(reference, raw, corrected)
    said, heard, mended = token_ids(tuple(reference), tuple(raw), tuple(corrected))
    columns = _edit_columns(heard, mended)
    return _judge(_with_reference(said, *columns))


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
    _check_length(raw, corrected)
    heard, mended = token_ids(tuple(raw), tuple(corrected))
    before, after = _edit_columns(heard, mended)
    return TokenChange(int(np.count_nonzero(before != after)), len(raw), len(corrected))


def _edit_columns(raw: IntRow, corrected: IntRow) -> tuple[IntRow, IntRow]:
    """Return raw and corrected with gaps, in their canonical alignment."""
    alignment = align(raw.astype(np.int32), corrected.astype(np.int32))
    return _with_gaps(raw, alignment.reference_index), _with_gaps(corrected, alignment.hypothesis_index)


def _with_gaps(tokens: IntRow, index: npt.NDArray[np.int32]) -> IntRow:
    return np.append(tokens, _GAP)[index]


def _with_reference(reference: IntRow, raw: IntRow, corrected: IntRow) -> tuple[IntRow, IntRow, IntRow]:
    """Return reference, raw and corrected with gaps, int64[L] each, given an alignment of the last two."""
    raw_weight = np.where(raw == _GAP, 0, _RAW_ERROR)
    weight = np.where(corrected == _GAP, 0, _ERROR)
    insertion = raw_weight + weight
    deletion = _RAW_ERROR + _ERROR
    prefix = prefix_costs(insertion)
    table = np.empty((len(reference) + 1, len(raw) + 1), dtype=np.int64)
    table[0] = prefix
    for row, token in enumerate(reference, start=1):
        above = table[row - 1]
        candidates = above + deletion
        pairing = above[:-1] + _pairing_cost(token, raw, corrected)
        np.minimum(candidates[1:], pairing, out=candidates[1:])
        table[row] = after_insertions(candidates, prefix)
    return _trace(table, reference, raw, corrected, insertion)


def _pairing_cost(token: np.int64, raw: IntRow, corrected: IntRow) -> IntRow:
    """Return the cost of pairing a reference token with each column; a gap in one is a deletion there."""
    raw_cost = np.where(raw == token, 0, _RAW_ERROR + np.where(raw == _GAP, 0, _RAW_SUBSTITUTION))
    cost = np.where(corrected == token, 0, _ERROR + np.where(corrected == _GAP, 0, _SUBSTITUTION))
    return np.asarray(raw_cost + cost, dtype=np.int64)


def _trace(
    table: IntRow, reference: IntRow, raw: IntRow, corrected: IntRow, insertion: IntRow
) -> tuple[IntRow, IntRow, IntRow]:
    row, column = len(reference), len(raw)
    steps: list[tuple[int, int, int]] = []
    while row or column:
        here = table[row, column]
        if row and column:
            pairing = _pairing_cost(
                reference[row - 1], raw[column - 1 : column], corrected[column - 1 : column]
            )
            if here == table[row - 1, column - 1] + pairing[0]:
                row, column = row - 1, column - 1
                steps.append((int(reference[row]), int(raw[column]), int(corrected[column])))
                continue
        if column and here == table[row, column - 1] + insertion[column - 1]:
            column -= 1
            steps.append((_GAP, int(raw[column]), int(corrected[column])))
        else:
            row -= 1
            steps.append((int(reference[row]), _GAP, _GAP))
    columns = np.array(steps[::-1], dtype=np.int64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


def _judge(columns: tuple[IntRow, IntRow, IntRow]) -> CorrectionCounts:
    reference, raw, corrected = columns
    raw_right, right, changed = raw == reference, corrected == reference, corrected != raw
    spoken = reference != _GAP
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


def _check_length(*texts: Sequence[str]) -> None:
    longest = max(len(text) for text in texts)
    if longest > _MAX_TOKENS:
        raise ValueError(f"{longest} tokens, more than {_MAX_TOKENS}; give one utterance at a time")
