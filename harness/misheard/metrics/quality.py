"""How good one answer is against another text: word overlap, or a custom scorer.

A custom scorer is a function of (reference answer, answer), both as they are, that returns a finite number
from 0 (worst) to 1.
"""

import numbers
from collections import Counter
from collections.abc import Callable
from typing import Any

from misheard.errors import ScorerError
from misheard.metrics.base import ArmOutput
from misheard.suite.items import Item
from misheard.text.profiles import profile_named
from misheard.text.tokenisers import words

Scorer = Callable[[str, str], float]


class AnswerQuality:
    """Quality of answers under one profile, by word overlap or by a custom scorer."""

    def __init__(self, profile: str, scorer: Scorer | None = None) -> None:
        self._profile = profile_named(profile)
        self._scorer = scorer

    def __call__(self, item: Item, output: ArmOutput) -> float:
        """Return the quality of an output's answer against the item's reference answer.

        A failed output is as bad as can be, whatever the scorer makes of an empty text. Raises ScorerError
        where a custom scorer breaks its contract.
        """
        if output.failure is not None or output.answer is None or item.reference_answer is None:
            return 0.0
        if self._scorer is None:
            return self.overlap(item, item.reference_answer, output.answer)
        return _checked_score(self._scorer, item.id, item.reference_answer, output.answer)

    def overlap(self, item: Item, first: str, second: str) -> float:
        """Return the word-overlap F1 of two answers about an item, after the profile."""
        return word_overlap_f1(words(self._normalised(item, first)), words(self._normalised(item, second)))

    def equal(self, item: Item, first: str, second: str) -> bool:
        """Return whether two answers about an item are the same after the profile."""
        return self._normalised(item, first) == self._normalised(item, second)

    def _normalised(self, item: Item, text: str) -> str:
        return self._profile.apply(text, item.language)


def word_overlap_f1(first: list[str], second: list[str]) -> float:
    """Return 2 * overlap / (|first| + |second|) of two multisets of words, in [0, 1].

    The overlap sums, over words, the smaller of the two counts. Both empty: 1; one empty: 0.
    """
    if not first and not second:
        return 1.0
    overlap = (Counter(first) & Counter(second)).total()
    return 2.0 * overlap / (len(first) + len(second))


def _checked_score(scorer: Scorer, item_id: str, reference: str, answer: str) -> float:
    try:
        score: object = scorer(reference, answer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  a scorer of the user's may raise anything, exits included
        broken = f"raised {type(error).__name__}"
    else:
        if not isinstance(score, numbers.Real):
            broken = f"returned {type(score).__name__}"
        elif not _is_from_zero_to_one(score):
            broken = "returned a number outside that range, or none that is finite"
        else:
            return float(score)
    # raised out here, so that no exception in its context can carry the texts that the scorer was given
    raise ScorerError(
        f"item {item_id}: the response scorer must return a number from 0 to 1 for every answer, but {broken}"
    )


def _is_from_zero_to_one(number: Any) -> bool:
    return bool(0 <= number <= 1)
