"""Family `error_categories`: what kind of words the word errors are about.

Every error of the canonical alignment falls into exactly one category, and all rates have the same
denominator, the reference words, so that they add up to the word error rate. The first that fits counts:

* `punctuation`: a substitution where both sides have the same letters, marks and numbers in the same case, or
  an inserted or deleted token without any;
* `case`: a substitution of tokens that are equal after case folding, punctuation aside;
* `entity`: the reference word belongs to one of the item's entities;
* `numeral`: the reference or the hypothesis token is a number;
* `lexical`: everything else.
"""

from collections import Counter
from collections.abc import Sequence

from misheard.metrics.base import Arm, Counts, FloatArray, Rate, ScoredRow, divide
from misheard.metrics.token_kinds import entity_mask, is_number, is_punctuation, without_punctuation
from misheard.metrics.transcripts import AlignedPair, Transcripts
from misheard_kernels.alignment import MATCH

CATEGORIES = ("lexical", "numeral", "entity", "punctuation", "case")
_UNITS = len(CATEGORIES)


def categorised_errors(
    pair: AlignedPair, entities: Sequence[str] = (), language: str | None = None
) -> Counter[str]:
    """Return the number of errors per category; one without errors is not in it.

    `entities` are those of the item, `language` (BCP-47) is that of the text.
    """
    alignment = pair.alignment
    is_entity = entity_mask(pair.reference, entities, language) if entities else []
    found: Counter[str] = Counter()
    for operation, said, heard in zip(
        alignment.operations.tolist(),
        alignment.reference_index.tolist(),
        alignment.hypothesis_index.tolist(),
        strict=True,
    ):
        if operation == MATCH:
            continue
        reference = pair.reference[said] if said >= 0 else None
        hypothesis = pair.hypothesis[heard] if heard >= 0 else None
        at_entity = bool(entities) and said >= 0 and is_entity[said]
        found[_category(reference, hypothesis, at_entity, language)] += 1
    return found


class ErrorCategories:
    """Word errors by category: speech items, audio arm."""

    name = "error_categories"
    columns: tuple[str, ...] = (*(f"{category}_errors" for category in CATEGORIES), "reference_words")
    arms: tuple[Arm, ...] = (Arm.AUDIO,)
    relative_to: Arm | None = None

    def __init__(self, words: Transcripts) -> None:
        self.rates: tuple[Rate, ...] = tuple(
            _rate(category, column) for column, category in enumerate(CATEGORIES)
        )
        self._words = words

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every speech row that has a transcript."""
        return Counts(*self._words.count(rows, len(self.columns), _count))


def _count(row: ScoredRow, pair: AlignedPair) -> list[float]:
    found = categorised_errors(pair, row.item.entities, row.item.language)
    return [*(found[category] for category in CATEGORIES), len(pair.reference)]


def _category(reference: str | None, hypothesis: str | None, at_entity: bool, language: str | None) -> str:
    tokens = [token for token in (reference, hypothesis) if token is not None]
    if all(map(is_punctuation, tokens)):
        return "punctuation"
    if reference is not None and hypothesis is not None:
        said, heard = without_punctuation(reference), without_punctuation(hypothesis)
        if said == heard:
            return "punctuation"
        if said.casefold() == heard.casefold():
            return "case"
    if at_entity:
        return "entity"
    return "numeral" if any(is_number(token, language) for token in tokens) else "lexical"


def _rate(category: str, column: int) -> Rate:
    def compute(sums: FloatArray) -> FloatArray:
        return divide(sums[..., column], sums[..., _UNITS])

    what = f"word errors of the category {category} per reference word"
    return Rate(f"{category}_error_rate", what, "lower", compute)
