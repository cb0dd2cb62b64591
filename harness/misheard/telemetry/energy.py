"""Energy of stages, from samples: pure functions over arrays.

A counter of joules is read off at a stage's ends, linearly between the samples that enclose each of them.
Where there is none, power is integrated by the trapezoid rule over the samples inside and the values at the
ends, which are interpolated in the same way. The idle baseline, in watts, times the stage's seconds is what
is taken off.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from misheard.telemetry.columns import FloatArray
from misheard.telemetry.readings import Reading, Reason, none_for
from misheard.telemetry.stages import Interval

Method = Literal["counter", "power"]

MIN_SAMPLES = 2
"""Samples inside a stage that its energy needs; with fewer it would be its neighbours' energy."""

STUCK_JOULES = 10.0
"""A counter that stands still while power says that at least this was used is no counter."""


@dataclass(frozen=True)
class Series:
    """A figure over time: `times` in seconds, ascending, and `values`, NaN where `missing` says why."""

    times: FloatArray
    values: FloatArray
    missing: Reading

    @functools.cached_property
    def known(self) -> tuple[FloatArray, FloatArray]:
        """Return times and values of the samples that have one."""
        there = np.isfinite(self.values)
        return self.times[there], self.values[there]

    def encloses(self, intervals: Sequence[Interval]) -> bool:
        """Whether there is a value before and after each interval."""
        times, _ = self.known
        return bool(len(times)) and all(
            times[0] <= interval.start and interval.end <= times[-1] for interval in intervals
        )

    def why_not(self) -> Reading:
        """Return why it has no value where one is wanted."""
        return self.missing if not np.isfinite(self.values).all() else none_for(Reason.NOT_SAMPLED)


@dataclass(frozen=True, slots=True)
class Energy:
    """Joules of a stage: all of it, and what is left after the idle baseline."""

    method: Method | None
    gross: Reading
    net: Reading

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "method": self.method,
            "gross_joules": self.gross.document(),
            "net_joules": self.net.document(),
        }


def inside(times: FloatArray, intervals: Sequence[Interval]) -> "np.typing.NDArray[np.bool_]":
    """Return which of some times lie in one of the intervals, which may overlap."""
    begun = np.searchsorted(np.sort([interval.start for interval in intervals]), times, "right")
    ended = np.searchsorted(np.sort([interval.end for interval in intervals]), times, "right")
    return np.asarray(begun > ended, dtype=np.bool_)


def no_energy(reading: Reading) -> Energy:
    """Return an energy that is missing for a reason."""
    missing = Reading(None, reading.reason, reading.detail)
    return Energy(None, missing, missing)


def counted_joules(counter: Series, interval: Interval) -> float:
    """Return how far a counter of joules went; it must enclose the interval."""
    times, values = counter.known
    start, end = np.interp([interval.start, interval.end], times, values)
    return float(end - start)


def integrated_joules(power: Series, interval: Interval) -> float:
    """Return the integral of power in watts; it must enclose the interval."""
    times, values = power.known
    first, after = np.searchsorted(times, interval.start, "right"), np.searchsorted(times, interval.end)
    at = np.concatenate([[interval.start], times[first:after], [interval.end]])
    return float(np.trapezoid(np.interp(at, times, values), at))


def choose_method(counter: Series, power: Series | None) -> Method:
    """Return where energy is taken from: the counter, unless that is missing, falls or stands still."""
    times, joules = counter.known
    if len(times) < MIN_SAMPLES or np.any(np.diff(joules) < 0):
        return "power" if power is not None else "counter"
    if power is not None and joules[0] == joules[-1]:
        span = Interval(float(times[0]), float(times[-1]))
        if power.encloses([span]) and integrated_joules(power, span) >= STUCK_JOULES:
            return "power"
    return "counter"


def stage_energy(
    counter: Series, power: Series | None, intervals: Sequence[Interval], baseline: Reading
) -> Energy:
    """Return the energy of a stage, summed over its intervals.

    Args:
        counter: joules since any time.
        power: watts; None where the sensor is a counter alone.
        intervals: of the stage.
        baseline: watts when idle.
    """
    method = choose_method(counter, power)
    series = counter if method == "counter" or power is None else power
    if not series.encloses(intervals):
        return no_energy(series.why_not())
    if np.count_nonzero(inside(series.known[0], intervals)) < MIN_SAMPLES:
        return no_energy(none_for(Reason.TOO_SHORT))
    joules_of = counted_joules if series is counter else integrated_joules
    joules = sum(joules_of(series, interval) for interval in intervals)
    seconds = sum(interval.seconds for interval in intervals)
    return Energy(method, Reading(joules), net_of(joules, seconds, baseline))


def net_of(joules: float, seconds: float, baseline: Reading) -> Reading:
    """Return joules without the idle baseline; a negative figure says that it is one."""
    if baseline.value is None:
        return baseline
    idle = baseline.value * seconds
    net = joules - idle
    # what a rounding takes off is not less than nothing
    return Reading(net, Reason.BELOW_BASELINE if net < -1e-9 * abs(idle) else None)


def mean_watts(energy: Energy, intervals: Sequence[Interval]) -> Reading:
    """Return the mean power of a stage, gross."""
    seconds = sum(interval.seconds for interval in intervals)
    if energy.gross.value is None:
        return energy.gross
    return Reading(energy.gross.value / seconds) if seconds > 0 else none_for(Reason.TOO_SHORT)


def sum_of(readings: Sequence[Reading], empty: Reading) -> Reading:
    """Return a sum that is missing as soon as one of its parts is; `empty` stands for a sum of nothing."""
    if not readings:
        return empty
    missing = next((reading for reading in readings if reading.value is None), None)
    if missing is not None:
        return missing
    total = sum(reading.value for reading in readings if reading.value is not None)
    remark = next((reading.reason for reading in readings if reading.reason is not None), None)
    return Reading(total, remark if total < 0 else None)


def sum_energies(energies: Sequence[Energy], empty: Reading) -> Energy:
    """Return the energy of several devices together; their method where it is the same, `power` where not."""
    methods = {energy.method for energy in energies}
    gross = sum_of([energy.gross for energy in energies], empty)
    net = sum_of([energy.net for energy in energies], empty)
    if gross.value is None:
        return Energy(None, gross, net)
    return Energy("counter" if methods == {"counter"} else "power", gross, net)


def per_amount(reading: Reading, amount: float | None) -> Reading:
    """Return a figure per amount of work, such as joules per audio hour."""
    if reading.value is None:
        return reading
    if not amount:
        return none_for(Reason.NO_WORK)
    return Reading(reading.value / amount, reading.reason, reading.detail)
