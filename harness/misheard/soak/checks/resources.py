"""What a session takes in and what it holds: audio, memory, queues."""

import numpy as np

from misheard.report.labels import count_of
from misheard.soak.checks.base import Answer, no_events, signed
from misheard.soak.events import QUEUES, EventName
from misheard.soak.limits import Limits
from misheard.soak.table import Trace
from misheard.stats.gate import Rule, Status, Tolerance
from misheard.stats.slopes import least_squares_slope

_MIB = 2.0**20


def ask_audio(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Find audio that nothing received: between two stretches, and before the microphone stopped."""
    places = trace.places(EventName.AUDIO_RECEIVED)
    if not places.size:
        return no_events("audio_received")
    begins, ends = trace.number("audio_from")[places], trace.number("audio_to")[places]
    order = np.argsort(begins, kind="stable")
    reached = np.maximum.accumulate(ends[order])
    stops = trace.places(EventName.MICROPHONE_STOPPED)
    captured = trace.number("audio_to")[stops]
    # the recording begins at 0, and ends where the microphone says, if it says so
    starts = np.concatenate([[0.0], reached])
    next_begins = np.concatenate([begins[order], captured[-1:] if captured.size else [np.nan]])
    gaps = np.nan_to_num(next_begins - starts, nan=0.0)
    at = np.concatenate([places[order], stops[-1:] if stops.size else places[-1:]])
    broken = gaps > limits.audio_gap_seconds
    found = (
        f"{float(reached[-1]):.1f} s of audio, {count_of(int(np.count_nonzero(broken)), 'gap')}, "
        f"the longest {max(float(gaps.max()), 0.0):.2f} s; at most {limits.audio_gap_seconds:g} s"
    )
    breaches = tuple(sorted(map(int, at[broken])))
    status, reason = (Status.FAIL, "over") if breaches else (Status.PASS, "within")
    return (
        Answer(status, reason, found, breaches, n=int(places.size), value=max(float(gaps.max()), 0.0),
               limit=limits.audio_gap_seconds),
    )  # fmt: skip


def ask_memory(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Judge by how much the line through the samples of memory rises from the first to the last."""
    memory = trace.number("memory_bytes")
    places = np.flatnonzero(~np.isnan(memory))
    if not places.size:
        return no_events("sample of memory")
    times = trace.times[places]
    kept = places[times >= times[0] + limits.memory_warm_up_seconds]
    limit = float(limits.memory_rise_bytes)
    slope = least_squares_slope(trace.times[kept], memory[kept])
    if slope is None:
        found = f"{count_of(kept.size, 'sample')} after {limits.memory_warm_up_seconds:g} s of warm-up"
        return (Answer(Status.NO_EVIDENCE, "too_few", found, n=int(kept.size), limit=limit),)
    span = float(trace.times[kept[-1]] - trace.times[kept[0]])
    rise = slope.over(span)
    finding = Tolerance(Rule.AT_MOST, limit, None).judge(rise.interval)
    reason = {Status.PASS: "within", Status.FAIL: "over"}.get(finding.status, "spans")
    breaches = (int(kept[-1]),) if finding.status is Status.FAIL else ()
    low, high = rise.interval.low / _MIB, rise.interval.high / _MIB
    found = (
        f"changes by {signed(rise.value / _MIB, 1)} MiB in {span:.0f} s, "
        f"95% interval {signed(low, 1)}…{signed(high, 1)}, "
        f"{count_of(kept.size, 'sample')}, highest {memory[kept].max() / _MIB:.0f} MiB; "
        f"at most +{limit / _MIB:g} MiB"
    )
    return (
        Answer(finding.status, reason, found, breaches, n=int(kept.size), value=rise.value, limit=limit,
               interval=rise.interval),
    )  # fmt: skip


def ask_queues(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Judge the greatest depth of every queue that was sampled."""
    answers = []
    for stage in QUEUES:
        depths = trace.number(f"queue_{stage}")
        places = np.flatnonzero(~np.isnan(depths))
        if not places.size:
            continue
        deep = places[depths[places] > limits.queue_depth]
        deepest = float(depths[places].max())
        found = f"at most {deepest:g} deep in {count_of(places.size, 'sample')}; at most {limits.queue_depth}"
        status, reason = (Status.FAIL, "over") if deep.size else (Status.PASS, "within")
        answers.append(
            Answer(status, reason, found, tuple(map(int, deep)), part=stage, n=int(places.size),
                   value=deepest, limit=float(limits.queue_depth))
        )  # fmt: skip
    return tuple(answers) or no_events("sample of a queue")
