"""Families `judge_meaning` and `judge_answer`: what the judge says, and how far it can be believed.

A score is from 0 to 100, and higher is better. Rows without a score, because a reply of the judge was none,
do not count in a score; they count in `judge_meaning_replies` and `judge_answer_replies`, where the judge is
measured and not the system: none of its rates has a better direction.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Family, Judgement, Rate, ScoredRow, divide, share_of_rows

BEST = 100.0
"""The score of a text that means the same."""

_SCORE, _SCORED = range(2)
_INVALID, _ASKED, _FLIPS, _CHANGE, _PAIRS, _IDENTICAL, _JUDGED = range(7)

_QUESTIONS: dict[str, tuple[str, tuple[Arm, ...]]] = {
    "meaning": ("transcript against its reference", (Arm.AUDIO,)),
    "answer": (
        "answer against the reference answer",
        (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL),
    ),
}
"""Per question: what is judged, and in which arms."""


class JudgeScore:
    """Scores of one question: rows whose text was judged, and those that failed under the policy `worst`."""

    columns: tuple[str, ...] = ("score", "scored")
    relative_to: Arm | None = None

    def __init__(self, question: str) -> None:
        what, self.arms = _QUESTIONS[question]
        self.name = f"judge_{question}"
        self.rates: tuple[Rate, ...] = (
            Rate(
                f"{self.name}_score",
                f"mean score of the {what}, from 0 to 100, by the judge",
                "higher",
                lambda sums: divide(sums[..., _SCORE], sums[..., _SCORED]),
                best=BEST,
            ),
        )
        self._question = question

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a score."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            score = self._score(row)
            if score is not None:
                present[index] = True
                values[index] = (score, 1.0)
        return Counts(values, present)

    def _score(self, row: ScoredRow) -> float | None:
        if not _applies(self._question, row):
            return None
        if _scored_as_worst(self._question, row):
            return 0.0
        judgement = row.output.judgements.get(self._question)
        return None if judgement is None else judgement.score


class JudgeReplies:
    """What one question's replies say of the judge: rows whose text was judged."""

    columns: tuple[str, ...] = ("invalid", "asked", "flips", "change", "pairs", "identical", "judged")
    relative_to: Arm | None = None

    def __init__(self, question: str) -> None:
        what, self.arms = _QUESTIONS[question]
        prefix = f"judge_{question}"
        self.name = f"{prefix}_replies"
        self.rates: tuple[Rate, ...] = (
            share_of_rows(
                f"{prefix}_invalid_rate",
                f"share of comparisons of the {what} that the judge was asked and gave no score",
                None,
                _INVALID,
                _ASKED,
            ),
            share_of_rows(
                f"{prefix}_flip_rate",
                f"share of comparisons of the {what} whose two scores are on two sides of the threshold",
                None,
                _FLIPS,
                _PAIRS,
            ),
            Rate(
                f"{prefix}_mean_change",
                f"mean distance of the two scores of the {what}, in points",
                None,
                lambda sums: divide(sums[..., _CHANGE], sums[..., _PAIRS]),
            ),
            share_of_rows(
                f"{prefix}_identical_rate",
                f"share of comparisons of the {what} that score 100 because the texts do not differ",
                None,
                _IDENTICAL,
                _JUDGED,
            ),
        )
        self._question = question

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a judgement."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            judgement = row.output.judgements.get(self._question)
            if judgement is None or not _applies(self._question, row):
                continue
            if _scored_as_worst(self._question, row):
                continue
            present[index] = True
            values[index] = _reply_counts(judgement)
        return Counts(values, present)


def judge_families(questions: Sequence[str]) -> tuple[Family, ...]:
    """Return the families of the judge's questions, scores before replies."""
    return tuple(
        family for question in questions for family in (JudgeScore(question), JudgeReplies(question))
    )


def _applies(question: str, row: ScoredRow) -> bool:
    return row.item.is_speech and (question == "meaning" or row.item.reference_answer is not None)


def _scored_as_worst(question: str, row: ScoredRow) -> bool:
    """Whether the judged text is missing and stands as an empty one, which is all wrong."""
    output = row.output
    if question == "meaning":
        return output.unheard and output.transcript == ""
    return output.failure is not None and output.answer == ""


def _reply_counts(judgement: Judgement) -> tuple[float, ...]:
    has_pair = judgement.change is not None
    return (
        judgement.invalid > 0,
        not judgement.identical,
        bool(judgement.flipped),
        judgement.change or 0.0,
        has_pair,
        judgement.identical,
        1.0,
    )
