"""How sure the rates of files are: intervals of each system, and every two systems compared pair by pair.

Utterances are resampled, or sessions where they are known; all systems share every draw.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from misheard.metrics.base import FloatArray, divide
from misheard.scoring.files import ScoredFiles
from misheard.stats.resampling import Intervals, Sample, draw_samples, estimate_intervals
from misheard.stats.verdict import Verdict, decide


@dataclass(frozen=True, slots=True)
class RateDifference:
    """rate(b) - rate(a) over the same references; a and b are places in the order of the files."""

    a: int
    b: int
    difference: float | None
    intervals: Intervals | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class FileIntervals:
    """Intervals per system and per two systems.

    Attributes:
        units: how many utterances or sessions were resampled.
        by_session: whether they were sessions.
        rates: of each system's rate.
        differences: of every two systems.
    """

    units: int
    by_session: bool
    rates: tuple[Intervals | None, ...]
    differences: tuple[RateDifference, ...]


def file_intervals(scored: ScoredFiles, resamples: int, seed: int) -> FileIntervals:
    """Return the intervals of every system and of every two."""
    n = len(scored.pairs.ids)
    numbers, by_session = _units(scored)
    columns = [
        column
        for system in scored.systems
        for column in (system.score.item_errors, system.score.item_reference_units)
    ]
    sample: Sample | None = None
    if n:
        values = np.stack(columns, axis=1).astype(np.float64)
        everything = np.ones(n, dtype=np.bool_)
        (sample,) = draw_samples([(values, everything)], numbers, resamples, seed, group_alike=True)
    systems = range(len(scored.systems))
    return FileIntervals(
        units=0 if sample is None else sample.units,
        by_session=by_session,
        rates=tuple(
            None if sample is None else estimate_intervals(sample, functools.partial(_rate, system=k))
            for k in systems
        ),
        differences=tuple(_difference(sample, n, a, b) for a, b in itertools.combinations(systems, 2)),
    )


def _rate(sums: FloatArray, system: int) -> FloatArray:
    return divide(sums[..., 2 * system], sums[..., 2 * system + 1])


def _difference(sample: Sample | None, n: int, a: int, b: int) -> RateDifference:
    if sample is None:
        return RateDifference(a, b, None, None, decide(0, "lower", None))

    def difference(sums: FloatArray) -> FloatArray:
        return _rate(sums, b) - _rate(sums, a)

    point = float(difference(sample.sums))
    intervals = estimate_intervals(sample, difference)
    return RateDifference(
        a, b, point if np.isfinite(point) else None, intervals, decide(n, "lower", intervals)
    )


def _units(scored: ScoredFiles) -> tuple[npt.NDArray[np.intp], bool]:
    """Return the resampling unit of each pair, intp[n], and whether sessions are among them."""
    sessions: Sequence[str | None] = scored.pairs.sessions or [None] * len(scored.pairs.ids)
    known: dict[tuple[str, str], int] = {}
    numbers = [
        known.setdefault(("item", identifier) if session is None else ("session", session), len(known))
        for identifier, session in zip(scored.pairs.ids, sessions, strict=True)
    ]
    return np.array(numbers, dtype=np.intp), any(session is not None for session in sessions)
