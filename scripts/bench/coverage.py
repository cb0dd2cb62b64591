#!/usr/bin/env python3
"""How often the intervals hold what they should, and how often a gate ships what it should not.

Made-up comparisons of two recognizers are drawn many times over, with the true difference known, and judged
by the product's own functions: sessions of unequal size (log-normal, a median of 12 utterances, at least 3),
about 12 words an utterance, an error rate per session (Beta(3, 17), mean 15 %), an effect of system B that
varies between sessions (log-normal with mean 1, sigma 0.35) and between utterances, and, in 0.4 % of the
utterances of either system, a loop that adds 20 to 79 errors. Four cases: no effect; B worse by exactly the
margin of 1 point; B better by 3 points; B better by 8 points.

Tables: coverage of nominal 95 % intervals of the difference; how often `must: improve` and
`may_rise_by_at_most: 0.01` pass in each case; coverage for shares with few events, alike within sessions;
coverage of the upper bound of the 95th percentile. The numbers in brackets are Monte-Carlo standard errors.
Every data set has a seed of its own, made of the seed printed, the case and its number. Times are quick to
draw, so that there are ten times as many data sets of them.

    scripts/bench/coverage.py [--data-sets 2000] [--sessions 5,8,20,40,80] [--processes N]
                              [--section differences|shares|latency]
"""

import argparse
import itertools
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from bootstrap import machine

from misheard.metrics.base import Arm, Counts, Rate, ScoredRow, divide
from misheard.stats.differences import Difference, Pairs, compare_pairs
from misheard.stats.exact import quantile_upper_bound
from misheard.stats.gate import Rule, Status, Tolerance, judge_difference
from misheard.stats.resampling import (
    RESAMPLES,
    SEED,
    Interval,
    draw_sample,
    estimate_intervals,
    percentile_interval,
    unit_totals,
)

if __name__ == "coverage":
    # numba looks for the package of this name, and finds this file from any script of this folder
    raise ImportError("this is a script and not the package coverage")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

ERROR_RATE = 0.15
MARGIN = 0.01
CASES = {"no effect": 0.0, "worse by 1 point": MARGIN, "better by 3": -0.03, "better by 8": -0.08}
"""The true difference in each case."""

EVENT_RATE = 0.01
GATES = {
    "must: improve": Tolerance(Rule.MUST_IMPROVE, 0.0, "lower"),
    "may_rise_by_at_most: 0.01": Tolerance(Rule.MAY_RISE, MARGIN, "lower"),
}


class Family:
    """Errors over words, as a metric family."""

    name = "wer"
    columns = ("errors", "words")
    arms = (Arm.AUDIO,)
    relative_to = None
    rates = (Rate("wer", "", "lower", lambda sums: divide(sums[..., 0], sums[..., 1])),)

    def counts(self, rows: Sequence[ScoredRow]) -> Counts:
        raise NotImplementedError("the counts are drawn")


@dataclass(frozen=True)
class Drawn:
    """A made-up comparison: counts per utterance, float64[n, 2], and each utterance's session, intp[n]."""

    a: FloatArray
    b: FloatArray
    sessions: IntArray


def draw_sessions(rng: np.random.Generator, sessions: int) -> IntArray:
    """Return the session of each utterance."""
    sizes = np.maximum(3, rng.lognormal(math.log(12), 0.6, sessions).astype(int))
    return np.repeat(np.arange(sessions), sizes)


def draw_comparison(rng: np.random.Generator, sessions: int, difference: float) -> Drawn:
    """Return counts whose expected rates differ by `difference`."""
    session = draw_sessions(rng, sessions)
    utterances = session.size
    words = 1.0 + rng.poisson(11, utterances)
    rate = rng.beta(3, 17, sessions)
    effect = (1 + difference / ERROR_RATE) * rng.lognormal(-(0.35**2) / 2, 0.35, sessions)
    difficulty = rng.lognormal(-(0.5**2) / 2, 0.5, utterances)
    sides = []
    for side_rate in (rate, rate * effect):
        errors = rng.poisson(words * side_rate[session] * difficulty).astype(np.float64)
        loops = rng.random(utterances) < 0.004
        errors[loops] += rng.integers(20, 80, int(loops.sum()))
        sides.append(np.stack([errors, words], axis=1))
    return Drawn(sides[0], sides[1], session)


