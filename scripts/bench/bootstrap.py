#!/usr/bin/env python3
"""The paired bootstrap side by side: misheard, scipy.stats.bootstrap, kaldialign and plain numpy.

The 95 % interval of the difference between two error rates, Σ errors of B / Σ words - Σ errors of A /
Σ words, from counts per utterance (errors of A, errors of B, words), each utterance a unit of its own, with
10,000 resamples. misheard goes the way that a comparison goes: counts, totals of units, sums of resamples,
rates, percentiles. From 16,384 utterances on, `misheard score --ref --hyp` groups utterances with the same
counts, and `compare`, whose metrics share their draws with those of other calls, draws unit by unit.
kaldialign's bootstrap starts from counts too and gives an interval per system and the share of resamples in
which B is better, but no interval of the difference. The last tables resample 24 columns at once.

Contestants take turns, round after round; the tables show medians of wall time and of processor time, which
other jobs on the machine disturb less, and each over that of the first contestant. With 100,000 utterances
the others run fewer resamples, and their times are scaled up to 10,000: the tables say so. After each table
the ends of the intervals are compared, in units of the Monte-Carlo standard error of their difference.

    scripts/bench/bootstrap.py [--rounds 7] [--units 129,2000,100000]
"""

import argparse
import functools
import importlib.metadata
import importlib.util
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from misheard.stats.resampling import (
    PERCENTILES,
    RESAMPLES,
    SEED,
    draw_sample,
    estimate_intervals,
    percentile_errors,
    percentile_interval,
    unit_totals,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEW_RESAMPLES = 500
"""How many the others run with MANY_UNITS units or more."""
MANY_UNITS = 20_000
BATCH_ELEMENTS = 200_000
"""What scipy and numpy hold at a time; more is slower."""
COLUMNS = 24


@dataclass(frozen=True)
class Contestant:
    """A job, how many of the resamples it runs, and the resampled differences that it returns, if any."""

    name: str
    job: Callable[[], FloatArray | None]
    resamples: int = RESAMPLES


def counts(units: int, seed: int = 7) -> tuple[IntArray, IntArray, IntArray]:
    """Return errors of A, errors of B and words of made-up utterances: 15 % errors, B a little better."""
    rng = np.random.default_rng(seed)
    words = rng.integers(5, 41, units)
    a = rng.binomial(words, rng.beta(1.5, 8.5, units))
    return a, np.clip(a + rng.integers(-2, 2, units), 0, None), words


def difference(a: FloatArray, b: FloatArray, words: FloatArray) -> FloatArray:
    """Return the difference of the rates that sums stand for."""
    return b / words - a / words


def machine() -> str:
    """Return what this runs on, in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = models[0] if models else model
    versions = [f"Python {platform.python_version()}"]
    versions += [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "numba", "scipy", "kaldialign")
        if importlib.util.find_spec(name)
    ]
    return f"{model}, {len(os.sched_getaffinity(0))} processors; {', '.join(versions)}"


def with_misheard(a: IntArray, b: IntArray, words: IntArray) -> list[Contestant]:
    """Return the product's way, on all processors and on one, and with all that a comparison shows."""
    values = np.stack([a, b, words], axis=1).astype(np.float64)
    units = np.arange(len(values))

    def resampled(*, group_alike: bool = True) -> FloatArray:
        sums = draw_sample(unit_totals(values, units, len(values)), group_alike=group_alike).resampled
        found = difference(*sums.T)
        percentile_interval(found)
        return found

    def on_one() -> FloatArray:
        processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(processors)})
        try:
            return resampled()
        finally:
            os.sched_setaffinity(0, processors)

    def everything() -> None:
        sample = draw_sample(unit_totals(values, units, len(values)), group_alike=True)
        estimate_intervals(sample, lambda sums: difference(*np.moveaxis(sums, -1, 0)))

    contestants = [
        Contestant("misheard", resampled),
        Contestant("misheard, one processor", on_one),
        Contestant("misheard, with jackknife and Monte-Carlo errors", everything),
    ]
    if len(values) >= MANY_UNITS:
        by_draws = functools.partial(resampled, group_alike=False)
        contestants.append(Contestant("misheard, a draw per unit", by_draws))
    return contestants


