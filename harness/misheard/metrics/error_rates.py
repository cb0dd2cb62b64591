"""Families `wer` and `cer`: word and character error rates of recognition.

Edits are counted by `misheard_kernels.edit_counts`: unit-cost Levenshtein and, among minimal alignments, the
fewest substitutions. The corpus rate is the sum of edits over the sum of reference units; it may exceed 1.
The bounded rate divides by the sum of reference or of hypothesis units, whichever is larger: at most 1 for
one item, and at most 2 over several, where what one lacks another has too much of. An item with an empty
reference has no rate of its own, and its insertions still pool; rates of some tokens alone leave it out, as
otherwise most of their items would be no evidence of anything.
"""

from collections.abc import Callable, Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, FloatArray, Rate, ScoredRow, divide
from misheard.metrics.texts import has_transcript, normalised_texts
from misheard.text.interning import TokenPairs, char_pairs, word_pairs
from misheard.text.profiles import profile_named
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
_SUBSTITUTIONS, _DELETIONS, _INSERTIONS, _HITS, _UNITS, _ITEM_RATES, _ITEMS_WITH_RATE = range(len(COLUMNS))
_EDITS = [_SUBSTITUTIONS, _DELETIONS, _INSERTIONS]
_HYPOTHESIS_UNITS = [_SUBSTITUTIONS, _INSERTIONS, _HITS]

Encoder = Callable[[Sequence[str], Sequence[str]], TokenPairs]


class ErrorRates:
    """Error counts of transcripts against references: speech items, audio arm.

    With `only_with_units` items without reference units do not count, nor do their insertions.
    """

    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def __init__(
        self, name: str, unit: str, encode: Encoder, profile: str, *, only_with_units: bool = False
    ) -> None:
        self.name = name
        self.rates: tuple[Rate, ...] = _rates(name, unit)
        self._encode = encode
        self._profile = profile_named(profile)
        self._only_with_units = only_with_units

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        values = np.zeros((len(rows), len(COLUMNS)))
        present = has_transcript(rows)
        counted = [row for row, is_present in zip(rows, present, strict=True) if is_present]
        values[present] = _item_counts(self._encode(*normalised_texts(counted, self._profile)))
        if self._only_with_units:
            present &= values[:, _UNITS] > 0
            values[~present] = 0.0
        return Counts(values, present)


def wer(profile: str) -> ErrorRates:
    """Return the family of word error rates under a normalisation profile."""
    return ErrorRates("wer", "word", word_pairs, profile)


def cer(profile: str) -> ErrorRates:
    """Return the family of character error rates under a normalisation profile."""
    return ErrorRates("cer", "character", char_pairs, profile)


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


def _bounded(sums: FloatArray) -> FloatArray:
    longer = np.maximum(sums[..., _UNITS], sums[..., _HYPOTHESIS_UNITS].sum(axis=-1))
    return divide(sums[..., _EDITS].sum(axis=-1), longer)


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
            f"{name}_bounded",
            f"sum of edits / the larger of the sums of reference and of hypothesis {unit}s",
            "lower",
            _bounded,
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