def compare(drawn: Drawn) -> Difference:
    """Return what `misheard compare` finds over sessions."""
    present = np.ones(len(drawn.a), dtype=np.bool_)
    pairs = Pairs.of(
        Family(), Arm.AUDIO, (Counts(drawn.a, present), Counts(drawn.b, present)), (~present, ~present)
    )
    [difference] = compare_pairs([pairs], drawn.sessions, present, RESAMPLES, SEED)
    return difference


def over_utterances(drawn: Drawn) -> Interval | None:
    """Return the percentile interval that takes every utterance for a unit of its own."""
    sums = draw_sample(np.concatenate([drawn.a, drawn.b], axis=1)).resampled
    interval, _ = percentile_interval(sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1])
    return interval


def judge_one(sessions: int, case: str, number: int) -> dict[str, float]:
    """Return what holds of one data set, 0 or 1 each, and its smallest detectable difference."""
    truth = CASES[case]
    rng = np.random.default_rng([SEED, sessions, list(CASES).index(case), number])
    drawn = draw_comparison(rng, sessions, truth)
    difference = compare(drawn)
    found = {
        name: judge_difference(difference, tolerance).status is Status.PASS
        for name, tolerance in GATES.items()
    }
    if case == "no effect" and difference.intervals is not None:
        found["utterance bootstrap"] = holds(over_utterances(drawn), truth)
        found["session bootstrap"] = holds(difference.intervals.bootstrap, truth)
        found["jackknife, t(G - 1)"] = holds(difference.intervals.jackknife, truth)
        found["what decides"] = holds(difference.intervals.deciding, truth)
        found["sign-flip test, p <= 0.05"] = (
            difference.sign_flip is not None and difference.sign_flip.p <= 0.05
        )
    detectable = difference.smallest_detectable
    return {**found, "smallest detectable": math.nan if detectable is None else detectable}


def holds(interval: Interval | None, truth: float) -> bool:
    """Whether an interval holds the truth; none holds nothing."""
    return interval is not None and interval.low <= truth <= interval.high


def judge_share(sessions: int, case: str, number: int) -> dict[str, float]:
    """Return which intervals hold the true share of a rare event: alike within sessions, or not at all."""
    rng = np.random.default_rng([SEED, sessions, 10, number])
    session = draw_sessions(rng, sessions)
    share = (
        rng.beta(0.5, 0.5 / EVENT_RATE - 0.5, sessions) if case == "alike" else np.full(sessions, EVENT_RATE)
    )
    events = (rng.random(session.size) < share[session]).astype(np.float64)
    totals = unit_totals(np.stack([events, np.ones_like(events)], axis=1), session, sessions)
    found = estimate_intervals(draw_sample(totals), lambda sums: sums[..., 0] / sums[..., 1], (0, 1))
    return {
        "no event": float(events.sum() == 0),
        "session bootstrap": holds(found.bootstrap, EVENT_RATE),
        "jackknife, t(G - 1)": holds(found.jackknife, EVENT_RATE),
        "exact where events are few": holds(found.exact or found.deciding, EVENT_RATE),
    }


def judge_latency(times: int, case: str, number: int) -> dict[str, float]:
    """Return whether the bound holds the true 95th percentile of log-normal or two-humped times."""
    rng = np.random.default_rng([SEED, times, 20, number])
    if case == "log-normal":
        seconds, truth = rng.lognormal(0, 0.8, times), math.exp(0.8 * 1.6448536269514722)
    else:
        slow = rng.random(times) < 0.05
        seconds, truth = np.where(slow, rng.uniform(2, 3, times), rng.uniform(0, 1, times)), 2.0
    bound = quantile_upper_bound(seconds)
    return {"upper bound": bound is not None and bound >= truth}


Judge = Callable[[int, str, int], dict[str, float]]


def judge_block(task: tuple[Judge, int, str, int, int]) -> list[dict[str, float]]:
    """Judge some data sets of a case, in a process of their own."""
    import misheard_kernels.resampling_parallel  # noqa: F401  # thousands of small inputs make a large one

    judge, size, case, start, stop = task
    return [judge(size, case, number) for number in range(start, stop)]


