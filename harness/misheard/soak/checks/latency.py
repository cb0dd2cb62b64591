"""How long each stage takes, whether it gets slower, and what a reader of partial transcripts sees."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import BoolArray, FloatArray
from misheard.report.labels import count_of
from misheard.soak.checks.base import Answer, never_happened, no_events, signed
from misheard.soak.checks.turns import first_finals
from misheard.soak.events import EventName
from misheard.soak.limits import STAGES, Limits
from misheard.soak.table import IndexArray, Trace
from misheard.stats.exact import clopper_pearson, quantile
from misheard.stats.gate import LATENCY_PROBABILITY, Rule, Status, Tolerance, judge_latency, measure_latency
from misheard.stats.resampling import Interval
from misheard.stats.slopes import least_squares_slope

STAGE_EVENTS: Mapping[str, tuple[EventName, ...]] = {
    "recognize": (EventName.TRANSCRIPT_FINAL, EventName.TRANSCRIPT_EMPTY, EventName.TRANSCRIPT_FAILED),
    "correct": (EventName.CORRECTED, EventName.CORRECTION_FAILED),
    "plan": (EventName.PLAN_ACCEPTED, EventName.PLAN_REJECTED),
    "render": (EventName.OPERATION_APPLIED, EventName.RENDER_FAILED),
    "respond": (EventName.ANSWER_FINISHED, EventName.ANSWER_FAILED),
}
"""The events whose `seconds` are the times of a stage."""

_FAILURES = frozenset(
    {
        EventName.TRANSCRIPT_FAILED, EventName.CORRECTION_FAILED, EventName.ANSWER_FAILED,
        EventName.RENDER_FAILED,
    }
)  # fmt: skip
"""The events of a stage that need not say how long it took."""


def ask_latency(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Judge the 95th percentile of every stage that has times, or a limit of its own."""
    answers: list[Answer] = []
    for stage in STAGES:
        places, seconds = stage_times(trace, stage)
        untimed = _untimed(trace, stage)
        if places.size and untimed.size:
            found = f"{count_of(untimed.size, 'event')} without seconds beside {places.size} with"
            answers.append(
                Answer(Status.NO_EVIDENCE, "missing_times", found, tuple(map(int, untimed)), stage)
            )
        elif places.size:
            answers.append(judge_times(places, seconds, limits.latency(stage), part=stage))
        elif stage in limits.latency_p95_seconds:
            answers.extend(no_events("time", part=stage))
    return tuple(answers) or no_events("event with seconds")


