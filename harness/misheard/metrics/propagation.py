"""Family `propagation`: what recognition does to the answers, each item against its own transcript arm.

In the audio arm the rates are what mishearing costs; in the control arm, where the transcript arm ran a
second time, they are the noise of the language model that the cost is read against.
"""

from collections.abc import Sequence

import numpy as np

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide, share_of_rows
from misheard.metrics.quality import AnswerQuality

TOLERANCE = 1e-12
"""A drop of at most this much is none."""

COLUMNS = ("baseline_quality", "arm_quality", "degraded", "improved", "agreement", "flips", "pairs")
_BASELINE, _ARM, _DEGRADED, _IMPROVED, _AGREEMENT, _FLIPS, _PAIRS = range(len(COLUMNS))


class Propagation:
    """Paired differences to the transcript arm: items with a reference answer and answers in both arms."""

    name = "propagation"
    columns: tuple[str, ...] = COLUMNS
    arms: tuple[Arm, ...] = (Arm.AUDIO, Arm.UNCORRECTED, Arm.CONTROL)
    relative_to: Arm | None = Arm.TRANSCRIPT

    def __init__(self, quality: AnswerQuality) -> None:
        self.rates: tuple[Rate, ...] = _RATES
        self._quality = quality

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        """Count every row with a reference answer, an answer and a baseline's answer. Raises ScorerError."""
        values = np.zeros((len(rows), len(COLUMNS)))
        present = np.zeros(len(rows), dtype=bool)
        for index, row in enumerate(rows):
            pair = self._pair(row)
            if pair is not None:
                present[index] = True
                values[index] = pair
        return Counts(values, present)

    def _pair(self, row: ScoredRow) -> tuple[float, ...] | None:
        baseline, output = row.baseline, row.output
        if row.item.reference_answer is None or baseline is None:
            return None
        if baseline.answer is None or output.answer is None:
            return None
        before, after = self._quality(row.item, baseline), self._quality(row.item, output)
        failed = baseline.failure is not None or output.failure is not None
        agreement = 0.0 if failed else self._quality.overlap(row.item, baseline.answer, output.answer)
        # what fails in both arms has the same answer in both, none, and is no noise
        one_failed = (baseline.failure is None) != (output.failure is None)
        flipped = one_failed or baseline.answer != output.answer
        drop = before - after
        return (before, after, drop > TOLERANCE, drop < -TOLERANCE, agreement, flipped, 1.0)


_RATES = (
    Rate(
        "quality_drop",
        "mean quality of the transcript arm's answers minus that of this arm's",
        "lower",
        lambda sums: divide(sums[..., _BASELINE] - sums[..., _ARM], sums[..., _PAIRS]),
    ),
    share_of_rows(
        "degraded_fraction",
        "share of answers that are worse than the transcript arm's",
        "lower",
        _DEGRADED,
        _PAIRS,
    ),
    share_of_rows(
        "improved_fraction",
        "share of answers that are better than the transcript arm's",
        None,
        _IMPROVED,
        _PAIRS,
    ),
    Rate(
        "response_agreement_f1",
        "mean word-overlap F1 of the two arms' answers",
        "higher",
        lambda sums: divide(sums[..., _AGREEMENT], sums[..., _PAIRS]),
    ),
    share_of_rows(
        "flip_rate",
        "share of answers that differ from the transcript arm's at all",
        "lower",
        _FLIPS,
        _PAIRS,
    ),
    Rate(
        "baseline_quality",
        "mean quality of the transcript arm's answers, over the pairs",
        None,
        lambda sums: divide(sums[..., _BASELINE], sums[..., _PAIRS]),
    ),
    Rate(
        "arm_quality",
        "mean quality of this arm's answers, over the pairs",
        "higher",
        lambda sums: divide(sums[..., _ARM], sums[..., _PAIRS]),
    ),
)
