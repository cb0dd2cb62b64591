"""Losses between arms, their shares of the shortfall, and the control arm beside them."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_tables import ANSWERS, FAMILIES, RESPONSE, make_table
from misheard.metrics.base import Arm, Counts
from misheard.metrics.table import ArmTable, CountTable, ItemInfo
from misheard.stats.attribution import Attributor
from misheard.stats.losses import Attribution
from misheard.suite.items import ItemKind

Marks = Sequence[Sequence[int]]
"""Per session, 1 for each answer that is right."""


def answers(**arms: Marks) -> CountTable:
    """Return a table of answers in some arms; a -1 is an answer that is missing."""
    places = [
        (number, place) for number, one in enumerate(next(iter(arms.values()))) for place, _ in enumerate(one)
    ]
    items = tuple(
        ItemInfo(f"s{s}i{i}", ItemKind.SPEECH, f"s{s}", f"session:s{s}", {}, f"{n:064x}")
        for n, (s, i) in enumerate(places)
    )
    tables = {}
    for name, marks in arms.items():
        right = np.array([mark for session in marks for mark in session], dtype=float)
        present = right >= 0
        columns = [np.ones(right.size), right, np.zeros(right.size), 1 - right]
        values = np.where(present[:, None], np.stack(columns, axis=1), 0.0)
        counts = {"answer_class": Counts(values, present)}
        tables[Arm(name)] = ArmTable(Arm(name), (None,) * right.size, counts, {}, {})
    return CountTable(items, tables)


def attribute(table: CountTable, metric: str = "correct_rate") -> Attribution:
    found = Attributor(table, (ANSWERS,), resamples=400).attribute(np.ones(len(table.items), dtype=bool))
    (one,) = [attribution for attribution in found if attribution.metric == metric]
    return one


def split(total: int, right: int, sessions: int) -> Marks:
    return [[1] * right + [0] * (total - right)] * sessions


@st.composite
def marks(draw: st.DrawFn) -> tuple[Marks, Marks]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=8))
    right = st.integers(0, 1)
    audio, transcript = (
        [draw(st.lists(right, min_size=size, max_size=size)) for size in sizes] for _ in range(2)
    )
    return audio, transcript


@given(marks())
@settings(max_examples=60, deadline=None)
def test_losses_and_remainder_make_up_the_shortfall(both: tuple[Marks, Marks]) -> None:
    audio, transcript = both
    for metric in ("correct_rate", "hallucination_rate"):
        found = attribute(answers(audio=audio, transcript=transcript), metric)
        (loss,) = found.losses
        assert loss.part.amount is not None and found.remainder.amount is not None
        assert found.shortfall == pytest.approx(loss.part.amount + found.remainder.amount, abs=1e-12)
        if loss.part.share is not None and found.remainder.share is not None:
            assert loss.part.share + found.remainder.share == pytest.approx(1.0)


def test_a_loss_is_the_transcripts_score_minus_the_audios_and_its_share_is_of_all_that_is_wrong() -> None:
    found = attribute(answers(audio=split(10, 4, 8), transcript=split(10, 7, 8)))
    (loss,) = found.losses
    assert (loss.stage, loss.golden, loss.arm) == ("recognition", Arm.TRANSCRIPT, Arm.AUDIO)
    assert found.shortfall == pytest.approx(0.6)
    assert loss.part.amount == pytest.approx(0.3)
    assert loss.difference.difference == pytest.approx(-0.3)
    assert loss.part.share == pytest.approx(0.5)
    assert found.remainder.amount == pytest.approx(0.3)


def test_equal_sessions_leave_no_doubt_about_a_share() -> None:
    (loss,) = attribute(answers(audio=split(10, 4, 8), transcript=split(10, 7, 8))).losses
    assert loss.part.intervals is not None and loss.part.intervals.deciding is not None
    ends = (loss.part.intervals.deciding.low, loss.part.intervals.deciding.high)
    assert ends == pytest.approx((0.5, 0.5))


def test_interval_of_a_share_is_that_of_a_ratio_of_joint_counts() -> None:
    random = np.random.default_rng(5)
    audio = [list(random.integers(0, 2, 8)) for _ in range(9)]
    transcript = [[one | int(random.random() < 0.5) for one in session] for session in audio]
    (loss,) = attribute(answers(audio=audio, transcript=transcript)).losses
    lost = np.array([sum(t) - sum(a) for a, t in zip(audio, transcript, strict=True)], dtype=float)
    wrong = np.array([8 - sum(a) for a in audio], dtype=float)
    assert loss.part.share == pytest.approx(lost.sum() / wrong.sum())
    # the jackknife of a ratio, written out
    without = np.array([(lost.sum() - one) / (wrong.sum() - w) for one, w in zip(lost, wrong, strict=True)])
    error = np.sqrt(8 / 9 * ((without - without.mean()) ** 2).sum())
    assert loss.part.intervals is not None and loss.part.intervals.jackknife is not None
    half = 2.306004135033371 * error  # t(0.975) with 8 degrees of freedom
    assert loss.part.intervals.jackknife.high == pytest.approx(lost.sum() / wrong.sum() + half)
    # a bootstrap of its own, within the error of two sets of resamples
    picks = random.integers(0, 9, (20_000, 9))
    ratios = lost[picks].sum(axis=1) / wrong[picks].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    assert loss.part.intervals.bootstrap is not None
    assert loss.part.intervals.bootstrap.low == pytest.approx(low, abs=0.04)
    assert loss.part.intervals.bootstrap.high == pytest.approx(high, abs=0.04)


def test_for_a_rate_that_is_better_low_more_of_it_is_a_loss() -> None:
    found = attribute(answers(audio=split(10, 4, 8), transcript=split(10, 7, 8)), "hallucination_rate")
    assert (found.better, found.shortfall) == ("lower", pytest.approx(0.6))
    assert found.losses[0].part.amount == pytest.approx(0.3)
    assert found.losses[0].difference.difference == pytest.approx(0.3)


def test_hearing_that_helps_has_a_negative_loss() -> None:
    found = attribute(answers(audio=split(10, 7, 8), transcript=split(10, 4, 8)))
    assert found.losses[0].part.amount == pytest.approx(-0.3)
    assert found.losses[0].part.share == pytest.approx(-1.0)
    assert found.remainder.share == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("audio", "reason"),
    [
        (split(10, 10, 8), "nothing_lost"),
        (split(10, 4, 5), "whole_not_shown"),
        ([*split(10, 10, 7), [0] + [1] * 9], "whole_not_shown"),
        ([[-1] * 10] * 8, "no_pairs"),
        (split(10, 4, 8), None),
    ],
    ids=["all right", "five sessions", "one wrong answer", "no answers", "defined"],
)
def test_a_share_of_what_is_not_shown_to_be_missing_is_not_defined(audio: Marks, reason: str | None) -> None:
    found = attribute(answers(audio=audio, transcript=[[1] * len(session) for session in audio]))
    (loss,) = found.losses
    assert (loss.part.reason, found.remainder.reason) == (reason, reason)
    assert (loss.part.share is None) == (loss.part.intervals is None) == (reason is not None)


def test_only_items_of_the_whole_chain_are_attributed() -> None:
    audio = [[-1, 0, 1, 1]] * 8
    found = attribute(answers(audio=audio, transcript=[[1, 1, 1, -1]] * 8))
    assert (found.n, found.units) == (16, 8)
    assert found.shortfall == found.losses[0].part.amount == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (None, None),
        (split(10, 7, 8), False),
        ([[1] * 10] * 4 + [[0] * 3 + [1] * 7] * 4, True),
        ([*split(10, 7, 7), [0] * 3 + [1] * 7], False),
    ],
    ids=["no control arm", "identical", "changes much", "another answer each, the same rate"],
)
def test_a_loss_below_the_control_arms_own_difference_is_within_noise(
    control: Marks | None, expected: bool | None
) -> None:
    arms = {"audio": split(10, 5, 8), "transcript": split(10, 7, 8)}
    if control is not None:
        arms["control"] = control
    found = attribute(answers(**arms))
    assert found.losses[0].within_noise is expected
    assert (found.noise is None) == (control is None)


def test_without_a_transcript_arm_nothing_is_attributed() -> None:
    table = answers(audio=split(10, 5, 8))
    assert Attributor(table, (ANSWERS,), 100).attribute(np.ones(80, dtype=bool)) == ()


def test_rates_that_are_neither_better_nor_worse_and_comparisons_of_arms_are_left_out() -> None:
    table = make_table()
    found = Attributor(table, FAMILIES, 100).attribute(np.ones(len(table.items), dtype=bool))
    expected = {
        rate.name for family in (RESPONSE, ANSWERS) for rate in family.rates if rate.better is not None
    }
    assert {attribution.metric for attribution in found} == expected
    assert "abstention_rate" not in expected


def test_a_slice_is_attributed_as_if_it_were_all() -> None:
    whole = answers(audio=[*split(10, 4, 8), *split(10, 1, 8)], transcript=split(10, 8, 16))
    part = Attributor(whole, (ANSWERS,), 400).attribute(np.arange(160) < 80)[0]
    alone = attribute(answers(audio=split(10, 4, 8), transcript=split(10, 8, 8)))
    assert part == alone


def test_a_loss_that_is_undefined_has_no_share_though_the_whole_is_known() -> None:
    # the transcript arm has no answer to divide by, as precision has none where nothing is drawn
    table = answers(audio=split(10, 5, 6), transcript=split(10, 5, 6))
    counts = table.arms[Arm.TRANSCRIPT].counts["answer_class"]
    counts.values[:] = 0.0
    found = attribute(table)
    (loss,) = found.losses
    assert found.shortfall == pytest.approx(0.5)
    assert (loss.part.amount, loss.part.share, loss.part.reason) == (None, None, "undefined")
    assert found.remainder.share is None and found.remainder.reason == "undefined"
