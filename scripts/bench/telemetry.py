#!/usr/bin/env python3
"""What telemetry costs: a fixed amount of numpy work with and without the sampler beside it.

Contestants take turns, round after round, in an order that moves on each time: no telemetry, and telemetry at
each of the intervals. The work is matrix products in this process; idle child processes stand for the servers
and workers of a run, whose memory and processor time are sampled too. Devices are sampled where the machine
has any. The table shows medians: wall and processor time of the whole process, how much more processor time
it was than without telemetry in the same round, and what the sampler says of itself: its thread's processor
time as a share of one core over the round.

On a machine that others use too, the work's own times differ by more than the sampler takes: the last column
is the figure that a limit can be put on. Exits with 1 where it is 1 % or more.

    scripts/bench/telemetry.py [--rounds 7] [--seconds 5] [--children 4] [--intervals 0.5,0.1]
"""

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import psutil

from misheard.telemetry.facade import Telemetry, TelemetryOptions, describe_devices

LIMIT = 0.01
SIZE = 384


@dataclass
class Rounds:
    """What the rounds of one contestant took."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    more: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    intervals: set[float] = field(default_factory=set)


def work(matrix: npt.NDArray[np.float32], products: int) -> None:
    """Multiply some matrices."""
    for _ in range(products):
        matrix = matrix @ matrix
        matrix /= np.abs(matrix).max()


@contextmanager
def idle_children(count: int) -> Iterator[None]:
    """Keep some processes below this one, which wait."""
    command = [sys.executable, "-c", "input()"]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(count)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def run_round(job: Callable[[], None], interval: float | None, found: Rounds) -> None:
    """Do the work once and note what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    if interval is None:
        job()
    else:
        telemetry = Telemetry(TelemetryOptions(interval_seconds=interval))
        telemetry.start()
        with telemetry.stage("recognize"):
            job()
        result = telemetry.stop()
    found.wall.append(time.perf_counter() - wall)
    found.processor.append(time.process_time() - processor)
    if interval is not None:
        sampler = result.document()["sampler"]
        found.overhead.append(sampler["overhead_share"])
        found.samples.append(sampler["samples"])
        found.intervals.add(sampler["interval_seconds"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0, help="of work in a round, about")
    parser.add_argument("--children", type=int, default=4)
    parser.add_argument("--intervals", default="0.5,0.1")
    options = parser.parse_args()
    contestants: list[float | None] = [None, *(float(text) for text in options.intervals.split(","))]
    matrix = np.random.default_rng(7).standard_normal((SIZE, SIZE)).astype(np.float32)
    work(matrix, 50)
    started = time.perf_counter()
    work(matrix, 200)
    products = max(1, round(200 * options.seconds / (time.perf_counter() - started)))
    found = {contestant: Rounds() for contestant in contestants}
    with idle_children(options.children):
        for number in range(options.rounds):
            turn = number % len(contestants)
            for contestant in [*contestants[turn:], *contestants[:turn]]:
                run_round(lambda: work(matrix, products), contestant, found[contestant])
            for rounds in found.values():
                rounds.more.append(rounds.processor[-1] / found[None].processor[-1] - 1)
    return report(found, options)


def report(found: dict[float | None, Rounds], options: argparse.Namespace) -> int:
    devices = describe_devices()
    named = ", ".join(device["name"] for device in devices["devices"]) or devices.get("reason")
    print(
        f"python {platform.python_version()}, psutil {psutil.__version__}, {psutil.cpu_count()} CPUs, "
        f"{len(psutil.pids())} processes on the machine, {options.children} of the run's; devices: {named}"
    )
    print(f"{options.rounds} rounds\n")
    print("| telemetry | wall | processor | more processor | samples | the thread's share of a core |")
    print("| --- | --- | --- | --- | --- | --- |")
    worst = 0.0
    for interval, rounds in found.items():
        name = "none" if interval is None else f"every {interval:g} s"
        if rounds.intervals - {interval}:
            name += f" (slowed to {max(rounds.intervals):g} s)"
        times = f"{statistics.median(rounds.wall):.3f} s | {statistics.median(rounds.processor):.3f} s"
        if interval is None:
            print(f"| {name} | {times} | | | |")
            continue
        share = statistics.median(rounds.overhead)
        worst = max(worst, share)
        more = f"{100 * statistics.median(rounds.more):+.2f} %"
        samples = round(statistics.median(rounds.samples))
        print(f"| {name} | {times} | {more} | {samples} | {100 * share:.3f} % |")
    return int(worst >= LIMIT)


if __name__ == "__main__":
    sys.exit(main())
