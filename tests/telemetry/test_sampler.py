import threading
import time
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from misheard.telemetry import sampler as module
from misheard.telemetry.columns import Columns
from misheard.telemetry.readings import Reading, Reason
from misheard.telemetry.sampler import Sampler


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_columns_keep_values_gaps_and_reasons() -> None:
    columns = Columns()
    columns.add(1.0, {"a": Reading(5.0)})
    columns.add(2.0, {"a": Reading(None, Reason.DEVICE_LOST), "late": Reading(7.0)})
    columns.add(3.0, {"late": Reading(8.0)})
    np.testing.assert_array_equal(columns.values("a"), [5.0, np.nan, np.nan])
    np.testing.assert_array_equal(columns.values("late"), [np.nan, 7.0, 8.0])
    np.testing.assert_array_equal(columns.values("never"), [np.nan] * 3)
    assert columns.reason("a").reason is Reason.DEVICE_LOST
    assert columns.reason("never").reason is Reason.NOT_SAMPLED
    assert set(columns) == {"a", "late"}


@pytest.mark.parametrize("limit", [2, 3, 8, 9])
def test_too_many_samples_are_thinned_out_evenly(limit: int) -> None:
    columns = Columns(max_samples=limit)
    sampler = Sampler(lambda: {"a": Reading(float(len(columns)))}, 1.0, columns)
    for _ in range(100):
        sampler.sample()
        assert len(columns) < limit
    assert sampler.interval_seconds == 2.0**sampler.thinned
    assert sampler.thinned > 3


def test_thinning_keeps_the_first_and_every_second() -> None:
    columns = Columns(max_samples=5)
    for number in range(5):
        columns.add(float(number), {"a": Reading(number * 10.0)})
    assert columns.thin_out()
    np.testing.assert_array_equal(columns.times(), [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(columns.values("a"), [0.0, 20.0, 40.0])
    assert not columns.thin_out()


def test_thread_samples_between_a_first_and_a_last_sample() -> None:
    threads = []

    def read() -> Mapping[str, Reading]:
        threads.append(threading.current_thread())
        return {"a": Reading(1.0)}

    sampler = Sampler(read, 0.005, Columns())
    before = time.monotonic()
    sampler.start()
    wait_until(lambda: len(threads) >= 5)
    sampler.stop()
    times = sampler.columns.times()
    assert before <= times[0]
    assert times[-1] <= time.monotonic()
    assert np.all(np.diff(times) > 0)
    assert len(set(threads)) == 1
    assert threads[0].daemon
    assert sampler.overhead_seconds > 0
    assert sampler.ended is None


def test_a_sampler_that_has_not_begun_can_be_stopped() -> None:
    sampler = Sampler(lambda: {}, 0.005, Columns())
    sampler.stop()
    assert (sampler.is_stuck, sampler.ended, len(sampler.columns)) == (False, None, 0)


def test_missed_samples_are_not_made_up_for() -> None:
    """After a sample that takes many intervals the next comes an interval later, not at once."""
    interval, taken = 0.05, []

    def read() -> Mapping[str, Reading]:
        taken.append(time.monotonic())
        if len(taken) == 2:
            time.sleep(6 * interval)
        return {}

    sampler = Sampler(read, interval, Columns())
    sampler.start()
    wait_until(lambda: len(taken) >= 5)
    sampler.stop()
    assert min(np.diff(taken[:5])) > interval / 2


@pytest.mark.parametrize("failing", [1, 3])
def test_failure_ends_the_sampling_and_says_so(failing: int) -> None:
    count = 0

    def read() -> Mapping[str, Reading]:
        nonlocal count
        count += 1
        if count == failing:
            raise RuntimeError("private detail")
        return {"a": Reading(1.0)}

    sampler = Sampler(read, 0.001, Columns())
    sampler.start()
    wait_until(lambda: sampler.ended is not None)
    sampler.stop()
    assert sampler.ended == "RuntimeError"
    assert len(sampler.columns) == failing - 1
    assert count == failing


def test_costly_sampling_slows_down() -> None:
    def read() -> Mapping[str, Reading]:
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass
        return {}

    sampler = Sampler(read, 0.005, Columns())
    sampler.start()
    wait_until(lambda: sampler.slowed > 0)
    sampler.stop()
    assert sampler.interval_seconds == 0.005 * 2**sampler.slowed
    assert sampler.thinned == 0


@pytest.mark.parametrize("before", [0, 1])
def test_sensor_that_hangs_does_not_hold_the_run_up(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.05)
    release, inside = threading.Event(), threading.Event()
    taken = []

    def read() -> Mapping[str, Reading]:
        if len(taken) == before:
            inside.set()
            release.wait()
        taken.append(1)
        return {"a": Reading(1.0)}

    sampler = Sampler(read, 0.001, Columns())
    sampler.start()
    assert inside.wait(30)
    sampler.stop()
    assert sampler.is_stuck
    assert sampler.ended == "TimeoutError"
    release.set()
    wait_until(lambda: not sampler.is_stuck)
    assert len(sampler.columns) == before
