"""What is compared, how p-values are adjusted for what stands beside them, and which slice is worst."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from made_up_tables import AXES, FAMILIES, RATIO, make_table, ratio_table
from misheard.errors import InputError
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.stats.compare import (
    Comparison,
    Difference,
    Selection,
    adjust_together,
    compare_tables,
    worst_slices,
)
from misheard.stats.selection import parse_where
from misheard.stats.verdict import Verdict

A, B = make_table(12, 16, error=0.2), make_table(12, 16, seed=2, error=0.1)


def compared(**selection: object) -> Comparison:
    chosen = Selection(**selection)  # type: ignore[arg-type]
    return compare_tables(A, B, FAMILIES, axes=AXES, selection=chosen, resamples=300)


def named(comparison: Comparison, axis: str, value: str, metric: str = "wer") -> Difference:
    (found,) = [
        difference
        for cell in comparison.slices
        if (cell.axis, cell.value) == (axis, value)
        for difference in cell.differences
        if (difference.metric, difference.arm) == (metric, Arm.AUDIO)
    ]
    return found


def part_of(table: CountTable, noise: str) -> CountTable:
    """Return the table with the items of one noise tier alone."""
    places = [place for place, item in enumerate(table.items) if item.conditions["noise"] == noise]
    arms = {
        name: replace(
            arm,
            failures=tuple(arm.failures[place] for place in places),
            counts={
                k: replace(c, values=c.values[places], present=c.present[places])
                for k, c in arm.counts.items()
            },
        )
        for name, arm in table.arms.items()
    }
    return CountTable(tuple(table.items[place] for place in places), arms)


def test_a_filter_is_a_comparison_of_those_items_alone() -> None:
    filtered = compared(where=parse_where("noise=15dB"), metrics=("wer", "correct_rate"))
    alone = compare_tables(
        part_of(A, "15dB"), part_of(B, "15dB"), FAMILIES, axes=AXES,
        selection=Selection(metrics=("wer", "correct_rate")), resamples=300,
    )  # fmt: skip
    assert filtered.differences == alone.differences
    assert (filtered.items, filtered.units, filtered.without_session) == (96, 12, 0)
    assert named(filtered, "noise", "clean").n == 0


def test_chosen_metrics_and_arms_are_what_they_are_beside_all_others() -> None:
    whole, chosen = compared(), compared(metrics=("wer", "correct_rate"), arms=(Arm.AUDIO,))
    names = [(d.metric, d.arm) for d in chosen.differences]
    assert names == [("wer", Arm.AUDIO), ("correct_rate", Arm.AUDIO)]
    assert all(difference in whole.differences for difference in chosen.differences)


def test_combinations_replace_the_single_axes() -> None:
    comparison = compared(by=(("noise", "mic"), ("language",)), metrics=("wer",))
    assert [(cell.axis, cell.value, cell.items) for cell in comparison.slices] == [
        ("noise,mic", "clean,laptop", 48), ("noise,mic", "clean,phone", 48), ("noise,mic", "clean,(none)", 6),
        ("noise,mic", "15dB,laptop", 48), ("noise,mic", "15dB,phone", 48), ("noise,mic", "5dB,laptop", 0),
        ("noise,mic", "5dB,phone", 0), ("language", "en", 192), ("language", None, 6),
    ]  # fmt: skip


def test_margins_are_per_metric() -> None:
    comparison = compared(margins={"wer": 0.9})
    verdicts = {d.metric: (d.verdict, d.margin) for d in comparison.differences if d.arm is Arm.AUDIO}
    assert verdicts["wer"] == (Verdict.EQUIVALENT, 0.9)
    assert verdicts["cer"] == (Verdict.BETTER, None)


def test_axes_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="unknown axis 'nois'"):
        compared(by=(("nois",),))


def test_slices_are_adjusted_within_a_metric_over_those_that_can_give_a_verdict() -> None:
    comparison = compared()
    for place, whole in enumerate(comparison.differences):
        differences = [cell.differences[place] for cell in comparison.slices]
        distinct = {
            cell.items_sha256: difference
            for cell, difference in zip(comparison.slices, differences, strict=True)
            if difference.n >= 50 and difference.units >= 6
        }
        p = [d.sign_flip.p for d in distinct.values() if d.sign_flip is not None]
        expected = dict(zip(distinct, stats.false_discovery_control(p), strict=True)) if p else {}
        for cell, difference in zip(comparison.slices, differences, strict=True):
            if cell.items_sha256 not in expected:
                assert difference.adjusted is None
                continue
            assert difference.adjusted is not None
            assert (difference.adjusted.method, difference.adjusted.tests) == ("benjamini_hochberg", len(p))
            assert difference.adjusted.p == pytest.approx(expected[cell.items_sha256])
        assert whole.adjusted is None


def test_slices_of_the_same_items_are_one_test() -> None:
    items = tuple(replace(item, conditions={"room": "x", "mic": "y"}) for item in A.items)
    a, b = replace(A, items=items), replace(B, items=items)
    comparison = compare_tables(a, b, FAMILIES[:1], resamples=200)
    assert len(comparison.slices) == 2
    assert {d.adjusted.tests for cell in comparison.slices for d in cell.differences if d.adjusted} == {1}


def test_chosen_metrics_of_all_runs_are_adjusted_together() -> None:
    comparisons = [compared(metrics=("wer", "correct_rate")), compared(metrics=("wer", "correct_rate"))]
    arms = (Arm.AUDIO, Arm.TRANSCRIPT)
    together = adjust_together(comparisons, arms)
    tested = [d for c in comparisons for d in c.differences if d.arm in arms and d.sign_flip]
    order = sorted(d.sign_flip.p for d in tested if d.sign_flip)
    assert len(tested) == 6
    for comparison in together:
        for difference in comparison.differences:
            if difference.arm is Arm.CONTROL:
                assert difference.adjusted is None
                continue
            assert difference.adjusted is not None and difference.sign_flip is not None
            steps = [(6 - rank) * p for rank, p in enumerate(order) if p <= difference.sign_flip.p]
            assert difference.adjusted.p == pytest.approx(
                min(1.0, max(steps[: order.index(difference.sign_flip.p) + 1]))
            )
            assert (difference.adjusted.method, difference.adjusted.tests) == ("holm", 6)


def test_the_worst_slice_is_where_b_loses_most_or_gains_least() -> None:
    worst = {(d.metric, d.arm): (cell, d) for cell, d in worst_slices(compared()) if d.difference is not None}
    comparison = compared()
    for (metric, arm), (_, difference) in worst.items():
        rivals = [
            one.difference * (1 if one.better == "lower" else -1)
            for cell in comparison.slices
            for one in cell.differences
            if (one.metric, one.arm) == (metric, arm)
            and one.difference is not None
            and cell.axis != "language"
        ]
        assert difference.better is not None and difference.difference is not None
        assert difference.difference * (1 if difference.better == "lower" else -1) == max(rivals)
    assert ("wer", Arm.AUDIO) in worst and ("abstention_rate", Arm.AUDIO) not in worst


def test_equal_slices_have_no_worst_one() -> None:
    assert worst_slices(compare_tables(A, A, FAMILIES, axes=AXES, resamples=200)) == ()


@pytest.mark.parametrize("effect", [0, 9])
def test_one_session_is_inconclusive_whatever_the_difference(effect: int) -> None:
    a = ratio_table([1] * 60, [10] * 60, ["s"] * 60)
    b = ratio_table([1 + effect] * 60, [10] * 60, ["s"] * 60)
    (difference,) = compare_tables(a, b, (RATIO,), selection=Selection(margins={"ratio": 5.0})).differences
    assert difference.verdict is Verdict.INCONCLUSIVE
    assert difference.sign_flip is not None and difference.sign_flip.p == 1.0
    assert difference.smallest_detectable is None


def test_what_needs_no_draws_does_not_depend_on_the_order_of_sessions() -> None:
    random = np.random.default_rng(4)
    rows = [(random.integers(0, 5), random.integers(0, 5), f"s{n % 10}") for n in range(80)]
    found = []
    for order in (range(80), random.permutation(80)):
        a, b = (
            ratio_table([rows[n][side] for n in order], [7] * 80, [rows[n][2] for n in order])
            for side in (0, 1)
        )
        (difference,) = compare_tables(a, b, (RATIO,), resamples=200).differences
        assert difference.intervals is not None
        found.append((difference.sign_flip, difference.intervals.jackknife, difference.smallest_detectable))
    assert found[0][0] == found[1][0]
    for one, other in ((found[0][1], found[1][1]),):
        assert one is not None and other is not None
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)
    assert found[0][2] == pytest.approx(found[1][2])
