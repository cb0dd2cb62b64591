"""The clock of a session: it never goes back, and whoever sleeps wakes up."""

import threading
from itertools import pairwise

import pytest

from misheard.soak.replay.clock import SessionClock


class Source:
    """A clock of a machine that shows what it is told to."""

    def __init__(self) -> None:
        self.shows = 1000.0

    def __call__(self) -> float:
        return self.shows


def test_the_session_begins_at_zero_when_it_is_told_to() -> None:
    source = Source()
    clock = SessionClock(source)
    source.shows += 7
    assert clock.now() == 7
    clock.begin()
    assert clock.now() == 0


@pytest.mark.parametrize(
    ("steps", "times"),
    [
        ([1.0, 2.0], [1, 3]),
        ([5.0, -900.0, 1.0], [5, 5, 6]),
        ([1.0, 3600.0, 1.0], [1, 3601, 3602]),
        ([1.0, -0.5, -0.5, 0.25], [1, 1, 1, 1.25]),
    ],
)
def test_time_goes_on_from_where_it_was_when_the_machine_goes_back(
    steps: list[float], times: list[float]
) -> None:
    source = Source()
    clock = SessionClock(source)
    shown = []
    for step in steps:
        source.shows += step
        shown.append(clock.now())
    assert shown == times


@pytest.mark.parametrize(("seconds", "after"), [(30.0, 40.0), (-30.0, 10.0)])
def test_a_jump_is_one_of_the_session_and_time_goes_on_behind_it(seconds: float, after: float) -> None:
    source = Source()
    clock = SessionClock(source)
    source.shows += 10
    clock.jump(seconds)
    assert clock.now() == after
    source.shows += 1
    assert clock.now() == after + 1


def test_durations_do_not_jump() -> None:
    clock = SessionClock()
    before = clock.steady()
    clock.jump(1e6)
    assert 0 <= clock.steady() - before < 1e5


def test_who_sleeps_wakes_up_when_the_clock_jumps_over_the_time() -> None:
    clock = SessionClock()
    woken: list[bool] = []
    sleeper = threading.Thread(
        target=lambda: woken.append(clock.sleep_until(3600, threading.Event())), daemon=True
    )
    sleeper.start()
    clock.jump(7200)
    sleeper.join(60)
    assert woken == [True]


def test_who_sleeps_wakes_up_when_told_to_stop() -> None:
    clock, stop = SessionClock(), threading.Event()
    woken: list[bool] = []
    sleeper = threading.Thread(target=lambda: woken.append(clock.sleep_until(3600, stop)), daemon=True)
    sleeper.start()
    stop.set()
    sleeper.join(60)
    assert woken == [False]
    assert not clock.sleep_until(0, stop)


def test_all_threads_see_the_same_time_that_never_falls() -> None:
    source = Source()
    clock = SessionClock(source)
    steps = [0.1, -5.0, 0.2, 3.0, -0.1, 0.0] * 100
    seen: list[list[float]] = []

    def look() -> None:
        seen.append([clock.now() for _ in range(2_000)])

    watchers = [threading.Thread(target=look) for _ in range(4)]
    for watcher in watchers:
        watcher.start()
    for step in steps:
        source.shows += step
        clock.now()
    for watcher in watchers:
        watcher.join(60)
    assert len(seen) == 4
    assert all(before <= after for times in seen for before, after in pairwise(times))
