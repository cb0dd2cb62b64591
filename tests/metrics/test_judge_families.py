"""The judge's families: means over what has a score, replies apart."""

from typing import Any

import numpy as np
import pytest

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput, Family, Judgement, ScoredRow
from misheard.metrics.judge import judge_families
from misheard.suite.items import Item, ItemKind

FAILED = Failure("recognize", FailureKind.ASR_ERROR, "")


def row(meaning: Judgement | None, *, kind: ItemKind = ItemKind.SPEECH, **output: Any) -> ScoredRow:
    said = {} if meaning is None else {"meaning": meaning}
    fields = {"transcript": "t", "judgements": said, **output}
    return ScoredRow(Item("q", "a.wav", "r", kind), Arm.AUDIO, ArmOutput(**fields))


ROWS = [
    row(Judgement(80.0, change=4.0, flipped=False)),
    row(Judgement(40.0, change=30.0, flipped=True)),
    row(Judgement(100.0, identical=True)),
    row(Judgement(None, invalid=1)),
    row(None),
    row(None, transcript=None, failure=FAILED),
    row(None, transcript="", failure=FAILED),
    row(Judgement(90.0), kind=ItemKind.NON_SPEECH),
]


def rates(family: Family) -> dict[str, float]:
    counts = family.counts(ROWS)
    sums = counts.values[counts.present].sum(axis=0)
    return {rate.name: float(rate.compute(sums)) for rate in family.rates}


def test_rates_of_scores_and_replies() -> None:
    score, replies = judge_families(("meaning",))
    # the failed row of the policy worst scores 0; what has no score does not count
    assert rates(score) == {"judge_meaning_score": (80 + 40 + 100 + 0) / 4}
    assert rates(replies) == {
        "judge_meaning_invalid_rate": 1 / 3,
        "judge_meaning_flip_rate": 1 / 2,
        "judge_meaning_mean_change": 17.0,
        "judge_meaning_identical_rate": 1 / 4,
    }
    assert score.counts(ROWS).present.tolist() == [True, True, True, False, False, False, True, False]
    assert replies.counts(ROWS).present.tolist() == [True] * 4 + [False] * 4


def test_only_the_score_has_a_direction_and_its_best_value_is_100() -> None:
    found = {rate.name: rate for family in judge_families(("meaning", "answer")) for rate in family.rates}
    assert {name for name, rate in found.items() if rate.better} == {
        "judge_meaning_score",
        "judge_answer_score",
    }
    assert all(found[name].best == 100.0 for name in ("judge_meaning_score", "judge_answer_score"))
    assert judge_families(()) == ()


@pytest.mark.parametrize("family", judge_families(("meaning", "answer")), ids=lambda family: family.name)
def test_events_are_0_or_1_where_a_rate_is_a_proportion(family: Family) -> None:
    values = family.counts(ROWS).values
    for rate in family.rates:
        if rate.proportion is not None:
            assert np.isin(values[:, list(rate.proportion)], (0.0, 1.0)).all()