def simulate(
    pool: ProcessPoolExecutor, judge: Judge, sizes: Iterable[int], cases: Iterable[str], data_sets: int
) -> dict[tuple[int, str], dict[str, FloatArray]]:
    """Return the findings of every data set, by size and case."""
    bounds = [*range(0, data_sets, 100), data_sets]
    keys = [(size, case) for size in sizes for case in cases]
    tasks = [
        (judge, size, case, start, stop) for size, case in keys for start, stop in itertools.pairwise(bounds)
    ]
    found: dict[tuple[int, str], list[dict[str, float]]] = {key: [] for key in keys}
    for (_, size, case, _, _), rows in zip(tasks, pool.map(judge_block, tasks), strict=True):
        found[size, case] += rows
    return {
        key: {name: np.array([row[name] for row in rows], float) for name in rows[0]}
        for key, rows in found.items()
    }


def show_share(values: FloatArray) -> str:
    """Return a share in percent with its Monte-Carlo standard error."""
    share = float(values.mean())
    return f"{100 * share:.1f} ({100 * math.sqrt(share * (1 - share) / values.size):.1f})"


def print_table(title: str, columns: Sequence[str], rows: Iterable[tuple[object, Sequence[str]]]) -> None:
    """Print a table in Markdown."""
    print(f"\n## {title}\n\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")
    print(end="", flush=True)


def differences(pool: ProcessPoolExecutor, sizes: Sequence[int], data_sets: int) -> None:
    """Print the coverage of intervals of a difference, and what the gate does."""
    found = simulate(pool, judge_one, sizes, CASES, data_sets)
    methods = ["utterance bootstrap", "session bootstrap", "jackknife, t(G - 1)", "what decides"]
    tested = [*methods, "sign-flip test, p <= 0.05"]
    print_table(
        "Coverage of nominal 95 % intervals, in %, and false alarms of the sign-flip test",
        tested,
        (
            (f"{size} sessions", [show_share(found[size, "no effect"][name]) for name in tested])
            for size in sizes
        ),
    )
    for gate in GATES:
        print_table(
            f"How often `{gate}` passes, in %",
            list(CASES),
            ((f"{size} sessions", [show_share(found[size, case][gate]) for case in CASES]) for size in sizes),
        )
    print_table(
        "Smallest detectable difference, in points: the median over data sets",
        list(CASES),
        ((f"{size} sessions", [show_detectable(found[size, case]) for case in CASES]) for size in sizes),
    )


def show_detectable(found: dict[str, FloatArray]) -> str:
    """Return the median of the smallest detectable differences in points."""
    return f"{100 * np.nanmedian(found['smallest detectable']):.1f}"


def shares(pool: ProcessPoolExecutor, sizes: Sequence[int], data_sets: int) -> None:
    """Print the coverage for shares with few events."""
    cases = ["alike", "independent"]
    found = simulate(pool, judge_share, sizes, cases, data_sets)
    names = list(found[sizes[0], cases[0]])
    print_table(
        f"Coverage for a share of {100 * EVENT_RATE:g} %, in %",
        names,
        (
            (f"{size} sessions, {case}", [show_share(found[size, case][name]) for name in names])
            for case in cases
            for size in sizes
        ),
    )


def latencies(pool: ProcessPoolExecutor, data_sets: int) -> None:
    """Print the coverage of the bound of the 95th percentile; nominal is at least 95 %."""
    sizes, cases = (59, 200, 1_000), ("log-normal", "two humps")
    found = simulate(pool, judge_latency, sizes, cases, data_sets)
    print_table(
        "Coverage of the upper bound of the 95th percentile, in %",
        cases,
        (
            (f"{size:,} times", [show_share(found[size, case]["upper bound"]) for case in cases])
            for size in sizes
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-sets", type=int, default=2_000, help="per number of sessions and case")
    parser.add_argument("--sessions", default="5,8,20,40,80")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--section", choices=["differences", "shares", "latency"], action="append")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sessions.split(",")]
    print(f"{machine()}\n\nseed {SEED}, {options.data_sets:,} data sets a case, {RESAMPLES:,} resamples")
    start = time.perf_counter()
    with ProcessPoolExecutor(options.processes) as pool:
        if not options.section or "differences" in options.section:
            differences(pool, sizes, options.data_sets)
        if not options.section or "shares" in options.section:
            shares(pool, sizes, options.data_sets)
        if not options.section or "latency" in options.section:
            latencies(pool, 10 * options.data_sets)
    print(f"\n{time.perf_counter() - start:.0f} s in {options.processes} processes")


if __name__ == "__main__":
    main()
