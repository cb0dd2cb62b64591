"""Turns and their transcripts: nothing lost, blocked, merged or doubled."""

from dataclasses import dataclass

import numpy as np

from misheard.metrics.base import BoolArray
from misheard.report.labels import count_of
from misheard.soak.checks.base import Answer, counted, never_happened, no_events
from misheard.soak.events import EventName
from misheard.soak.limits import Limits
from misheard.soak.table import IndexArray, Trace
from misheard.stats.gate import Status

_OUTCOMES = (EventName.TRANSCRIPT_FINAL, EventName.TRANSCRIPT_EMPTY, EventName.TRANSCRIPT_FAILED)
_RESULTS = (
    EventName.PLAN_ACCEPTED,
    EventName.PLAN_REJECTED,
    EventName.ANSWER_FINISHED,
    EventName.ANSWER_FAILED,
)


@dataclass(frozen=True, slots=True)
class Turns:
    """Per turn, int64[k], the place of its first event of a kind, -1 where there is none.

    Attributes:
        opened, closed: of the turn.
        worded: a final with words; `empty` also holds finals without.
        empty, failed: transcripts.
        outcome: the first of these three.
        result: a plan or an answer, or that there is none.
    """

    opened: IndexArray
    closed: IndexArray
    worded: IndexArray
    empty: IndexArray
    failed: IndexArray
    outcome: IndexArray
    result: IndexArray

    @property
    def counted(self) -> BoolArray:
        """Which turns closed or have an outcome, bool[k]."""
        return (self.closed >= 0) | (self.outcome >= 0)


def turns_of(trace: Trace) -> Turns:
    """Return the turns of a trace, in the order in which they are first named."""
    finals = trace.places(EventName.TRANSCRIPT_FINAL)
    has_words = trace.number("words")[finals] > 0
    wordless = _first(trace, finals[~has_words])
    empty = trace.first_places("turn", EventName.TRANSCRIPT_EMPTY)
    return Turns(
        opened=trace.first_places("turn", EventName.TURN_OPENED),
        closed=trace.first_places("turn", EventName.TURN_CLOSED),
        worded=_first(trace, finals[has_words]),
        empty=np.where((empty < 0) | ((wordless >= 0) & (wordless < empty)), wordless, empty),
        failed=trace.first_places("turn", EventName.TRANSCRIPT_FAILED),
        outcome=trace.first_places("turn", *_OUTCOMES),
        result=trace.first_places("turn", *_RESULTS),
    )


def _first(trace: Trace, places: IndexArray) -> IndexArray:
    first = np.full(len(trace.id_names["turn"]), -1, dtype=np.int64)
    first[trace.ids["turn"][places[::-1]]] = places[::-1]
    return first


