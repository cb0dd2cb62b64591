from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from made_up_tables import AXES, FAMILIES, RATIO, make_table, ratio_table, with_counts
from misheard.errors import NotComparableError
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, Counts
from misheard.metrics.table import CountTable
from misheard.stats.compare import Comparison, Difference, Unpaired, compare_tables
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


BELOW, ABOVE, ACROSS, ZERO = (-0.2, -0.1), (0.1, 0.2), (-0.1, 0.1), (0.0, 0.0)


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
        (80, 79, "lower", BELOW, ACROSS, Verdict.INCONCLUSIVE),
        (80, 80, "lower", BELOW, ACROSS, Verdict.BETTER),
        (80, 80, "lower", ACROSS, BELOW, Verdict.INCONCLUSIVE),
        (80, 80, "lower", None, BELOW, Verdict.INCONCLUSIVE),
        (80, 80, "lower", (0.0, 0.2), ABOVE, Verdict.INCONCLUSIVE),
        (80, 80, "lower", ZERO, ZERO, Verdict.INCONCLUSIVE),
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


@pytest.mark.parametrize(
    ("n", "units", "bootstrap", "jackknife", "expected"),
    [
        (50, 6, ZERO, ZERO, Verdict.SAME),
        (80, 80, ZERO, None, Verdict.SAME),
        (49, 49, ZERO, ZERO, Verdict.TOO_FEW_ITEMS),
        (50, 5, ZERO, ZERO, Verdict.INCONCLUSIVE),
        (50, 6, ZERO, None, Verdict.INCONCLUSIVE),
        (50, 6, ZERO, ACROSS, Verdict.INCONCLUSIVE),
        (50, 6, BELOW, BELOW, Verdict.BETTER),
    ],
)
def test_identical_pairs_are_the_same_where_there_would_be_a_verdict(
    n: int,
    units: int,
    bootstrap: tuple[float, float] | None,
    jackknife: tuple[float, float] | None,
    expected: Verdict,
) -> None:
    assert decide(n, "lower", intervals(units, bootstrap, jackknife), identical=True) is expected


@pytest.mark.parametrize(
    ("n", "units", "bootstrap", "jackknife", "expected"),
    [
        (50, 6, (-0.02, 0.03), (-0.02, 0.03), Verdict.EQUIVALENT),
        (50, 6, (0.01, 0.03), (0.02, 0.03), Verdict.EQUIVALENT),
        (50, 6, (-0.02, 0.03), (-0.02, 0.05), Verdict.INCONCLUSIVE),
        (50, 6, (-0.05, 0.03), (-0.02, 0.03), Verdict.INCONCLUSIVE),
        (80, 80, (-0.02, 0.03), (-0.02, 0.06), Verdict.EQUIVALENT),
        (50, 6, (-0.07, -0.01), (-0.06, -0.01), Verdict.BETTER),
        (49, 6, (-0.02, 0.03), (-0.02, 0.03), Verdict.TOO_FEW_ITEMS),
        (50, 5, (-0.02, 0.03), (-0.02, 0.03), Verdict.INCONCLUSIVE),
        (50, 6, (-0.02, 0.03), None, Verdict.INCONCLUSIVE),
        (50, 6, ZERO, ZERO, Verdict.INCONCLUSIVE),
    ],
)
def test_equivalence_needs_the_whole_deciding_interval_inside_the_margin(
    n: int,
    units: int,
    bootstrap: tuple[float, float],
    jackknife: tuple[float, float] | None,
    expected: Verdict,
) -> None:
    assert decide(n, "lower", intervals(units, bootstrap, jackknife), margin=0.05) is expected


def test_identical_pairs_are_the_same_whatever_the_margin() -> None:
    zero = intervals(6, ZERO, ZERO)
    assert decide(50, "lower", zero, identical=True, margin=0.05) is Verdict.SAME


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
        has_verdict = difference.n >= 50 and difference.units >= 6
        silent = (Verdict.INCONCLUSIVE, Verdict.TOO_FEW_ITEMS)
        assert difference.sign_flip is not None and difference.sign_flip.p == 1.0
        assert difference.smallest_detectable is None
        assert difference.verdict is Verdict.SAME if has_verdict else difference.verdict in silent
    assert sum(difference.verdict is Verdict.SAME for difference in compared) > 20