def with_numpy(a: IntArray, b: IntArray, words: IntArray, resamples: int) -> Contestant:
    """Return a draw of indices, a gather and a sum."""

    def resampled() -> FloatArray:
        rng = np.random.default_rng(1)
        batch = max(1, BATCH_ELEMENTS // len(a))
        out = np.empty(resamples)
        for start in range(0, resamples, batch):
            drawn = rng.integers(0, len(a), (min(batch, resamples - start), len(a)), dtype=np.int32)
            out[start : start + batch] = difference(*(column[drawn].sum(axis=1) for column in (a, b, words)))
        np.percentile(out, PERCENTILES)
        return out

    return Contestant("numpy", resampled, resamples)


def with_scipy(a: IntArray, b: IntArray, words: IntArray, resamples: int) -> Contestant:
    """Return scipy's bootstrap, as fast as its options make it."""
    from scipy.stats import bootstrap

    def resampled() -> FloatArray:
        found = bootstrap(
            (a, b, words),
            lambda a, b, words, axis: difference(a.sum(axis=axis), b.sum(axis=axis), words.sum(axis=axis)),
            paired=True,
            vectorized=True,
            method="percentile",
            n_resamples=resamples,
            batch=max(1, BATCH_ELEMENTS // len(a)),
            rng=1,
        )
        distribution: FloatArray = found.bootstrap_distribution
        return distribution

    return Contestant("scipy.stats.bootstrap", resampled, resamples)


def with_kaldialign(a: IntArray, b: IntArray, words: IntArray, resamples: int) -> Contestant:
    """Return the loops of `kaldialign.bootstrap_wer_ci`, which start from counts as we do."""
    import _kaldialign

    sides = [list(zip(side.tolist(), words.tolist(), strict=True)) for side in (a, b)]

    def run() -> None:
        for side in sides:
            _kaldialign._get_boostrap_wer_interval(side, replications=resamples, seed=0)
        _kaldialign._get_p_improv(*sides, replications=resamples, seed=0)

    return Contestant("kaldialign, both intervals and the share", run, resamples)


def take_turns(title: str, contestants: list[Contestant], rounds: int) -> None:
    """Print the times of the contestants, and whether their intervals agree."""
    drawn = {contestant.name: contestant.job() for contestant in contestants}
    times: dict[str, list[tuple[float, float]]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            wall, processor = time.perf_counter(), time.process_time()
            contestant.job()
            scale = 1e3 * RESAMPLES / contestant.resamples
            taken = ((time.perf_counter() - wall) * scale, (time.process_time() - processor) * scale)
            times[contestant.name].append(taken)
    medians = {name: np.median(measured, axis=0) for name, measured in times.items()}
    first = medians[contestants[0].name]
    print(f"\n## {title}\n\n| | resamples run | wall ms | ratio | processor ms | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for contestant in contestants:
        wall, processor = medians[contestant.name]
        print(
            f"| {contestant.name} | {contestant.resamples:,} | {wall:,.2f} | {wall / first[0]:.1f} "
            f"| {processor:,.2f} | {processor / first[1]:.1f} |"
        )
    ours = drawn[contestants[0].name]
    for name, theirs in drawn.items():
        if theirs is not None and ours is not None:
            print(f"\n{name}: {agreement(ours, theirs)}", flush=True)


def agreement(ours: FloatArray, theirs: FloatArray) -> str:
    """Return an interval, and how far its ends lie from ours; 4 standard errors are too far."""
    ends, other = np.percentile(theirs, PERCENTILES), np.percentile(ours, PERCENTILES)
    errors = np.hypot(percentile_errors(ours), percentile_errors(theirs))
    distance = np.abs(ends - other) / errors
    if (distance > 4.0).any():
        sys.exit(f"the ends {ends} and {other} differ by {distance} Monte-Carlo standard errors")
    away = "" if ours is theirs else f", {distance[0]:.1f} and {distance[1]:.1f} standard errors away"
    return f"[{ends[0]:+.5f}, {ends[1]:+.5f}]{away}"


def share_of_kaldialign(a: IntArray, b: IntArray, words: IntArray) -> None:
    """Print the share of resamples in which B is better, as both see it."""
    import _kaldialign

    sides = [list(zip(side.tolist(), words.tolist(), strict=True)) for side in (a, b)]
    theirs = _kaldialign._get_p_improv(*sides, replications=RESAMPLES, seed=0)
    totals = np.stack([a, b, words], axis=1).astype(np.float64)
    ours = float((difference(*draw_sample(totals).resampled.T) < 0).mean())
    error = math.sqrt(2 * max(ours * (1 - ours), 1 / RESAMPLES) / RESAMPLES)
    if abs(ours - theirs) > 4 * error:
        sys.exit(f"the shares {ours} and {theirs} differ")
    print(f"\nshare of resamples in which B is better: misheard {ours:.4f}, kaldialign {theirs:.4f}")


def many_columns(units: int, rounds: int) -> None:
    """Print the times of sums of COLUMNS columns over one shared draw."""
    totals = np.random.default_rng(11).integers(0, 31, (units, COLUMNS)).astype(np.float64)

    def with_numpy_gather() -> None:
        rng = np.random.default_rng(1)
        batch = max(1, BATCH_ELEMENTS // units)
        for start in range(0, RESAMPLES, batch):
            drawn = rng.integers(0, units, (min(batch, RESAMPLES - start), units), dtype=np.int32)
            totals[drawn].sum(axis=1)

    def with_weights() -> None:
        rng = np.random.default_rng(1)
        for start in range(0, RESAMPLES, 1_000):
            rng.multinomial(units, np.full(units, 1 / units), size=min(1_000, RESAMPLES - start)) @ totals

    def with_ours() -> None:
        draw_sample(totals, RESAMPLES, SEED)

    take_turns(
        f"sums of {COLUMNS} columns over one shared draw, {units:,} units",
        [
            Contestant("misheard", with_ours),
            Contestant("numpy, gather", with_numpy_gather),
            Contestant("numpy, multinomial counts and a matrix product", with_weights),
        ],
        rounds,
    )


FRESH = """
import sys, time
import numpy as np
totals = np.random.default_rng(1).integers(0, 30, (129, 3)).astype(float)
start = time.perf_counter()
{job}
print(time.perf_counter() - start)
"""
FRESH_JOBS = {
    "misheard": "from misheard.stats.resampling import draw_sample\ndraw_sample(totals)",
    "misheard, compiled": "import misheard_kernels.resampling_parallel\n"
    "from misheard.stats.resampling import draw_sample\ndraw_sample(totals)",
    "scipy.stats.bootstrap": "from scipy.stats import bootstrap\n"
    "bootstrap(tuple(totals.T), lambda a, b, n, axis: (b.sum(axis=axis) - a.sum(axis=axis))"
    "  / n.sum(axis=axis), paired=True, vectorized=True, method='percentile',"
    " n_resamples=10_000, batch=1_550, rng=1)",
}


def fresh_processes(rounds: int) -> None:
    """Print the time of one interval over 129 units in a fresh process, imports included, numpy's not."""
    times: dict[str, list[float]] = {name: [] for name in FRESH_JOBS}
    for _ in range(rounds):
        for name, job in FRESH_JOBS.items():
            command = [sys.executable, "-c", FRESH.format(job=job)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            times[name].append(float(done.stdout))
    print("\n## a fresh process, 129 units, imports included\n\n| | median ms | minimum ms |")
    print("| --- | ---: | ---: |")
    for name, measured in times.items():
        print(
            f"| {name} | {statistics.median(measured) * 1e3:,.0f} | {min(measured) * 1e3:,.0f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--units", default="129,2000,100000", help="numbers of utterances")
    options = parser.parse_args()
    print(machine())
    fresh_processes(min(options.rounds, 5))
    import misheard_kernels.resampling_parallel  # noqa: F401  # what is warm stays warm

    for units in map(int, options.units.split(",")):
        a, b, words = counts(units)
        resamples = RESAMPLES if units < MANY_UNITS else FEW_RESAMPLES
        contestants = with_misheard(a, b, words)
        if importlib.util.find_spec("scipy"):
            contestants.append(with_scipy(a, b, words, resamples))
        if importlib.util.find_spec("kaldialign"):
            contestants.append(with_kaldialign(a, b, words, resamples))
        contestants.append(with_numpy(a, b, words, resamples))
        take_turns(f"{units:,} utterances", contestants, options.rounds)
        if importlib.util.find_spec("kaldialign") and units < MANY_UNITS:
            share_of_kaldialign(a, b, words)
    for units in (129, 2_000):
        many_columns(units, options.rounds)


if __name__ == "__main__":
    main()
