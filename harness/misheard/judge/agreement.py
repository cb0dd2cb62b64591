"""How far a judge agrees with people: per language and question, and never as one number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from misheard.judge.calibration_set import CalibrationItem
from misheard.metrics.base import FloatArray, Judgement, divide
from misheard.stages.judge import BEST
from misheard.stats.resampling import Interval, draw_sample, estimate_intervals
from misheard.stats.verdict import MIN_UNITS

_FEWEST_RANKED = 3


@dataclass(frozen=True, slots=True)
class Agreement:
    """The judge against people over some items.

    Attributes:
        language, question: of the items; None for all of them.
        items: how many there are; n of them have a score.
        difference: mean of judge - human score, in points; None where n is 0.
        interval: of the difference, paired by item; None under 6 items, or where there is none.
        error: mean absolute difference, in points.
        rank_correlation: Spearman's, with average ranks for ties; None under 3 items, or where the scores of
            one side are all the same.
        invalid: items without a score.
        flips, pairs: items whose two scores are on two sides of the threshold, of those with two.
    """

    language: str | None
    question: str | None
    items: int
    n: int
    difference: float | None
    interval: Interval | None
    error: float | None
    rank_correlation: float | None
    invalid: int
    flips: int
    pairs: int


def agreements(
    items: Sequence[CalibrationItem], judgements: Mapping[str, Judgement], resamples: int, seed: int
) -> list[Agreement]:
    """Return the agreement of every language and question, then of every language, then of every question."""
    languages = sorted({item.language_code for item in items})
    questions = [name for name in ("meaning", "answer") if any(item.question == name for item in items)]
    groups: list[tuple[str | None, str | None]] = [(la, qu) for la in languages for qu in questions]
    if len(questions) > 1:
        groups += [(language, None) for language in languages]
    if len(languages) > 1:
        groups += [(None, question) for question in questions]
    found = []
    for language, question in groups:
        chosen = [
            item
            for item in items
            if language in (None, item.language_code) and question in (None, item.question)
        ]
        if chosen:
            found.append(_agreement(language, question, chosen, judgements, resamples, seed))
    return found


def worst_agreement(found: Sequence[Agreement]) -> Agreement | None:
    """Return the agreement of one language and question with the largest mean absolute difference."""
    cells = [one for one in found if one.language and one.question and one.error is not None]
    return max(cells, key=lambda one: one.error or 0.0, default=None)


def _agreement(
    language: str | None,
    question: str | None,
    items: Sequence[CalibrationItem],
    judgements: Mapping[str, Judgement],
    resamples: int,
    seed: int,
) -> Agreement:
    said = [judgements[item.id] for item in items]
    scored = [
        (one.score, item.human_score) for item, one in zip(items, said, strict=True) if one.score is not None
    ]
    judge, human = np.array(scored, dtype=np.float64).reshape(-1, 2).T
    moved = judge - human
    return Agreement(
        language=language,
        question=question,
        items=len(items),
        n=len(scored),
        difference=float(moved.mean()) if scored else None,
        interval=_interval(moved, resamples, seed),
        error=float(np.abs(moved).mean()) if scored else None,
        rank_correlation=rank_correlation(judge, human),
        invalid=len(items) - len(scored),
        flips=sum(bool(one.flipped) for one in said),
        pairs=sum(one.flipped is not None for one in said),
    )


def _interval(moved: FloatArray, resamples: int, seed: int) -> Interval | None:
    if len(moved) < MIN_UNITS:
        return None
    totals = np.stack([moved, np.ones_like(moved)], axis=1)
    sample = draw_sample(totals, resamples, seed)
    found = estimate_intervals(sample, lambda sums: divide(sums[..., 0], sums[..., 1])).deciding
    # a t-interval may reach beyond what a difference of scores can be
    return None if found is None else Interval(max(found.low, -BEST), min(found.high, BEST))


def rank_correlation(first: FloatArray, second: FloatArray) -> float | None:
    """Return Spearman's rank correlation of float64[n] and float64[n]: Pearson's of average ranks."""
    if len(first) < _FEWEST_RANKED:
        return None
    ranks = np.stack([_average_ranks(first), _average_ranks(second)])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    spread = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / spread if spread else None


def _average_ranks(values: FloatArray) -> FloatArray:
    ordered = np.sort(values)
    below, up_to = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    ranks: FloatArray = (below + up_to + 1) / 2.0
    return ranks