def ask_drift(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Judge by how much the line through a stage's times rises from the first to the last."""
    answers: list[Answer] = []
    for stage in STAGES:
        places, seconds = stage_times(trace, stage)
        if places.size:
            answers.append(_judge_drift(trace, stage, places, seconds, limits.drift_seconds))
    return tuple(answers) or no_events("event with seconds")


def stage_times(trace: Trace, stage: str) -> tuple[IndexArray, FloatArray]:
    """Return the places and the seconds, float64[k], of the events that end a stage."""
    places = trace.places(*STAGE_EVENTS[stage])
    seconds = trace.number("seconds")[places]
    known = ~np.isnan(seconds)
    return places[known], seconds[known]


def _untimed(trace: Trace, stage: str) -> IndexArray:
    """Return the events that should have the seconds of a stage; a failure need not."""
    names = [name for name in STAGE_EVENTS[stage] if name not in _FAILURES]
    places = trace.places(*names)
    return places[np.isnan(trace.number("seconds")[places])]


def judge_times(places: IndexArray, seconds: FloatArray, limit: float, part: str) -> Answer:
    """Judge the 95th percentile of times by its bounds, which hold for any distribution of independent ones.

    Under 59 times there is no upper bound: then they pass where every one is within the limit, and fail where
    the share over it is above 5 % with 95 % confidence.
    """
    figures = measure_latency(seconds)
    over = places[seconds > limit]
    status = judge_latency(figures, 0, limit).status
    reason = {Status.PASS: "within", Status.FAIL: "over"}.get(status, "spans")
    if figures.upper is None:
        if not over.size:
            status, reason = Status.PASS, "every_time_within"
        elif clopper_pearson(over.size, seconds.size, 0.9)[0] > 1.0 - LATENCY_PROBABILITY:
            status, reason = Status.FAIL, "over"
    bounds = None
    found = f"p50 {quantile(seconds, 0.5) or 0.0:.3f} s, p95 {figures.p95 or 0.0:.3f} s"
    if figures.lower is not None and figures.upper is not None:
        bounds = Interval(figures.lower, figures.upper)
        found += f", at most {figures.upper:.3f} s with 95 % confidence"
    found += f", {count_of(seconds.size, 'time')}, {over.size} over; at most {limit:g} s"
    breaches = () if status is Status.PASS else tuple(map(int, over))
    return Answer(
        status, reason, found, breaches, part, int(seconds.size), figures.p95, limit, bounds
    )  # fmt: skip


def _judge_drift(trace: Trace, stage: str, places: IndexArray, seconds: FloatArray, limit: float) -> Answer:
    times = trace.times[places]
    slope = least_squares_slope(times, seconds)
    n = int(places.size)
    if slope is None:
        found = f"{count_of(n, 'time')}"
        return Answer(Status.NO_EVIDENCE, "too_few", found, part=stage, n=n, limit=limit)
    span = float(times[-1] - times[0])
    rise = slope.over(span)
    finding = Tolerance(Rule.AT_MOST, limit, None).judge(rise.interval)
    reason = {Status.PASS: "within", Status.FAIL: "over"}.get(finding.status, "spans")
    found = (
        f"changes by {signed(rise.value, 3)} s in {span:.0f} s, 95% interval {signed(rise.interval.low, 3)}…"
        f"{signed(rise.interval.high, 3)}, {count_of(n, 'time')}; at most +{limit:g} s"
    )
    breaches = (int(places[-1]),) if finding.status is Status.FAIL else ()
    return Answer(finding.status, reason, found, breaches, stage, n, rise.value, limit, rise.interval)


def ask_streaming(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Judge what a reader of partial transcripts sees, pooled over the session."""
    partials = trace.places(EventName.TRANSCRIPT_PARTIAL)
    if not partials.size:
        return never_happened("no partial transcript")
    opened = trace.first_places("turn", EventName.TURN_OPENED)
    # a partial without a word shows nothing
    first_partial = _per_turn(trace, partials[trace.number("words")[partials] > 0][::-1])
    finals = first_finals(trace)
    first_final, last_final = _per_turn(trace, finals[::-1]), _per_turn(trace, finals)
    closed = trace.first_places("turn", EventName.TURN_CLOSED)
    ends = trace.times.copy()
    said = trace.number("speech_end")
    ends[~np.isnan(said)] = said[~np.isnan(said)]
    return (
        _delay("first_partial", trace.times, opened, first_partial, limits.first_partial_p95_seconds, trace),
        _delay("first_final", trace.times, opened, first_final, limits.first_final_p95_seconds, trace),
        _delay("end_of_speech_lag", ends, closed, last_final, limits.end_of_speech_lag_p95_seconds, trace),
        _rewritten(trace, limits.rewritten_share_at_most),
    )


def _per_turn(trace: Trace, places: IndexArray) -> IndexArray:
    """Return, per turn, the last of these places; -1 where there is none."""
    found = np.full(len(trace.id_names["turn"]), -1, dtype=np.int64)
    found[trace.ids["turn"][places]] = places
    return found


def _delay(
    part: str, begins: FloatArray, first: IndexArray, then: IndexArray, limit: float, trace: Trace
) -> Answer:
    """Judge the seconds from one event of a turn to another, which may have come before it."""
    both = (first >= 0) & (then >= 0)
    if not both.any():
        return no_events("turn with both events", part)[0]
    delays = np.maximum(trace.times[then[both]] - begins[first[both]], 0.0)
    return judge_times(then[both], delays, limit, part)


def _rewritten(trace: Trace, limit: float) -> Answer:
    """Judge the share of the words that partials showed which a later partial or the final changed.

    An empty transcript after a partial takes back all that it showed.
    """
    part = "rewritten_words"
    shown = _shown_words(trace)
    if np.isnan(trace.number("words_rewritten")).all():
        return no_events("words_rewritten", part)[0]
    missing = shown.places[np.isnan(shown.rewritten) & (shown.before > 0)]
    if missing.size:
        found = f"{count_of(missing.size, 'event')} after shown words without words_rewritten"
        return Answer(Status.NO_EVIDENCE, "missing_counts", found, tuple(sorted(map(int, missing))), part)
    rewritten = np.nan_to_num(shown.rewritten)
    kept = shown.before - rewritten
    wrong = shown.places[(kept < 0) | (shown.words < kept)]
    if wrong.size:
        found = f"{count_of(wrong.size, 'event')} with more words rewritten or kept than were shown"
        return Answer(Status.NO_EVIDENCE, "contradictory", found, tuple(sorted(map(int, wrong))), part)
    total = float((shown.words - kept)[shown.is_partial].sum())
    changed = float(rewritten.sum())
    if not total:
        return no_events("word shown by a partial", part)[0]
    share = changed / total
    found = f"{changed:g} of {total:g} shown words, {100 * share:.1f}%; at most {100 * limit:g}%"
    status, reason = (Status.FAIL, "over") if share > limit else (Status.PASS, "within")
    breaches = tuple(sorted(map(int, shown.places[rewritten > 0]))) if share > limit else ()
    return Answer(status, reason, found, breaches, part, int(total), share, limit)


@dataclass(frozen=True, slots=True)
class _ShownWords:
    """Transcripts, partial and other, turn by turn and segment by segment, n of them.

    Attributes:
        places: int64[n].
        is_partial: bool[n].
        words: float64[n], in the transcript.
        before: float64[n], in the one before it of the turn or segment; 0 for the first.
        rewritten: float64[n], of `before`; NaN where what follows a partial does not say it.
    """

    places: IndexArray
    is_partial: BoolArray
    words: FloatArray
    before: FloatArray
    rewritten: FloatArray


def _shown_words(trace: Trace) -> _ShownWords:
    partials, empties = (
        trace.places(name) for name in (EventName.TRANSCRIPT_PARTIAL, EventName.TRANSCRIPT_EMPTY)
    )
    places = np.sort(np.concatenate([partials, trace.places(EventName.TRANSCRIPT_FINAL), empties]))
    turn, segment = trace.ids["turn"], trace.ids["segment"]
    # finals alone may have segments; then the partials are of the whole turn
    by_segment = np.isin(turn[places], turn[partials[segment[partials] >= 0]])
    group = np.where(by_segment, segment[places], -1)
    order = np.lexsort((group, turn[places]))
    places, group = places[order], group[order]
    begins = np.concatenate([[True], (np.diff(turn[places]) != 0) | (np.diff(group) != 0)])
    is_partial, is_empty = np.isin(places, partials), np.isin(places, empties)
    words = np.nan_to_num(trace.number("words")[places])
    before = np.where(begins, 0.0, np.concatenate([[0.0], words[:-1]]))
    rewritten = trace.number("words_rewritten")[places]
    follows = ~begins & np.concatenate([[False], is_partial[:-1]])
    rewritten[~follows & np.isnan(rewritten)] = 0.0
    # an empty transcript that follows no partial takes nothing back
    rewritten[is_empty] = np.where(follows, before, 0.0)[is_empty]
    words[is_empty] = np.where(follows, 0.0, before)[is_empty]
    return _ShownWords(places, is_partial, words, before, rewritten)
