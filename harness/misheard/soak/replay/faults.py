"""Faults of a replay: what goes wrong on purpose, each once, at a second of the session's audio."""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from misheard.errors import InputError
from misheard.failures import FailureKind
from misheard.soak.events import FaultKind
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.full_disk import FullDisk
from misheard.soak.replay.server_process import StoppedServer, is_running, kill

LONGEST_FAULT_SECONDS = 86_400.0

_LASTING = frozenset(
    {FaultKind.SLOW_SERVER, FaultKind.STALLED_AUDIO, FaultKind.CLOCK_JUMP, FaultKind.DISK_FULL}
)
_OF_SERVER = frozenset({FaultKind.SLOW_SERVER, FaultKind.SERVER_CRASH})
_ELSEWHERE = frozenset({FaultKind.STALLED_AUDIO, FaultKind.CLOCK_JUMP, FaultKind.DISK_FULL})
"""What goes wrong in neither server nor turn."""
_OF_TURN = {
    FaultKind.RECOGNIZER_ERROR: FailureKind.ASR_ERROR,
    FaultKind.RECOGNIZER_TIMEOUT: FailureKind.TIMEOUT,
}
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_FAULT = re.compile(f"([a-z_]{{1,40}})@({_NUMBER})(?:([+-])({_NUMBER}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        kind: what.
        at: second of the session's audio at which it begins; a fault of a turn befalls the first turn whose
            audio ends there or later.
        seconds: how long it lasts, or how far the clock jumps, negative where it jumps back; None where it
            has no length.
    """

    kind: FaultKind
    at: float
    seconds: float | None = None

    def __str__(self) -> str:
        lasting = "" if self.seconds is None else _plainly(self.seconds, "+")
        return f"{self.kind}@{_plainly(self.at)}{lasting}"


def _plainly(seconds: float, sign: str = "") -> str:
    """Return seconds as an option gives them, without an exponent."""
    return f"{seconds:{sign}.6f}".rstrip("0").rstrip(".")


def parse_fault(text: str) -> Fault:
    """Return the fault that an option names: `server_crash@120`, `stalled_audio@60+5`, `clock_jump@60-3600`.

    Raises InputError, which names --fault.
    """
    kinds = ", ".join(FaultKind)
    match = _FAULT.fullmatch(text)
    if match is None:
        raise InputError(
            f"--fault {text[:60]!a}: must be KIND@SECONDS or KIND@SECONDS+DURATION, such as "
            "server_crash@120, stalled_audio@60+5 or, for a clock that jumps back, clock_jump@60-3600; "
            f"kinds are {kinds}"
        )
    name, at, sign, seconds = match.groups()
    if name not in set(FaultKind):
        raise InputError(f"--fault {text}: there is no {name}; kinds are {kinds}")
    fault = Fault(FaultKind(name), float(at), None if seconds is None else float(sign + seconds))
    if problem := _problem_of_seconds(fault):
        raise InputError(f"--fault {text}: {problem}")
    return fault


def check_faults(
    faults: Iterable[Fault], *, session_seconds: float, restarts: int | None, has_plan_replies: bool
) -> None:
    """Check that every fault can happen in a session, and that the session can survive it.

    Args:
        faults: of one session.
        session_seconds: how long its audio is.
        restarts: how often the session's own server may be started again; None where
            there is no such server.
        has_plan_replies: whether plans are read from replies of a language model.

    Raises InputError, which names --fault and the first that cannot.
    """
    crashes = 0
    for fault in faults:
        crashes += fault.kind is FaultKind.SERVER_CRASH
        problem = None
        if fault.at >= session_seconds:
            problem = f"the session is over by then; it has {session_seconds:.10g} seconds"
        elif fault.kind in _OF_SERVER and restarts is None:
            problem = "the session starts no server; that takes a model or recognizer of kind: vllm"
        elif fault.kind is FaultKind.MALFORMED_PLAN and not has_plan_replies:
            problem = "no language model makes plans here; that takes plan.kind: language_model"
        elif restarts is not None and crashes > restarts:
            problem = f"the session would end there; soak.restarts allows {restarts} crashes"
        if problem:
            raise InputError(f"--fault {fault}: {problem}")


class FaultPlan:
    """Lets each fault happen once; the `Faults` of a pipeline. A context manager that ends what still lasts.

    Faults of a server wait until one serves. `emit` is told the kind of a fault just before it happens.
    `serving_pid` returns the process id of the session's own server, None while none serves.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        *,
        clock: Clock,
        disk: FullDisk,
        emit: Callable[[FaultKind], None],
        serving_pid: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._disk = disk
        self._emit = emit
        self._serving_pid = serving_pid
        self._stopped = StoppedServer()
        self._crashed: int | None = None
        """The process that was killed last: it may take a moment to be gone."""
        self._lock = threading.Lock()
        # a stall holds up what comes after it
        self._pending = sorted(faults, key=lambda fault: (fault.at, fault.kind is FaultKind.STALLED_AUDIO))

    @property
    def pending(self) -> tuple[Fault, ...]:
        """The faults that have not happened, in the order of their time."""
        with self._lock:
            return tuple(self._pending)

    def before_chunk(self, start: float, stop: threading.Event) -> None:
        """Begin what is due at this second of the audio; a stall is waited for, until `stop` is set."""
        while fault := self._take(_ELSEWHERE, start):
            self._begin(fault, stop)
        while self._is_due(_OF_SERVER, start):
            pid = self._serving_pid()
            if pid is None or pid == self._crashed or not is_running(pid):
                return
            if fault := self._take(_OF_SERVER, start):
                self._break_server(fault, pid)

    def recognizing(self, turn: str, audio_to: float) -> FailureKind | None:
        """Return why a turn, whose audio ends at that second, is not recognized; None where it is."""
        fault = self._take(_OF_TURN, audio_to)
        if fault is None:
            return None
        self._emit(fault.kind)
        return _OF_TURN[fault.kind]

    def plan_reply(self, turn: str, audio_to: float, text: str) -> str:
        """Return the reply that a plan is read from: the real one, or its first half, which is no JSON."""
        fault = self._take((FaultKind.MALFORMED_PLAN,), audio_to)
        if fault is None:
            return text
        self._emit(fault.kind)
        reply = text.strip()
        return reply[: len(reply) // 2]

    def close(self) -> None:
        """Let a server that is stopped go on, and free the disk; what has not happened will not."""
        self._stopped.resume()
        self._disk.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, fault: Fault, stop: threading.Event) -> None:
        self._emit(fault.kind)
        seconds = fault.seconds or 0.0
        if fault.kind is FaultKind.STALLED_AUDIO:
            self._clock.sleep_until(self._clock.now() + seconds, stop)
        elif fault.kind is FaultKind.CLOCK_JUMP:
            self._clock.jump(seconds)
        else:
            self._disk.fill(seconds)

    def _break_server(self, fault: Fault, pid: int) -> None:
        self._emit(fault.kind)
        if fault.kind is FaultKind.SERVER_CRASH:
            self._crashed = pid
            kill(pid)
        else:
            self._stopped.stop(pid, fault.seconds or 0.0)

    def _is_due(self, kinds: Collection[FaultKind], second: float) -> bool:
        with self._lock:
            return any(fault.kind in kinds and fault.at <= second for fault in self._pending)

    def _take(self, kinds: Collection[FaultKind], second: float) -> Fault | None:
        """Return the first fault of some kinds that is due, which is pending no more."""
        with self._lock:
            due = (fault for fault in self._pending if fault.kind in kinds and fault.at <= second)
            fault = next(due, None)
            if fault is not None:
                self._pending.remove(fault)
            return fault


def _problem_of_seconds(fault: Fault) -> str | None:
    """Return what is wrong with how long a fault lasts."""
    kind, seconds, begin = fault.kind, fault.seconds, f"{fault.kind}@{fault.at:.10g}"
    if kind not in _LASTING:
        return None if seconds is None else f"it has no duration; write {begin}"
    jumps = kind is FaultKind.CLOCK_JUMP
    if seconds is None:
        return f"say {'how far the clock jumps' if jumps else 'how long it lasts'}, such as {begin}+5"
    if seconds < 0 and not jumps:
        return f"only clock_jump goes back; write {begin}{-seconds:+.10g}"
    if not 0 < abs(seconds) <= LONGEST_FAULT_SECONDS:
        return f"must be over 0 and at most {LONGEST_FAULT_SECONDS:.10g} seconds"
    return None
