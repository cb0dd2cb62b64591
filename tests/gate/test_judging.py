"""What an interval, a count or times say, and what the checks say together; without any file."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from made_up_tables import RATIO, ratio_table
from misheard.gate.verdict import Check, Outcome, decide_outcome
from misheard.stats.compare import compare_tables
from misheard.stats.differences import Difference
from misheard.stats.estimates import Estimate, Estimator
from misheard.stats.gate import (
    Finding,
    Rule,
    Status,
    Tolerance,
    judge_claims,
    judge_difference,
    judge_failures,
    judge_latency,
    judge_rate,
    judge_size,
    measure_latency,
)
from misheard.stats.resampling import Interval

P, F, U, N = Status.PASS, Status.FAIL, Status.INCONCLUSIVE, Status.NO_EVIDENCE


@pytest.mark.parametrize(
    ("rule", "value", "better", "low", "high", "expected"),
    [
        (Rule.MUST_IMPROVE, 0.0, "lower", -0.2, -0.1, P),
        (Rule.MUST_IMPROVE, 0.0, "lower", -0.2, 0.0, U),
        (Rule.MUST_IMPROVE, 0.0, "lower", -0.2, 0.1, U),
        (Rule.MUST_IMPROVE, 0.0, "lower", 0.0, 0.1, U),
        (Rule.MUST_IMPROVE, 0.0, "lower", 0.1, 0.2, F),
        (Rule.MUST_IMPROVE, 0.0, "higher", 0.1, 0.2, P),
        (Rule.MUST_IMPROVE, 0.0, "higher", -0.2, -0.1, F),
        (Rule.MUST_FALL, 0.1, "lower", -0.3, -0.1, P),
        (Rule.MUST_FALL, 0.1, "lower", -0.3, -0.05, U),
        (Rule.MUST_FALL, 0.1, "lower", -0.09, 0.2, F),
        (Rule.MUST_RISE, 0.1, "higher", 0.1, 0.3, P),
        (Rule.MUST_RISE, 0.1, "higher", -0.1, 0.09, F),
        (Rule.MAY_RISE, 0.02, "lower", -0.5, 0.02, P),
        (Rule.MAY_RISE, 0.02, "lower", 0.01, 0.03, U),
        (Rule.MAY_RISE, 0.02, "lower", 0.021, 0.03, F),
        (Rule.MAY_RISE, 0.0, "lower", 0.0, 0.0, P),
        (Rule.MAY_FALL, 0.02, "higher", -0.02, 0.5, P),
        (Rule.MAY_FALL, 0.02, "higher", -0.03, -0.01, U),
        (Rule.MAY_FALL, 0.02, "higher", -0.03, -0.021, F),
        (Rule.AT_MOST, 0.3, "lower", 0.1, 0.3, P),
        (Rule.AT_MOST, 0.3, "lower", 0.1, 0.31, U),
        (Rule.AT_MOST, 0.3, "lower", 0.31, 0.4, F),
        (Rule.AT_LEAST, 0.3, "higher", 0.3, 0.4, P),
        (Rule.AT_LEAST, 0.3, "higher", 0.1, 0.29, F),
        (Rule.AT_LEAST, 0.3, None, 0.2, 0.4, U),
        (Rule.MAY_RISE, 0.02, "lower", math.nan, math.nan, N),
        (Rule.MAY_RISE, 0.02, "lower", -math.inf, 0.0, N),
    ],
)
def test_an_interval_passes_where_all_of_it_is_acceptable_and_fails_where_none_is(
    rule: Rule, value: float, better: str | None, low: float, high: float, expected: Status
) -> None:
    tolerance = Tolerance(rule, value, better)  # type: ignore[arg-type]
    assert tolerance.judge(Interval(low, high)).status is expected


ends = st.floats(-1, 1, allow_nan=False)
tolerances = st.builds(
    Tolerance, st.sampled_from(Rule), st.floats(0, 1, allow_nan=False), st.sampled_from(["lower", "higher"])
)


@given(
    tolerance=tolerances, ends=st.tuples(ends, ends).map(sorted), inside=st.lists(st.floats(0, 1), min_size=1)
)
def test_the_status_of_an_interval_holds_for_every_value_in_it(
    tolerance: Tolerance, ends: list[float], inside: list[float]
) -> None:
    low, high = ends
    status = tolerance.judge(Interval(low, high)).status
    values = [min(max(low + share * (high - low), low), high) for share in inside]
    if status is P:
        assert all(map(tolerance.accepts, values))
    elif status is F:
        assert not any(map(tolerance.accepts, values))
    else:
        assert not (tolerance.accepts(low) and tolerance.accepts(high))


@given(value=st.floats(0, 0.5), more=st.floats(0, 0.5), ends=st.tuples(ends, ends).map(sorted))
def test_a_wider_tolerance_never_blocks_what_a_narrow_one_lets_pass(
    value: float, more: float, ends: list[float]
) -> None:
    interval = Interval(*ends)
    for rule in (Rule.MAY_RISE, Rule.MAY_FALL):
        narrow, wide = (Tolerance(rule, v, None).judge(interval).status for v in (value, value + more))
        assert not (narrow is P and wide is not P)
        assert not (wide is F and narrow is not F)


@pytest.mark.parametrize(
    ("rule", "fits_lower", "fits_higher", "fits_none"),
    [
        (Rule.MUST_IMPROVE, True, True, False),
        (Rule.MUST_FALL, True, False, True),
        (Rule.MUST_RISE, False, True, True),
        (Rule.MAY_RISE, True, False, True),
        (Rule.MAY_FALL, False, True, True),
        (Rule.AT_MOST, True, False, True),
        (Rule.AT_LEAST, False, True, True),
    ],
)
def test_a_tolerance_has_the_direction_of_its_metric(
    rule: Rule, fits_lower: bool, fits_higher: bool, fits_none: bool
) -> None:
    fits = [Tolerance(rule, 0.1, better).fits for better in ("lower", "higher", None)]  # type: ignore[arg-type]
    assert fits == [fits_lower, fits_higher, fits_none]


def difference(a: list[float], b: list[float], sessions: int, total: float = 10.0) -> Difference:
    names = [f"s{n % sessions}" for n in range(len(a))]
    tables = [ratio_table(values, [total] * len(a), names) for values in (a, b)]
    found = compare_tables(*tables, (RATIO,), resamples=200).differences
    return next(one for one in found if one.metric == "ratio")


MAY_RISE = Tolerance(Rule.MAY_RISE, 0.02, "lower")
IMPROVE = Tolerance(Rule.MUST_IMPROVE, 0.0, "lower")


@pytest.mark.parametrize(
    ("items", "sessions", "reason", "status"),
    [
        (49, 12, "too_few_items", U),
        (50, 5, "too_few_units", U),
        (50, 1, "too_few_units", U),
        (50, 6, "acceptable", P),
    ],
)
def test_few_pairs_or_sessions_are_inconclusive_whatever_they_show(
    items: int, sessions: int, reason: str, status: Status
) -> None:
    found = difference([5.0] * items, [1.0] * items, sessions)
    assert judge_difference(found, IMPROVE) == Finding(status, reason)


def test_the_same_on_every_pair_passes_a_guard_and_is_no_improvement() -> None:
    same = difference([n % 4 for n in range(60)], [n % 4 for n in range(60)], 12)
    assert judge_difference(same, Tolerance(Rule.MAY_RISE, 0.0, "lower")) == Finding(P, "same")
    assert judge_difference(same, IMPROVE) == Finding(F, "same")


def test_changes_that_cancel_within_every_session_are_no_interval_of_nothing() -> None:
    changed = [float(n // 12 % 2) for n in range(48)] + [0.5] * 12
    found = difference([0.5] * 60, changed, 12)
    assert found.difference == 0.0
    assert judge_difference(found, MAY_RISE) == Finding(U, "cancels")


def test_undefined_rates_and_no_pairs_are_no_evidence() -> None:
    undefined = difference([0.0] * 60, [0.0] * 60, 12, total=0.0)
    assert judge_difference(undefined, MAY_RISE) == Finding(N, "undefined")
    assert judge_difference(replace(undefined, n=0), MAY_RISE) == Finding(N, "no_pairs")
    defined = difference([1.0] * 60, [2.0] * 60, 12)
    assert judge_difference(replace(defined, intervals=None), MAY_RISE) == Finding(U, "no_interval")


def estimate(values: list[float], sessions: int, total: float = 1.0) -> Estimate:
    names = [f"s{n % sessions}" for n in range(len(values))]
    table = ratio_table(values, [total] * len(values), names)
    return Estimator(table, (RATIO,), resamples=200).estimate(np.ones(len(values), dtype=np.bool_))[0]


def test_what_never_happened_in_a_few_sessions_may_still_happen() -> None:
    never = estimate([0.0] * 60, 12)
    finding, interval = judge_rate(never, Tolerance(Rule.AT_MOST, 0.02, "lower"))
    assert finding.status is U
    assert interval is not None
    assert interval.high == pytest.approx(stats.beta.ppf(0.975, 1, 12))
    many = estimate([0.0] * 400, 400)
    assert judge_rate(many, Tolerance(Rule.AT_MOST, 0.02, "lower"))[0].status is P


def test_a_rate_over_one_without_spread_has_no_interval_to_judge_by() -> None:
    loops = estimate([3.0] * 60, 12)
    assert judge_rate(loops, Tolerance(Rule.AT_MOST, 0.5, "lower"))[0] == Finding(U, "no_variation")


@pytest.mark.parametrize(
    ("values", "sessions", "total", "expected"),
    [([], 1, 1.0, (N, "no_items")), ([0.0] * 60, 12, 0.0, (N, "undefined")),
     ([0.5] * 49, 12, 1.0, (U, "too_few_items")), ([0.5] * 50, 5, 1.0, (U, "too_few_units"))],
)  # fmt: skip
def test_a_rate_without_evidence_passes_nothing(
    values: list[float], sessions: int, total: float, expected: tuple[Status, str]
) -> None:
    finding, interval = judge_rate(estimate(values, sessions, total), Tolerance(Rule.AT_MOST, 1.0, "lower"))
    assert (finding.status, finding.reason) == expected
    assert interval is None


@pytest.mark.parametrize("n", [59, 60, 100, 1000])
def test_latency_bounds_are_the_order_statistics_that_the_binomial_gives(n: int) -> None:
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    figures = measure_latency(values)
    ranks = np.arange(1, n + 1)
    upper = ranks[stats.binom.cdf(ranks - 1, n, 0.95) >= 0.95].min()
    lower = ranks[stats.binom.sf(ranks - 1, n, 0.95) >= 0.95].max()
    assert (figures.lower, figures.upper) == (lower, upper)
    assert figures.lower < figures.p95 <= figures.upper


@pytest.mark.parametrize(
    ("seconds", "missing", "at_most", "expected"),
    [
        ([1.0] * 59, 0, 1.0, (P, "acceptable")),
        ([1.0] * 59, 1, 1.0, (N, "missing_times")),
        ([1.0] * 58, 0, 1.0, (U, "too_few_times")),
        ([], 0, 1.0, (N, "no_times")),
        ([1.0] * 59, 0, 0.9, (F, "unacceptable")),
        ([*[1.0] * 98, 3.0, 3.0], 0, 2.0, (U, "spans")),
    ],
)
def test_a_latency_budget_is_judged_by_bounds_and_never_without_a_time(
    seconds: list[float], missing: int, at_most: float, expected: tuple[Status, str]
) -> None:
    found = judge_latency(measure_latency(np.array(seconds)), missing, at_most)
    assert (found.status, found.reason) == expected


@pytest.mark.parametrize(
    ("failed", "items", "count", "rate", "status"),
    [(0, 10, 0, None, P), (1, 10, 0, None, F), (1, 10, 1, None, P), (1, 10, None, 0.1, P),
     (2, 10, None, 0.1, F), (2, 10, 2, 0.1, F), (2, 10, 1, 0.5, F), (0, 0, 0, None, N)],
)  # fmt: skip
def test_failures_are_counted_against_every_budget(
    failed: int, items: int, count: int | None, rate: float | None, status: Status
) -> None:
    assert judge_failures(failed, items, count, rate).status is status


@pytest.mark.parametrize(("items", "units", "status"), [(0, 0, N), (49, 6, U), (50, 5, U), (50, 6, P)])
def test_a_required_slice_must_be_large_enough(items: int, units: int, status: Status) -> None:
    assert judge_size(items, units, 50, 6).status is status


@pytest.mark.parametrize(
    ("statuses", "p_values", "adjusted", "judged", "whole"),
    [
        ([P, U], [0.02, 0.5], [0.04, 0.5], [P, U], P),
        ([P, U], [0.03, 0.5], [0.06, 0.5], [U, U], U),
        ([P, P, P], [0.01, 0.02, 0.04], [0.03, 0.04, 0.04], [P, P, P], P),
        ([P, P], [0.04, 0.04], [0.08, 0.08], [U, U], U),
        ([P, F], [0.001, 0.001], [0.002, 0.002], [P, F], F),
        ([P, "same"], [0.001, 1.0], [0.002, 1.0], [P, F], P),
        ([U, "same"], [0.5, 1.0], [1.0, 1.0], [U, F], U),
        (["same", "same"], [1.0, 1.0], [1.0, 1.0], [F, F], F),
        ([P, N], [0.001, None], [0.002, 1.0], [P, N], N),
        ([P, P], [0.001, math.nan], [0.002, 1.0], [P, U], P),
        ([U, U], [0.2, 0.9], [0.4, 0.9], [U, U], U),
    ],
)
def test_any_of_several_claims_is_enough_after_adjusting_for_their_number(
    statuses: list[Status | str],
    p_values: list[float | None],
    adjusted: list[float],
    judged: list[Status],
    whole: Status,
) -> None:
    reasons = {P: "acceptable", F: "unacceptable", U: "spans", N: "no_pairs"}
    claims = [
        Finding(F, s) if isinstance(s, str) and s not in reasons else Finding(Status(s), reasons[Status(s)])
        for s in statuses
    ]
    found = judge_claims(claims, p_values)
    assert [finding.status for finding in found[0]] == judged
    assert found[1] == pytest.approx(adjusted)
    assert found[2].status is whole


def check(status: Status, *, decides: bool = True) -> Check:
    return Check("x", "guard", status, "spans", "", decides=decides)


PRECEDENCE = [(N, Outcome.INCOMPLETE), (F, Outcome.NO_SHIP), (U, Outcome.INCONCLUSIVE), (P, Outcome.SHIP)]


@pytest.mark.parametrize("statuses", [s for n in range(6) for s in itertools.combinations(Status, n)])
def test_the_gravest_check_decides_and_nothing_at_all_ships_nothing(statuses: tuple[Status, ...]) -> None:
    expected = next((outcome for status, outcome in PRECEDENCE if status in statuses), Outcome.INCOMPLETE)
    checks = [check(status) for status in statuses]
    assert decide_outcome(checks, ()) is expected
    assert decide_outcome(checks, ["another suite"]) is Outcome.NOT_COMPARABLE
    assert decide_outcome([*checks, check(F, decides=False)], ()) is expected


def test_exit_codes_are_the_documented_ones() -> None:
    assert {str(outcome): outcome.exit_code for outcome in Outcome} == {
        "ship": 0, "no_ship": 1, "inconclusive": 3, "incomplete": 4, "not_comparable": 4,
    }  # fmt: skip
