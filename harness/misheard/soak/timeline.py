"""A session over its time: what happened in each of its parts, and where faults and breaches stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import FloatArray
from misheard.soak.checks.latency import stage_times
from misheard.soak.events import QUEUES, EventName
from misheard.soak.limits import STAGES
from misheard.soak.table import IndexArray, Trace
from misheard.soak.verdict import SoakVerdict
from misheard.stats.gate import Status

Counts = tuple[int, ...]
Figures = tuple[float | None, ...]

_REJECTED = (
    EventName.PLAN_REJECTED, EventName.ANSWER_FAILED, EventName.CORRECTION_FAILED, EventName.RENDER_FAILED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StageTimes:
    """How long a stage took, in seconds.

    Attributes:
        p50, worst: per part of the session, None where it ended no work.
        p50_of_all, worst_of_all: of the whole session.
    """

    p50: Figures
    worst: Figures
    p50_of_all: float
    worst_of_all: float


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened once.

    Attributes:
        t: seconds of the session.
        line: of the trace, from 1.
        what: the fault, `server_restarted`, or the id of a check.
        seconds: how long it took; None where nothing says so.
    """

    t: float
    line: int
    what: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A session in n parts of the same length.

    Attributes:
        seconds: time of the last event.
        counts: per kind of event how many each part holds: `opened` and `closed` turns, `finals` with words,
            `empty` and `failed` transcripts, `rejected` plans and failed answers and corrections.
        stages: per stage that has times.
        queue: greatest depth of any queue in each part; None without a sample, and so are the next two.
        memory: most bytes.
        shapes: most shapes on the board.
        faults: what was broken on purpose, in order.
        restarts: of servers, in order.
        breaches: the first event that breaks each failed check, in order.
    """

    seconds: float
    counts: Mapping[str, Counts]
    stages: Mapping[str, StageTimes]
    queue: Figures
    memory: Figures
    shapes: Figures
    faults: tuple[Moment, ...]
    restarts: tuple[Moment, ...]
    breaches: tuple[Moment, ...]


def build_timeline(trace: Trace, judged: SoakVerdict | None, parts: int) -> Timeline:
    """Return a session in `parts` parts; the breaches are those of a verdict on it, if there is one."""
    cut = _Cut(trace, parts)
    finals = trace.places(EventName.TRANSCRIPT_FINAL)
    has_words = trace.number("words")[finals] > 0
    empty = np.concatenate([finals[~has_words], trace.places(EventName.TRANSCRIPT_EMPTY)])
    queues = np.stack([trace.number(f"queue_{stage}") for stage in QUEUES])
    return Timeline(
        seconds=cut.seconds,
        counts={
            "opened": cut.count(trace.places(EventName.TURN_OPENED)),
            "closed": cut.count(trace.places(EventName.TURN_CLOSED)),
            "finals": cut.count(finals[has_words]),
            "empty": cut.count(np.sort(empty)),
            "failed": cut.count(trace.places(EventName.TRANSCRIPT_FAILED)),
            "rejected": cut.count(trace.places(*_REJECTED)),
        },
        stages=dict(_stages(trace, cut)),
        queue=cut.highest(np.fmax.reduce(queues)),
        memory=cut.highest(trace.number("memory_bytes")),
        shapes=cut.highest(trace.number("shapes")),
        faults=tuple(_moment(trace, place, str(kind)) for place, kind in trace.faults),
        restarts=tuple(_restarts(trace)),
        breaches=() if judged is None else tuple(sorted(_breaches(judged), key=lambda moment: moment.t)),
    )


class _Cut:
    """A session cut into parts; the end of the session belongs to the last one."""

    def __init__(self, trace: Trace, parts: int) -> None:
        self._times = trace.times
        self.seconds = float(trace.times[-1])
        # a session without length is its first part
        self._edges = np.linspace(0.0, self.seconds or 1.0, parts + 1)[1:-1]

    def split(self, places: IndexArray) -> list[IndexArray]:
        """Return the places, in order, part by part."""
        return np.split(places, np.searchsorted(self._times[places], self._edges))

    def count(self, places: IndexArray) -> Counts:
        return tuple(part.size for part in self.split(places))

    def highest(self, values: FloatArray) -> Figures:
        """Return the greatest value of each part, given one per event, NaN where there is none."""
        known = np.flatnonzero(~np.isnan(values))
        return tuple(float(values[part].max()) if part.size else None for part in self.split(known))


def _stages(trace: Trace, cut: _Cut) -> Iterator[tuple[str, StageTimes]]:
    seconds = trace.number("seconds")
    for stage in STAGES:
        places, times = stage_times(trace, stage)
        if places.size:
            parts = [seconds[part] for part in cut.split(places)]
            p50 = tuple(float(np.median(part)) if part.size else None for part in parts)
            worst = tuple(float(part.max()) if part.size else None for part in parts)
            yield stage, StageTimes(p50, worst, float(np.median(times)), float(times.max()))


def _moment(trace: Trace, place: int, what: str, seconds: float | None = None) -> Moment:
    return Moment(float(trace.times[place]), int(trace.lines[place]), what, seconds)


def _restarts(trace: Trace) -> Iterator[Moment]:
    took = trace.number("seconds")
    for place in trace.places(EventName.SERVER_RESTARTED):
        known = None if np.isnan(took[place]) else float(took[place])
        yield _moment(trace, int(place), str(EventName.SERVER_RESTARTED), known)


def _breaches(judged: SoakVerdict) -> Iterator[Moment]:
    for check in judged.verdict.checks:
        first = judged.breaches[check.id].first
        if check.status is Status.FAIL and first:
            yield Moment(first[0].t, first[0].line, check.id)
