"""Family `response`: how good the answers are against the human reference answers, in every arm."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from misheard.imports import load_object, option_error
from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.quality import AnswerQuality, Scorer

_QUALITY, _EXACT, _ANSWERS = range(3)


class Response:
    """Quality and exact matches of answers: items with a reference answer."""

    name = "response"
    columns: tuple[str, ...] = ("quality", "exact_matches", "answers")
    arms: tuple[Arm, ...] = (Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL)
    relative_to: Arm | None = None
    rates: tuple[Rate, ...] = (
        Rate(
            "response_quality",
            "mean quality of the answers against the reference answers",
            "higher",
            lambda sums: divide(sums[..., _QUALITY], sums[..., _ANSWERS]),
        ),
        share_of_rows(
            "exact_match_rate",
            "share of answers equal to the reference answer after normalisation",
            "higher",
            _EXACT,
            _ANSWERS,
        ),
    )

    def __init__(self, quality: AnswerQuality) -> None:
        self._quality = quality

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a reference answer and an answer. Raises ScorerError."""
        values = np.zeros((len(rows), len(self.columns)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            reference, answer = row.item.reference_answer, row.output.answer
            if reference is None or answer is None:
                continue
            present[index] = True
            exact = row.output.failure is None and self._quality.equal(row.item, reference, answer)
            values[index] = (self._quality(row.item, row.output), exact, 1.0)
        return Counts(values, present)


def load_scorer(path: str, option: str = "scoring.response_scorer") -> Scorer:
    """Return the function that `module:function` names; the current directory's modules can be named too.

    Raises ConfigError, naming `option`, where there is no such function.
    """
    scorer: Any = load_object(path, option, "function", "my_scorers:meaning")
    if not callable(scorer):
        raise option_error(option, f"{path} is not a function but {type(scorer).__name__}")
    checked: Scorer = scorer
    return checked
