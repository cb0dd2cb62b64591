from dataclasses import replace

import numpy as np
import pytest

from made_up_tables import AXES, FAMILIES, RATIO, make_table, ratio_table, with_counts
from misheard.errors import NotComparableError
from misheard.metrics.base import Arm, Counts
from misheard.metrics.table import CountTable
from misheard.stats.compare import Comparison, Difference, compare_tables
from misheard.stats.resampling import Interval, Intervals
from misheard.stats.verdict import Verdict, decide


def one(comparison: Comparison, metric: str, arm: Arm = Arm.AUDIO) -> Difference:
    (found,) = [d for d in comparison.differences if (d.metric, d.arm) == (metric, arm)]
    return found


def intervals(
    units: int, bootstrap: tuple[float, float] | None, jackknife: tuple[float, float] | None
) -> Intervals:
    return Intervals(
        units, Interval(*bootstrap) if bootstrap else None, Interval(*jackknife) if jackknife else None, 0, {}
    )


BELOW, ABOVE, ACROSS = (-0.2, -0.1), (0.1, 0.2), (-0.1, 0.1)


@pytest.mark.parametrize(
    ("n", "units", "better", "bootstrap", "jackknife", "expected"),
    [
        (49, 48, "lower", BELOW, BELOW, Verdict.TOO_FEW_ITEMS),
        (50, 5, "lower", BELOW, BELOW, Verdict.INCONCLUSIVE),
        (50, 6, "lower", BELOW, BELOW, Verdict.BETTER),
        (50, 6, "lower", ABOVE, ABOVE, Verdict.WORSE),
        (50, 6, "higher", BELOW, BELOW, Verdict.WORSE),
        (50, 6, "higher", ABOVE, ABOVE, Verdict.BETTER),
        (50, 6, None, ABOVE, ABOVE, Verdict.CHANGED),
        (50, 6, "lower", BELOW, ACROSS, Verdict.INCONCLUSIVE),
        (50, 39, "lower", BELOW, ACROSS, Verdict.INCONCLUSIVE),
        (50, 39, "lower", BELOW, ABOVE, Verdict.INCONCLUSIVE),
        (50, 39, "lower", BELOW, None, Verdict.INCONCLUSIVE),
        (50, 40, "lower", BELOW, ACROSS, Verdict.BETTER),
        (50, 40, "lower", ACROSS, BELOW, Verdict.INCONCLUSIVE),
        (50, 40, "lower", None, BELOW, Verdict.INCONCLUSIVE),
        (50, 40, "lower", (0.0, 0.2), ABOVE, Verdict.INCONCLUSIVE),
        (50, 40, "lower", (0.0, 0.0), (0.0, 0.0), Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_needs_items_units_and_agreeing_intervals(
    n: int,
    units: int,
    better: str | None,
    bootstrap: tuple[float, float] | None,
    jackknife: tuple[float, float] | None,
    expected: Verdict,
) -> None:
    assert decide(n, better, intervals(units, bootstrap, jackknife)) is expected  # type: ignore[arg-type]


def test_system_against_itself_differs_by_exactly_nothing() -> None:
    table = make_table(sessions=8, per_session=10)
    comparison = compare_tables(table, table, FAMILIES, axes=AXES)
    everywhere = [*comparison.differences, *(d for cell in comparison.slices for d in cell.differences)]
    compared = [d for d in everywhere if d.difference is not None and d.units > 1]
    assert len(compared) > 50
    for difference in compared:
        assert difference.difference == 0.0
        assert difference.intervals is not None
        for interval in (difference.intervals.bootstrap, difference.intervals.jackknife):
            assert interval in (None, Interval(0.0, 0.0))
        assert difference.verdict in (Verdict.INCONCLUSIVE, Verdict.TOO_FEW_ITEMS)


def test_clear_improvement_is_better_and_its_mirror_worse() -> None:
    bad, good = make_table(10, 10, error=0.3), make_table(10, 10, error=0.05)
    forward = one(compare_tables(bad, good, FAMILIES), "wer")
    back = one(compare_tables(good, bad, FAMILIES), "wer")
    assert (forward.verdict, back.verdict) == (Verdict.BETTER, Verdict.WORSE)
    assert forward.difference is not None and back.difference == -forward.difference
    assert forward.intervals is not None and forward.intervals.bootstrap is not None
    assert forward.intervals.bootstrap.low < forward.difference < forward.intervals.bootstrap.high < 0


def test_difference_is_made_from_sums_over_pairs_that_both_sides_have() -> None:
    a = ratio_table([1, 2, 3, 4], [10, 20, 30, 40], ["x", "x", "y", "y"])
    b = ratio_table([5, 5, 9, 0], [10, 10, 10, 40], ["x", "x", "y", "y"])
    counts = b.arms[Arm.AUDIO].counts["ratio"]
    b = with_counts(b, Arm.AUDIO, "ratio", Counts(counts.values, np.array([True, True, False, True])))
    difference = one(compare_tables(a, b, (RATIO,)), "ratio")
    assert (difference.n, difference.units) == (3, 2)
    assert difference.a == 7 / 70 and difference.b == 10 / 60
    assert difference.difference == 10 / 60 - 7 / 70


def test_order_of_the_items_does_not_matter() -> None:
    a, b = make_table(seed=1), make_table(seed=2)
    shuffled = shuffle(b, np.random.default_rng(0).permutation(len(b.items)))
    assert compare_tables(a, b, FAMILIES, axes=AXES) == compare_tables(a, shuffled, FAMILIES, axes=AXES)


def shuffle(table: CountTable, order: np.ndarray) -> CountTable:
    arms = {
        name: replace(
            arm,
            failures=tuple(arm.failures[place] for place in order),
            counts={f: Counts(c.values[order], c.present[order]) for f, c in arm.counts.items()},
        )
        for name, arm in table.arms.items()
    }
    return CountTable(tuple(table.items[place] for place in order), arms)


def test_failures_of_either_side_are_counted() -> None:
    a = make_table()
    arm = a.arms[Arm.AUDIO]
    healthy = replace(a, arms={**a.arms, Arm.AUDIO: replace(arm, failures=(None,) * len(a.items))})
    difference = one(compare_tables(a, healthy, FAMILIES), "wer")
    assert (difference.failed_a, difference.failed_b) == (1, 0)


def test_relative_family_counts_failures_of_the_arm_it_compares_with() -> None:
    a = make_table()
    control = one(compare_tables(a, a, FAMILIES), "flip_rate", Arm.CONTROL)
    assert control.failed_a == 0
    failed = a.arms[Arm.AUDIO].failures
    b = replace(a, arms={**a.arms, Arm.TRANSCRIPT: replace(a.arms[Arm.TRANSCRIPT], failures=failed)})
    assert one(compare_tables(a, b, FAMILIES), "flip_rate", Arm.CONTROL).failed_b == 1


def test_arm_of_one_side_alone_is_named_not_compared() -> None:
    a = make_table()
    b = replace(a, arms={arm: table for arm, table in a.arms.items() if arm is not Arm.CONTROL})
    comparison = compare_tables(a, b, FAMILIES)
    assert set(comparison.not_compared) == {
        ("response", Arm.CONTROL),
        ("answer_class", Arm.CONTROL),
        ("propagation", Arm.CONTROL),
    }
    assert all(difference.arm is not Arm.CONTROL for difference in comparison.differences)


def test_declared_empty_cell_is_compared_to_nothing() -> None:
    table = make_table()
    comparison = compare_tables(table, table, FAMILIES, axes=AXES)
    (cell,) = [c for c in comparison.slices if c.value == "5dB"]
    assert cell.items == 0
    assert {(d.n, d.a, d.b, d.difference, d.intervals, d.verdict) for d in cell.differences} == {
        (0, None, None, None, None, Verdict.TOO_FEW_ITEMS)
    }


def test_different_items_are_refused_by_name() -> None:
    a, b = make_table(sessions=6), make_table(sessions=9, per_session=8)
    edited = replace(b.items[3], sha256="f" * 64)
    b = replace(b, items=(*b.items[:3], edited, *b.items[4:]))
    with pytest.raises(NotComparableError) as caught:
        compare_tables(a, b, FAMILIES)
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("  only in B (24): q048, q049")
    assert lines[1].endswith("q067 and 4 more")
    assert lines[2] == "  other audio or truth (1): q003"


def test_comparison_does_not_depend_on_what_is_beside_a_metric() -> None:
    a, b = make_table(seed=1), make_table(seed=2)
    assert one(compare_tables(a, b, FAMILIES), "wer") == one(compare_tables(a, b, FAMILIES[:1]), "wer")
