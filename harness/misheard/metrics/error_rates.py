"""Families `wer` and `cer`: word and character error rates of recognition.

Edits are counted by `misheard_kernels.edit_counts`: unit-cost Levenshtein and, among minimal alignments, the
fewest substitutions. The corpus rate is the sum of edits over the sum of reference units; it may exceed 1. An
item with an empty reference has no rate of its own, and its insertions still pool.
"""

from collections.abc import Callable, Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, FloatArray, Rate, ScoredRow, divide
from misheard.text.interning import TokenPairs, char_pairs, word_pairs
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import CHARS, WORDS, Tokeniser
from misheard_kernels import edit_counts

COLUMNS = (
    "substitutions",
    "deletions",
    "insertions",
    "hits",
    "reference_units",
    "item_rates",
    "items_with_rate",
)
_SUBSTITUTIONS, _DELETIONS, _INSERTIONS, _, _UNITS, _ITEM_RATES, _ITEMS_WITH_RATE = range(len(COLUMNS))
_EDITS = [_SUBSTITUTIONS, _DELETIONS, _INSERTIONS]

_Encoder = Callable[[Sequence[str], Sequence[str]], TokenPairs]


class ErrorRates:
    """Error counts of transcripts against references: speech items, audio arm."""

    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def __init__(self, name: str, unit: str, tokeniser: Tokeniser, encode: _Encoder, profile: str) -> None:
        self.name = name
        self.tokeniser = tokeniser
        self.rates: tuple[Rate, ...] = _rates(name, unit)
        self._encode = encode
        self._profile = profile_named(profile)

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        values = np.zeros((len(rows), len(COLUMNS)))
        present = np.array([row.item.is_speech and row.output.transcript is not None for row in rows], bool)
        counted = [row for row, is_present in zip(rows, present, strict=True) if is_present]
        references = [self._profile.apply(row.item.reference) for row in counted]
        hypotheses = [self._profile.apply(row.output.transcript or "") for row in counted]
        values[present] = _item_counts(self._encode(references, hypotheses))
        return Counts(values, present)


def wer(profile: str) -> ErrorRates:
    """Return the family of word error rates under a normalisation profile."""
    return ErrorRates("wer", "word", WORDS, word_pairs, profile)


def cer(profile: str) -> ErrorRates:
    """Return the family of character error rates under a normalisation profile."""
    return ErrorRates("cer", "character", CHARS, char_pairs, profile)


def item_rates(counts: Counts) -> FloatArray:
    """Return each row's own error rate, float64[n]; NaN where it does not count or has an empty reference."""
    rates = divide(counts.values[:, _EDITS].sum(axis=1), counts.values[:, _UNITS])
    rates[~counts.present] = np.nan
    return rates


def _item_counts(pairs: TokenPairs) -> FloatArray:
    edits = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    values = np.zeros((len(edits), len(COLUMNS)))
    values[:, : edits.shape[1]] = edits
    units = np.diff(pairs.ref_offsets)
    has_rate = units > 0
    values[:, _UNITS] = units
    values[has_rate, _ITEM_RATES] = edits[has_rate][:, _EDITS].sum(axis=1) / units[has_rate]
    values[:, _ITEMS_WITH_RATE] = has_rate
    return values


def _rates(name: str, unit: str) -> tuple[Rate, ...]:
    def share(suffix: str, what: str, column: int) -> Rate:
        return Rate(
            f"{name}_{suffix}_rate",
            f"{what} per reference {unit}",
            "lower",
            lambda sums: divide(sums[..., column], sums[..., _UNITS]),
        )

    return (
        Rate(
            name,
            f"{unit} error rate: sum of edits / sum of reference {unit}s",
            "lower",
            lambda sums: divide(sums[..., _EDITS].sum(axis=-1), sums[..., _UNITS]),
        ),
        Rate(
            f"{name}_mean",
            f"mean of the items' own {unit} error rates",
            "lower",
            lambda sums: divide(sums[..., _ITEM_RATES], sums[..., _ITEMS_WITH_RATE]),
        ),
        share("substitution", "substitutions", _SUBSTITUTIONS),
        share("deletion", "deletions", _DELETIONS),
        share("insertion", "insertions", _INSERTIONS),
    )