def test_changes_that_cancel_in_every_session_are_not_the_same() -> None:
    sessions = [f"s{number // 10}" for number in range(60)]
    a = ratio_table([1] * 60, [10] * 60, sessions)
    b = ratio_table([2, 0, *[1] * 58], [10] * 60, sessions)
    difference = one(compare_tables(a, b, (RATIO,)), "ratio")
    assert (difference.difference, difference.verdict) == (0.0, Verdict.INCONCLUSIVE)
    assert difference.intervals is not None
    assert difference.intervals.deciding == Interval(0.0, 0.0)
    assert one(compare_tables(a, a, (RATIO,)), "ratio").verdict is Verdict.SAME


def test_one_rate_may_be_the_same_while_another_of_its_family_changes() -> None:
    a = make_table(8, 10, error=0.0)
    counts = a.arms[Arm.AUDIO].counts["answer_class"]
    changed = counts.values.copy()
    changed[:40, [1, 3]] = [0, 1]
    changed[:40, 2] = counts.values[:40, 2]
    b = with_counts(a, Arm.AUDIO, "answer_class", Counts(changed, counts.present))
    comparison = compare_tables(a, b, FAMILIES)
    assert one(comparison, "abstention_rate").verdict is Verdict.SAME
    assert one(comparison, "correct_rate").verdict is Verdict.WORSE


def test_rate_that_is_undefined_on_both_sides_of_a_pair_does_not_differ() -> None:
    table = ratio_table([0, *[1] * 59], [0, *[10] * 59], [f"s{number // 10}" for number in range(60)])
    assert one(compare_tables(table, table, (RATIO,)), "ratio").verdict is Verdict.SAME


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


def test_items_outside_the_pairs_are_counted_by_what_kept_them_out() -> None:
    a, b = (ratio_table([1] * 7, [10] * 7, list("uvwxyzz")) for _ in range(2))
    a = losing(a, failed=[0, 1, 4], uncounted=[5])
    b = losing(b, failed=[1, 2, 3], uncounted=[6])
    difference = one(compare_tables(a, b, (RATIO,)), "ratio")
    assert difference.n == 0
    assert difference.unpaired == Unpaired(a_failed=2, b_failed=2, both_failed=1, not_counted=2)
    whole = one(compare_tables(a, a, (RATIO,)), "ratio")
    assert (whole.n, whole.unpaired) == (3, Unpaired(0, 0, 3, 0))


def losing(table: CountTable, failed: Sequence[int], uncounted: Sequence[int]) -> CountTable:
    """Return the table with items that failed, and others to which the rate does not apply."""
    arm = table.arms[Arm.AUDIO]
    counts = arm.counts["ratio"]
    lost = np.isin(np.arange(len(table.items)), [*failed, *uncounted])
    failure = Failure("recognize", FailureKind.ASR_ERROR, "")
    arm = replace(
        arm,
        failures=tuple(failure if place in failed else None for place in range(len(table.items))),
        counts={"ratio": Counts(np.where(lost[:, None], 0.0, counts.values), counts.present & ~lost)},
    )
    return replace(table, arms={Arm.AUDIO: arm})


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


def repeated(values: Sequence[float], sessions: int) -> CountTable:
    """Return shares of which every session has the same ones."""
    numerators = [value for value in values for _ in range(sessions)]
    names = [f"s{number}" for _ in values for number in range(sessions)]
    return ratio_table(numerators, [1.0] * len(numerators), names)


@pytest.mark.parametrize("sessions", [17, 23, 50, 90])
@pytest.mark.parametrize("values", [(0.1, 0.2, 0.7), (0.1, 0.2, 0.3, 0.4, 0.5), (1 / 3, 2 / 3, 0.1)])
def test_what_rounding_alone_makes_of_the_same_shares_is_no_difference(
    values: tuple[float, ...], sessions: int
) -> None:
    a, b = repeated(values, sessions), repeated(values[::-1], sessions)
    difference = one(compare_tables(a, b, (RATIO,), axes={}), "ratio")
    assert difference.difference == 0.0
    assert difference.verdict is Verdict.INCONCLUSIVE
    assert difference.intervals is not None
    assert difference.intervals.deciding == Interval(0.0, 0.0)
    assert difference.intervals.standard_error == 0.0
    assert difference.smallest_detectable is None
    assert difference.sign_flip is not None
    assert difference.sign_flip.p == 1.0
