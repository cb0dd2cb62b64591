"""Mean and peak of what was sampled while a stage ran: pure functions over arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from misheard.telemetry.columns import FloatArray
from misheard.telemetry.energy import Series, counted_joules, inside
from misheard.telemetry.readings import Reading, Reason, none_for, why
from misheard.telemetry.stages import Interval


@dataclass(frozen=True, slots=True)
class Statistic:
    """Mean over the samples of a stage, and the largest of them, in the unit of the figure's name."""

    mean: Reading
    peak: Reading

    def document(self) -> dict[str, Any]:
        """Return it as JSON: `mean` and `peak`, with the reason where they are null."""
        return {
            "mean": self.mean.value,
            "peak": self.peak.value,
            **why(self.mean.reason, self.mean.detail),
        }


def statistic(series: Series, intervals: Sequence[Interval]) -> Statistic:
    """Return mean and peak over the samples that have a value; where some have none, with the reason."""
    mask = inside(series.times, intervals)
    values = series.values[mask]
    known = values[np.isfinite(values)]
    if not len(known):
        missing = series.missing if mask.any() else none_for(Reason.TOO_SHORT)
        return Statistic(missing, missing)
    remark = series.missing if len(known) < len(values) else None
    reason, detail = (None, "") if remark is None else (remark.reason, remark.detail)
    return Statistic(
        Reading(float(known.mean()), reason, detail), Reading(float(known.max()), reason, detail)
    )


def rate_statistic(counter: Series, intervals: Sequence[Interval]) -> Statistic:
    """Return the mean rate of a counter over a stage, and the highest between two samples inside it.

    Processor seconds become cores that were busy.
    """
    if not counter.encloses(intervals):
        missing = counter.why_not()
        return Statistic(missing, missing)
    seconds = sum(interval.seconds for interval in intervals)
    times, values = counter.known
    rates = np.diff(values) / np.diff(times)
    peaks = rates[_adjoining(times, intervals) & np.isfinite(rates)]
    if seconds <= 0 or not len(peaks):
        missing = none_for(Reason.TOO_SHORT)
        return Statistic(missing, missing)
    mean = sum(counted_joules(counter, interval) for interval in intervals) / seconds
    return Statistic(Reading(mean), Reading(float(peaks.max())))


def _adjoining(times: FloatArray, intervals: Sequence[Interval]) -> "np.typing.NDArray[np.bool_]":
    """Return which samples are inside together with the next, with no beginning or end between them."""
    edges = np.sort([edge for interval in intervals for edge in (interval.start, interval.end)])
    passed = np.searchsorted(edges, times, "right")
    return np.asarray(inside(times, intervals)[:-1] & (passed[1:] == passed[:-1]), dtype=np.bool_)


def shares_of_bits(series: Series, intervals: Sequence[Interval]) -> dict[int, float] | Reading:
    """Return for each bit that was ever set the share of samples with it; the reason where there are none."""
    mask = inside(series.times, intervals)
    values = series.values[mask]
    known = values[np.isfinite(values)].astype(np.int64)
    if not len(known):
        return series.missing if mask.any() else none_for(Reason.TOO_SHORT)
    seen = int(np.bitwise_or.reduce(known))
    return {bit: float(np.mean(known >> bit & 1)) for bit in range(seen.bit_length()) if seen >> bit & 1}
