"""A session from the microphone to the board: every stage at its own pace, until the last turn is done."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from misheard.run.progress import NoProgress, Progress
from misheard.soak.events import EventName
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.crew import Crew
from misheard.soak.replay.endpointing import Endpointer
from misheard.soak.replay.faults_protocol import Faults, NoFaults
from misheard.soak.replay.feeding import WAITING_CHUNKS, Ear, Emit, Fed, Microphone, VoiceActivity
from misheard.soak.replay.queues import Inbox
from misheard.soak.replay.sampler import Sampler
from misheard.soak.replay.system import System
from misheard.soak.replay.trace_writer import TraceWriter
from misheard.soak.replay.values import Chunk
from misheard.soak.replay.workers import Worker, make_stages

__all__ = ["Replayed", "Session", "System", "replay"]

_GRACE_SECONDS = 1.0
"""In which threads end by themselves where the session is broken off, before what they wait for is closed."""

_CLOSED_SECONDS = 10.0
"""How long they are waited for afterwards."""


@dataclass(frozen=True, slots=True)
class Session:
    """What is played.

    Attributes:
        chunks: the audio, from 0 on without gaps.
        vad: says what of it is speech.
        language_of: the suite's tag of a recording, by its id; None for None.
        glossary: terms per language, where the corrector is to be told.
        seconds: how long it is, for who watches; None where nobody knows.
    """

    chunks: Iterable[Chunk]
    vad: VoiceActivity
    language_of: Callable[[str | None], str | None]
    glossary: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a session.

    Attributes:
        behind_seconds: by how much audio was fed later than the speed asks for, at most; None at full speed.
        turns: how many there were.
        counts: events of the trace by name.
        seconds: the session's time at its end.
        blocked_seconds: per queue how long the stage before it waited for room.
    """

    behind_seconds: float | None
    turns: int
    counts: dict[str, int]
    seconds: float
    blocked_seconds: dict[str, float]


def replay(
    system: System,
    session: Session,
    clock: Clock,
    writer: TraceWriter,
    speed: float | None,
    faults: Faults | None = None,
    progress: Progress | None = None,
) -> Replayed:
    """Play a session to a system; `speed` None feeds audio as fast as the system takes it.

    The session begins, by the clock, with this call, and the writer is closed at its end. Whatever fails
    first ends everything: it is raised here, and the trace then holds what happened until then. So does
    Ctrl-C; what threads still wait for is then closed, which ends their waiting.
    """
    faults, progress = faults or NoFaults(), progress or NoProgress()
    settings = system.config.soak
    stages = make_stages(system, session.language_of, session.glossary, clock, faults)
    fed: Inbox[Fed] = Inbox("endpoint", WAITING_CHUNKS)
    inboxes: list[Inbox[Any]] = [Inbox(name, settings.queue_turns) for name in stages]
    crew = Crew([fed, *inboxes])
    microphone = Microphone(session.chunks, speed, clock, faults, fed)
    ear = Ear(fed, session.vad, Endpointer(settings.endpointing), inboxes[0])
    sampler = Sampler([fed, *inboxes], settings.sample_seconds, clock)
    workers = [
        Worker(stage, inbox, onward)
        for stage, inbox, onward in zip(stages.values(), inboxes, [*inboxes[1:], None], strict=True)
    ]
    emit = writer.emit
    progress.begin("playing the session", None if session.seconds is None else int(session.seconds))
    with _ending(crew, system, writer, faults):
        clock.begin()
        crew.start(
            {
                "microphone": partial(microphone.run, emit, crew.stop, progress),
                "endpoint": partial(ear.run, emit),
                **{worker.inbox.name: partial(worker.run, emit) for worker in workers},
            },
            beside=partial(_sample_until_drained, sampler, emit, crew),
        )
        crew.wait()
        seconds = clock.now()
    blocked = {inbox.name: inbox.blocked_seconds for inbox in (fed, *inboxes)}
    return Replayed(microphone.behind_seconds, ear.turns, writer.counts, seconds, blocked)


def _sample_until_drained(sampler: Sampler, emit: Emit, crew: Crew) -> None:
    """Take samples until all work is done, and then say so."""
    sampler.run(emit, crew.stop)
    if not crew.has_failed:
        emit(EventName.DRAINED)


@contextlib.contextmanager
def _ending(crew: Crew, system: System, writer: TraceWriter, faults: Faults) -> Iterator[None]:
    """End the threads, the faults that last, then the trace, however the session ends."""
    try:
        yield
    except BaseException as error:
        # a full disk is not waited for where the session is over anyway
        with contextlib.ExitStack() as closing:
            closing.callback(_close_at_once, writer)
            closing.callback(faults.close)
            _break_off(crew, system, error)
        raise
    faults.close()
    writer.close()


def _break_off(crew: Crew, system: System, error: BaseException) -> None:
    crew.fail(error)
    if crew.join(_GRACE_SECONDS):
        return
    for part in (system.model, system.planner, system.renderer, system.recognizer):
        # what goes wrong now is not why the session ended
        with contextlib.suppress(Exception):
            if part is not None:
                part.close()
    crew.join(_CLOSED_SECONDS)


def _close_at_once(writer: TraceWriter) -> None:
    with contextlib.suppress(OSError):
        writer.close(patience=0.0)
