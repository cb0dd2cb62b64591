"""Family `answer_class`: each answer is correct, abstained or hallucinated, by rule from the item's one fact.

An answer is `correct` where it holds one of the fact's accepted forms, else `abstained` where it holds one of
the suite's abstention phrases for the item's language, else `hallucinated`; so is an empty answer. How a form
or phrase is found is said in `misheard.text.phrases`.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, share_of_rows
from misheard.suite.items import Item
from misheard.text.languages import primary_subtag
from misheard.text.phrases import contains_phrase, phrase_tokens

_CORRECT, _ABSTAINED, _HALLUCINATED, _ANSWERS = range(4)

Phrases = tuple[tuple[str, ...], ...]


class AnswerClass:
    """Classes of answers: items with a fact, in every arm.

    `abstentions` are phrases per BCP-47 tag. An item takes those of its tag and of its tag's language.
    """

    name = "answer_class"
    columns: tuple[str, ...] = ("correct", "abstained", "hallucinated", "answers")
    arms: tuple[Arm, ...] = (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        share_of_rows(
            "correct_rate",
            "share of answers that state the fact",
            "higher",
            _CORRECT,
            _ANSWERS,
        ),
        share_of_rows(
            "abstention_rate",
            "share of answers that say that they do not know",
            None,
            _ABSTAINED,
            _ANSWERS,
        ),
        share_of_rows(
            "hallucination_rate",
            "share of answers that neither state the fact nor abstain",
            "lower",
            _HALLUCINATED,
            _ANSWERS,
        ),
    )

    def __init__(self, abstentions: Mapping[str, Sequence[str]]) -> None:
        self._abstentions = {
            tag.lower(): tuple(phrase_tokens(phrase, tag) for phrase in phrases)
            for tag, phrases in abstentions.items()
        }
        # a fact is looked for in every arm
        self._form_tokens = lru_cache(maxsize=65_536)(phrase_tokens)

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Classify every row with a fact and an answer."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            if not row.item.fact or row.output.answer is None:
                continue
            present[index] = True
            failed = row.output.failure is not None
            column = _HALLUCINATED if failed else self._class_column(row.item, row.output.answer)
            values[index, [column, _ANSWERS]] = 1.0
        return Counts(values, present)

    def _class_column(self, item: Item, answer: str) -> int:
        tokens = phrase_tokens(answer, item.language)
        if any(contains_phrase(tokens, self._form_tokens(form, item.language)) for form in item.fact):
            return _CORRECT
        if any(contains_phrase(tokens, phrase) for phrase in self._phrases_for(item.language)):
            return _ABSTAINED
        return _HALLUCINATED

    def _phrases_for(self, language: str | None) -> Phrases:
        tags = {(language or "").lower(), primary_subtag(language) or ""}
        return tuple(phrase for tag in tags for phrase in self._abstentions.get(tag, ()))