def ask_unresolved(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find turns, transcripts and operations that were open when everything was said to be done."""
    stopped, drained = trace.places(EventName.MICROPHONE_STOPPED), trace.places(EventName.DRAINED)
    if not stopped.size or not drained.size:
        return no_events("microphone_stopped and drained")
    if drained[-1] < stopped[-1]:
        return no_events("drained after the microphone stopped")
    end = int(drained[-1])
    turns = turns_of(trace)
    accepted = trace.first_places("operation", EventName.OPERATION_ACCEPTED)
    applied = trace.first_places("operation", EventName.OPERATION_APPLIED)
    total = int(np.count_nonzero(turns.opened >= 0)) + int(np.count_nonzero(accepted >= 0))
    if not total:
        return no_events("turn or operation")
    open_turns, unheard, unanswered = _open_turns(turns, end)
    pending = accepted[(accepted >= 0) & _not_by(applied, end)]
    late = np.arange(end + 1, trace.times.size)
    late = late[np.isin(late, trace.places(*_OUTCOMES, *_RESULTS, EventName.OPERATION_APPLIED))]
    found = (
        f"{count_of(open_turns.size, 'turn')} not closed, {unheard.size} without an outcome, "
        f"{unanswered.size} heard and neither planned nor answered, "
        f"{count_of(pending.size, 'operation')} not applied, {late.size} after drained"
    )
    return counted(found, {*open_turns, *unheard, *unanswered, *pending, *late}, total)


def _open_turns(turns: Turns, end: int) -> tuple[IndexArray, IndexArray, IndexArray]:
    closes = bool((turns.closed >= 0).any())
    not_closed = (turns.opened >= 0) & _not_by(turns.closed, end) & closes
    # a turn that never closed is told once
    began = np.where(turns.closed >= 0, turns.closed, turns.opened)
    unheard = (began >= 0) & _not_by(turns.outcome, end) & ~not_closed
    goes_on = bool((turns.result >= 0).any())
    unanswered = (turns.worded >= 0) & _not_by(turns.result, end) & goes_on
    return turns.opened[not_closed], began[unheard], turns.worded[unanswered]


def _not_by(places: IndexArray, end: int) -> BoolArray:
    late: BoolArray = (places < 0) | (places > end)
    return late


def ask_blocked(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Find failed turns after which the next closed turn had no outcome of its own in time."""
    turns = turns_of(trace)
    if not (turns.failed >= 0).any():
        return never_happened("no transcription failed")
    closed = np.flatnonzero(turns.closed >= 0)
    began = np.where(turns.opened >= 0, turns.opened, turns.closed)[closed]
    order = closed[np.argsort(began, kind="stable")]
    began = np.sort(began)
    breaches, asked = [], 0
    for turn in np.flatnonzero(turns.failed >= 0):
        own = turns.opened[turn] if turns.opened[turn] >= 0 else turns.closed[turn]
        at = int(np.searchsorted(began, own if own >= 0 else turns.failed[turn], side="right"))
        if at == order.size:
            continue
        asked += 1
        following, failed = int(order[at]), int(turns.failed[turn])
        since = trace.times[max(int(turns.closed[following]), failed)]
        outcome = int(turns.outcome[following])
        if outcome < 0 or trace.times[outcome] > since + limits.resolve_seconds:
            breaches.append(int(turns.closed[following]))
    if not asked:
        return never_happened("no turn closed after one that failed")
    found = (
        f"{count_of(asked, 'failed turn')} with a later one, {len(set(breaches))} of those "
        f"without an outcome in {limits.resolve_seconds:g} s"
    )
    return counted(found, set(breaches), asked)


def ask_failed(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Count the turns that failed and have no other transcript."""
    turns = turns_of(trace)
    failed = turns.counted & (turns.failed >= 0) & (turns.worded < 0) & (turns.empty < 0)
    return _share(turns, failed, turns.failed, "failed", limits.failed_share_at_most)


def ask_empty(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Count the turns of which only empty transcripts came."""
    turns = turns_of(trace)
    empty = turns.counted & (turns.empty >= 0) & (turns.worded < 0)
    return _share(turns, empty, turns.empty, "empty", limits.empty_share_at_most)


def _share(turns: Turns, chosen: BoolArray, at: IndexArray, word: str, limit: float) -> tuple[Answer, ...]:
    total, broken = int(np.count_nonzero(turns.counted)), at[chosen]
    if not (turns.outcome >= 0).any():
        return no_events("turn with a transcript, empty or failed")
    return (judge_share(f"{broken.size} of {count_of(total, 'turn')} {word}", broken, total, limit),)


def judge_share(found: str, broken: IndexArray, total: int, limit: float) -> Answer:
    """Judge how many of all turns are broken.

    Args:
        found: the counts, as a clause.
        broken: the event of each broken turn.
        total: turns; not 0.
        limit: of the share.
    """
    share = broken.size / total
    found = f"{found}, {100 * share:.1f}%; at most {100 * limit:g}%"
    breaches = tuple(sorted(map(int, broken))) if share > limit else ()
    status, reason = (Status.FAIL, "over") if share > limit else (Status.PASS, "within")
    return Answer(status, reason, found, breaches, n=total, value=share, limit=limit)


def ask_merged(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Find finals that hold the next turn too: by its audio, or because that turn has no transcript."""
    finals = trace.places(EventName.TRANSCRIPT_FINAL)
    turns = turns_of(trace)
    opened = turns.opened[turns.opened >= 0]
    if not finals.size or opened.size < 2:
        return no_events("final among several opened turns")
    following = _following(trace, turns)
    audio_to, audio_from = trace.number("audio_to"), trace.number("audio_from")
    by_audio, swallowed, asked = [], [], 0
    for place in finals:
        after = int(following[trace.ids["turn"][place]])
        if after < 0:
            continue
        begins = audio_from[turns.opened[after]]
        if np.isnan(begins) and turns.closed[after] >= 0:
            begins = audio_from[turns.closed[after]]
        closed, outcome = int(turns.closed[after]), int(turns.outcome[after])
        asked += closed >= 0 or not np.isnan(audio_to[place] - begins)
        if audio_to[place] > begins + limits.merge_seconds:
            by_audio.append(int(place))
        elif outcome < 0 <= closed < place:
            swallowed.append(int(place))
    if not asked:
        return no_events("turn_closed, and no audio_from and audio_to of turns and finals")
    found = (
        f"{count_of(asked, 'final')} before another turn, {len(by_audio)} with audio of the next turn, "
        f"{len(swallowed)} after a next turn that has no transcript"
    )
    return counted(found, [*by_audio, *swallowed], asked)


def _following(trace: Trace, turns: Turns) -> IndexArray:
    """Return, per turn, the one that opened next; -1 for the last, and for turns that never opened."""
    order = np.flatnonzero(turns.opened >= 0)
    order = order[np.argsort(turns.opened[order], kind="stable")]
    following = np.full(len(trace.id_names["turn"]), -1, dtype=np.int64)
    following[order[:-1]] = order[1:]
    return following


def ask_duplicates(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find finals of a turn, or of a segment of it, that has one already."""
    finals = trace.places(EventName.TRANSCRIPT_FINAL)
    if not finals.size:
        return no_events("final")
    again = np.setdiff1d(finals, first_finals(trace))
    found = f"{count_of(finals.size, 'final')}, {again.size} of what had one already"
    return counted(found, again, int(finals.size))


def first_finals(trace: Trace) -> IndexArray:
    """Return the places of the finals that came first for their turn, or their segment of it, in order."""
    finals = trace.places(EventName.TRANSCRIPT_FINAL)
    keys = np.stack([trace.ids["turn"][finals], trace.ids["segment"][finals]], axis=1)
    firsts: IndexArray = np.sort(finals[np.unique(keys, axis=0, return_index=True)[1]])
    return firsts
