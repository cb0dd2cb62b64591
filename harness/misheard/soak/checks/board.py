"""The board: what was accepted is drawn, in order, and stays until it is taken off."""

import numpy as np

from misheard.metrics.base import BoolArray, FloatArray
from misheard.report.labels import count_of
from misheard.soak.checks.base import Answer, counted, no_events
from misheard.soak.events import EventName, OperationType
from misheard.soak.limits import Limits
from misheard.soak.table import IndexArray, Trace


def ask_order(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find operations applied out of the order of acceptance or numbering, unaccepted, or again."""
    applied = trace.places(EventName.OPERATION_APPLIED)
    accepted = trace.first_places("operation", EventName.OPERATION_ACCEPTED)
    numbers = trace.number("order")
    if not applied.size:
        return no_events("applied operation")
    if not (accepted >= 0).any() and np.isnan(numbers[applied]).all():
        return no_events("accepted operation, and no order of the applied ones")
    own = trace.ids["operation"][applied]
    behind = _falls(np.where(np.isnan(numbers[applied]), -np.inf, numbers[applied]))
    early = np.zeros(applied.size, dtype=np.bool_)
    if (accepted >= 0).any():
        at = accepted[own]
        early = (at < 0) | (at > applied)
        if np.isnan(numbers[applied]).all():
            behind = _falls(np.where(early, -np.inf, at))
    first = np.unique(own, return_index=True)[1]
    again = np.ones(applied.size, dtype=np.bool_)
    again[first] = False
    behind &= ~again
    found = (
        f"{count_of(applied.size, 'operation')} applied, {np.count_nonzero(behind)} after a later one, "
        f"{np.count_nonzero(early)} before being accepted, {np.count_nonzero(again)} again"
    )
    return counted(found, applied[behind | early | again], int(applied.size))


def _falls(values: FloatArray) -> BoolArray:
    """Return which values are smaller than one before them."""
    highest = np.maximum.accumulate(values)
    falls: BoolArray = np.isfinite(values) & (values < highest)
    return falls


def ask_connections(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find connections that were accepted and never drawn."""
    connects = trace.has_type(OperationType.CONNECT)
    accepted = trace.places(EventName.OPERATION_ACCEPTED)
    accepted = accepted[connects[accepted]]
    if not accepted.size:
        return no_events("accepted connection")
    applied = trace.places(EventName.OPERATION_APPLIED)
    applied = applied[connects[applied]]
    drawn = np.isin(trace.ids["operation"][accepted], trace.ids["operation"][applied])
    connection = trace.ids["connection"]
    drawn |= (connection[accepted] >= 0) & np.isin(connection[accepted], connection[applied])
    found = f"{count_of(accepted.size, 'connection')} accepted, {np.count_nonzero(~drawn)} never drawn"
    return counted(found, accepted[~drawn], int(accepted.size))


def ask_shrinking(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find boards that hold fewer shapes than before by more than was removed since."""
    shapes = trace.number("shapes")
    known = np.flatnonzero(~np.isnan(shapes))
    if known.size < 2:
        return no_events("number of shapes twice")
    applied = np.zeros(trace.times.size, dtype=np.bool_)
    applied[trace.places(EventName.OPERATION_APPLIED)] = True
    counts = np.nan_to_num(trace.number("count"), nan=1.0)
    removed = np.cumsum(np.where(applied & trace.has_type(OperationType.REMOVE), counts, 0.0))
    topics = np.cumsum(applied & trace.has_type(OperationType.TOPIC))
    lost = shapes[known[:-1]] - shapes[known[1:]]
    allowed = removed[known[1:]] - removed[known[:-1]]
    unexplained = (lost > allowed) & (topics[known[1:]] == topics[known[:-1]])
    at = known[1:][unexplained]
    gone = float((lost - allowed)[unexplained].sum())
    found = f"{count_of(known.size, 'count')} of shapes, {gone:g} shapes gone without a remove or a topic"
    return counted(found, at, int(known.size))


def ask_ready(trace: Trace, _: Limits) -> tuple[Answer, ...]:
    """Find boards said to be ready while operations were pending, and boards never ready at the end."""
    applied, ready = trace.places(EventName.OPERATION_APPLIED), trace.places(EventName.BOARD_READY)
    if not applied.size:
        return no_events("applied operation")
    early = _ready_too_early(trace, ready)
    last = int(applied[-1])
    unready = [] if ready.size and ready[-1] > last else [last]
    found = (
        f"{count_of(ready.size, 'time')} ready, {len(early)} of them before operations accepted earlier, "
        f"{'ready' if not unready else 'not ready'} after the last operation"
    )
    return counted(found, {*early, *unready}, int(applied.size))


def _ready_too_early(trace: Trace, ready: IndexArray) -> list[int]:
    """Return the ready events that stand between the acceptance of an operation and its application.

    One that names a turn speaks of the operations of that turn, and of those without a turn.
    """
    accepted = trace.first_places("operation", EventName.OPERATION_ACCEPTED)
    applied = trace.first_places("operation", EventName.OPERATION_APPLIED)
    both = (accepted >= 0) & (applied > accepted)
    accepted, applied = accepted[both], applied[both]
    owner, turn = trace.ids["turn"][accepted], trace.ids["turn"][ready]
    pending = np.where(
        turn < 0,
        _pending(ready, accepted, applied),
        _pending(ready, accepted[owner < 0], applied[owner < 0]),
    )
    order = np.argsort(owner, kind="stable")
    accepted, applied, owner = accepted[order], applied[order], owner[order]
    by_turn = np.argsort(turn, kind="stable")
    by_turn = by_turn[turn[by_turn] >= 0]
    for chosen in np.split(by_turn, np.flatnonzero(np.diff(turn[by_turn])) + 1):
        if chosen.size:
            low, high = np.searchsorted(owner, [turn[chosen[0]], turn[chosen[0]] + 1])
            pending[chosen] += _pending(ready[chosen], accepted[low:high], applied[low:high])
    return [int(place) for place in ready[pending > 0]]


def _pending(at: IndexArray, accepted: IndexArray, applied: IndexArray) -> IndexArray:
    """Return how many operations were accepted before each place and applied after it."""
    return np.searchsorted(np.sort(accepted), at) - np.searchsorted(np.sort(applied), at)
