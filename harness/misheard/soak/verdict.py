"""From a trace and its limits to the verdict: that of a gate, with the events that break each check."""

from collections.abc import Mapping
from dataclasses import dataclass

from misheard.canonical import sha256_json
from misheard.gate.verdict import MECHANISM, Check, GateVerdict, decide_outcome
from misheard.report.labels import count_of, plain
from misheard.soak.checks.base import REASONS, Answer, MechanismCheck
from misheard.soak.checks.latency import stage_times
from misheard.soak.checks.registry import CHECKS
from misheard.soak.events import EventName
from misheard.soak.limits import STAGES, Limits
from misheard.soak.reading import ReadTrace
from misheard.soak.table import Pointer, Trace
from misheard.stats.gate import Status

MAX_POINTERS = 5
"""Events that are named of those that break a check."""

_NOTHING_HAPPENED = frozenset({"no_events", "never_happened"})


@dataclass(frozen=True, slots=True)
class Breaches:
    """The events that break a check.

    Attributes:
        count: all of them.
        first: where the first MAX_POINTERS stand.
        why: why the check is there.
    """

    count: int
    first: tuple[Pointer, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SoakVerdict:
    """What the checks say of a session.

    Attributes:
        verdict: as a gate has it; `candidate` is the trace, `gate` the limits.
        breaches: per id of a check the events that break it.
        seconds: time of the last event.
        counts: events of each name, of those that the trace has.
    """

    verdict: GateVerdict
    breaches: Mapping[str, Breaches]
    seconds: float
    counts: Mapping[str, int]

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return self.verdict.exit_code


def judge_trace(read: ReadTrace, limits: Limits, trace_name: str, limits_name: str | None) -> SoakVerdict:
    """Ask every check about a trace.

    Args:
        read: the trace.
        limits: what the session may do.
        trace_name: file name of the trace.
        limits_name: file name of the limits; None for the defaults.
    """
    checks: list[Check] = []
    breaches: dict[str, Breaches] = {}
    for mechanism in CHECKS:
        for answer in mechanism.ask(read.trace, limits):
            pointers = tuple(read.trace.point(place) for place in answer.breaches[:MAX_POINTERS])
            check = _check(mechanism, answer, limits, pointers)
            checks.append(check)
            breaches[check.id] = Breaches(len(answer.breaches), pointers, mechanism.why)
    verdict = GateVerdict(
        outcome=decide_outcome(checks, ()),
        gate="default limits" if limits_name is None else plain(limits_name),
        gate_sha256=sha256_json(limits.model_dump(mode="json")),
        candidate=plain(trace_name),
        baseline=None,
        suite=None,
        refusals=(),
        checks=tuple(checks),
        notes=tuple(_notes(read)),
    )
    return SoakVerdict(verdict, breaches, float(read.trace.times[-1]), _counts(read.trace))


def _check(mechanism: MechanismCheck, answer: Answer, limits: Limits, pointers: tuple[Pointer, ...]) -> Check:
    waived = limits.waived.get(mechanism.name)
    is_idle = mechanism.conditional and answer.reason in _NOTHING_HAPPENED
    why = f"{answer.found}: {REASONS[answer.reason]}"
    if pointers:
        rest = len(answer.breaches) - len(pointers)
        more = f" and {rest} more" if rest else ""
        why += f"; {', '.join(map(_place, pointers))}{more}"
    return Check(
        id=mechanism.name if answer.part is None else f"{mechanism.name}/{answer.part}",
        role=MECHANISM,
        status=answer.status if waived is None else Status.WAIVED,
        reason=answer.reason if waived is None else "waived",
        why=why if waived is None else f"{why}; waived: {plain(waived)}",
        decides=waived is not None or not is_idle or mechanism.name in limits.require,
        limit=answer.limit,
        candidate=answer.value,
        interval=answer.interval,
        n=answer.n,
    )


def _place(pointer: Pointer) -> str:
    name = f"{pointer.event} {pointer.id}" if pointer.id is not None else pointer.event
    return f"{name} in line {pointer.line}"


def _counts(trace: Trace) -> dict[str, int]:
    counts = {str(name): int(trace.places(name).size) for name in EventName}
    return {name: count for name, count in counts.items() if count}


def _notes(read: ReadTrace) -> list[str]:
    notes = []
    if read.left_out:
        notes.append(f"{count_of(read.left_out, 'line')} of events that the mapping does not name, left out")
    untimed = [stage for stage in STAGES if not stage_times(read.trace, stage)[0].size]
    if untimed:
        notes.append(f"no times of {', '.join(untimed)}: nothing is said of how long that takes")
    return notes
