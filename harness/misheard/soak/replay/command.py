"""What the command `misheard soak` does: play a session, write its trace, judge it."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import misheard
from misheard.canonical import sha256_file, write_json
from misheard.config import RunConfig
from misheard.errors import InputError
from misheard.failures import FailureKind
from misheard.language_models.settings import VllmSettings
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.recognizers.settings import VllmRecognizerSettings
from misheard.run.clock import describe_machine
from misheard.run.evaluated import left_out, load_run_suite, suite_facts
from misheard.run.progress import Progress
from misheard.run.prompts import load_prompts
from misheard.run.redaction import public_config
from misheard.run.versions import library_versions
from misheard.soak.document import soak_document
from misheard.soak.events import EventName, FaultKind
from misheard.soak.finished import FinishedSoak, read_soak
from misheard.soak.limits import Limits
from misheard.soak.replay.clips import prepare
from misheard.soak.replay.clock import SessionClock
from misheard.soak.replay.faults import Fault, FaultPlan, check_faults
from misheard.soak.replay.folder import SoakFolder
from misheard.soak.replay.full_disk import FullDisk
from misheard.soak.replay.length import check_length
from misheard.soak.replay.microphone import chunks, suite_reader
from misheard.soak.replay.opening import check_system, checked_parts, started
from misheard.soak.replay.pipeline import Replayed, Session, System, replay
from misheard.soak.replay.server import LastingModel, LastingRecognizer
from misheard.soak.replay.system import glossary_of
from misheard.soak.replay.trace_writer import TraceWriter
from misheard.soak.replay.vad import SileroVad
from misheard.soak.replay.values import Script
from misheard.suite.items import Suite


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """What the command line adds to a config.

    Attributes:
        out: the new folder.
        suite: whose recordings are played.
        minutes: how long the session is.
        speed: times as fast as it was spoken; None as fast as the stages take it.
        cpu: whether everything runs on the CPU.
        limits: what the session may do.
        limits_name: file name of the limits; None for the defaults.
        faults: what goes wrong on purpose.
        base: the folder that paths in the config start from.
    """

    out: Path
    suite: Path
    minutes: int
    speed: float | None = 1.0
    cpu: bool = False
    limits: Limits = field(default_factory=Limits)
    limits_name: str | None = None
    faults: tuple[Fault, ...] = ()
    base: Path = Path()


@dataclass(slots=True)
class _Trace:
    """The trace, once the session has one: a server may be started again before."""

    writer: TraceWriter | None = None
    restarts: int = 0

    def restarted(self, seconds: float) -> None:
        self.restarts += 1
        if self.writer is not None:
            self.writer.emit(EventName.SERVER_RESTARTED, seconds=round(seconds, 3))

    def fault(self, kind: FaultKind) -> None:
        if self.writer is not None:
            self.writer.emit(EventName.FAULT_INJECTED, fault=str(kind))


def soak(config: RunConfig, options: SoakOptions, progress: Progress) -> FinishedSoak:
    """Play a session to a resolved config's system and judge what happened.

    Raises InputError, SuiteError and BackendError where it cannot begin, and whatever ends it early; its
    folder then says so.
    """
    # a class of the user's that runs in this process may change the working folder while others work
    options = dataclasses.replace(options, out=options.out.absolute(), suite=options.suite.absolute())
    check_system(config)
    check_length(options.minutes, options.speed, config.soak.sample_seconds, options.faults)
    prompts = load_prompts(config)
    whole = load_run_suite(options.suite, None)
    facts = suite_facts(options.suite, whole)
    suite = _of_language(whole, config.soak.session.language)
    progress.begin("reading the recordings", None)
    prepared = prepare(suite, config.soak.session, options.minutes)
    script = prepared.script
    check_faults(
        options.faults,
        session_seconds=script.seconds,
        restarts=config.soak.restarts if _has_server(config) else None,
        has_plan_replies=isinstance(config.plan, LanguageModelPlannerSettings),
    )
    vad = SileroVad()
    trace = _Trace()
    logs = SoakFolder(options.out).logs
    parts = checked_parts(config, base=options.base, logs=logs, cpu=options.cpu, restarted=trace.restarted)
    folder = SoakFolder.create(options.out)
    with contextlib.closing(folder):
        for note in (f"folder: {options.out}", left_out(whole), _said(prepared.unusable)):
            if note:
                progress.note(note)
        played_facts = {
            "seconds": script.seconds,
            "segments": len(script.segments),
            "recordings": dict(prepared.recordings),
            "unusable": {item: str(kind) for item, kind in prepared.unusable.items()},
        }
        state = _begin(config, options, whole, facts, played_facts, vad)
        folder.write_session(script)
        with _recorded(folder, state):
            with started(parts, progress):
                system = System(parts.recognizer, parts.model, parts.planner, parts.renderer, config, prompts)
                glossary = glossary_of(config, suite.glossary)
                state["system"] = {**state["system"], **system.facts(glossary)}
                folder.write(state)
                session = _session(suite, glossary, script, config, vad)
                replayed, missed = _play(system, session, options, folder, trace, progress)
            _end(state, replayed, missed, trace.restarts)
            state["trace_sha256"] = sha256_file(folder.trace)
    finished = read_soak(options.out)
    write_json(folder.verdict, soak_document(finished.judged))
    return finished


def _has_server(config: RunConfig) -> bool:
    return isinstance(config.language_model, VllmSettings) or isinstance(
        config.recognizer, VllmRecognizerSettings
    )


def _of_language(suite: Suite, language: str | None) -> Suite:
    """Return the suite with the items of one language alone. Raises InputError where there are none."""
    if language is None:
        return suite
    items = tuple(item for item in suite.items if item.language == language)
    if not items:
        languages = sorted({item.language for item in suite.items if item.language is not None})
        raise InputError(
            f"soak.session.language: no item of {suite.name} is in {language}; "
            f"there is {', '.join(languages) or 'none with a language'}"
        )
    return dataclasses.replace(suite, items=items)


def _said(unusable: Mapping[str, FailureKind]) -> str:
    if not unusable:
        return ""
    item, kind = next(iter(unusable.items()))
    return f"recordings that cannot be played are left out: {len(unusable)}, such as item {item} ({kind})"


def _begin(
    config: RunConfig,
    options: SoakOptions,
    suite: Suite,
    facts: dict[str, Any],
    session: dict[str, Any],
    vad: SileroVad,
) -> dict[str, Any]:
    """Return `soak.json` as a session begins."""
    return {
        "status": "running",
        "misheard": misheard.__version__,
        "config": public_config(config),
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "path": str(options.suite.resolve()),
            "items": len(suite.items),
            **facts,
        },
        "minutes": options.minutes,
        "speed": "max" if options.speed is None else options.speed,
        "session": session,
        "system": {
            "endpointing": {**config.soak.endpointing.model_dump(mode="json"), "model": vad.fingerprint()}
        },
        "faults": [str(fault) for fault in options.faults],
        "limits": options.limits.model_dump(mode="json"),
        "limits_name": options.limits_name,
        "cpu": options.cpu,
        "versions": library_versions(),
    }


@contextlib.contextmanager
def _recorded(folder: SoakFolder, state: dict[str, Any]) -> Iterator[None]:
    """Keep `soak.json` true, however the session ends."""
    folder.write(state)
    try:
        yield
    except BaseException as error:
        ended = isinstance(error, KeyboardInterrupt)
        state["status"] = "interrupted" if ended else "failed"
        with contextlib.suppress(OSError):
            folder.write(state)
        raise
    state["status"] = "complete"
    folder.write(state)


def _session(
    suite: Suite, glossary: Mapping[str, Sequence[str]], script: Script, config: RunConfig, vad: SileroVad
) -> Session:
    languages = {item.id: item.language for item in suite.items}
    return Session(
        chunks(script, suite_reader(suite), config.soak.session.seed),
        vad,
        lambda item: None if item is None else languages.get(item),
        glossary,
        script.seconds,
    )


def _play(
    system: System,
    session: Session,
    options: SoakOptions,
    folder: SoakFolder,
    trace: _Trace,
    progress: Progress,
) -> tuple[Replayed, tuple[Fault, ...]]:
    clock = SessionClock()
    disk = FullDisk(clock)
    trace.writer = writer = TraceWriter(folder.trace, clock, disk.write)
    plan = FaultPlan(
        options.faults, clock=clock, disk=disk, emit=trace.fault, serving_pid=_serving_pid(system)
    )
    with contextlib.closing(writer), plan:
        replayed = replay(system, session, clock, writer, options.speed, plan, progress)
    return replayed, plan.pending


def _serving_pid(system: System) -> Callable[[], int | None]:
    """Return what tells the process id of the server that faults befall, None while it does not serve.

    That is the language model's own, else the recognizer's.
    """
    for part in (system.model, system.recognizer):
        if isinstance(part, LastingModel | LastingRecognizer):
            return partial(getattr, part, "serving_pid")
    return lambda: None


def _end(state: dict[str, Any], replayed: Replayed, missed: Sequence[Fault], restarts: int) -> None:
    recognizer = state["system"]["recognizer"]
    state["machine"] = describe_machine(recognizer.get("device") or "cpu")
    state["behind_seconds"] = replayed.behind_seconds
    state["restarts"] = restarts
    state["missed_faults"] = [str(fault) for fault in missed]
    state["replayed"] = {
        "turns": replayed.turns,
        "seconds": replayed.seconds,
        "blocked_seconds": replayed.blocked_seconds,
        "events": replayed.counts,
    }
