"""The recognition phase: plan, then the planned batches that are not in the journal yet."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.audio.decode import decoder_fingerprint
from misheard.audio.windows import cut, whole
from misheard.canonical import sha256_json
from misheard.failures import Failure, FailureKind, ItemFailedError
from misheard.recognizers.protocol import SAMPLE_RATE, AudioWindow
from misheard.recognizers.settings import LocalRecognizerSettings
from misheard.run.audio_store import AudioStore
from misheard.run.auditing import is_audited
from misheard.run.clock import Clock
from misheard.run.context import FailedItem, RunContext
from misheard.run.executors.protocol import (
    DoneBatch,
    PlannedBatch,
    ReadWindow,
    RecognitionExecutor,
    as_generator,
)
from misheard.run.executors.registry import make_executor
from misheard.run.journal import Journal, read_batches
from misheard.run.plan import Plan, PlannedWindow, make_plan, read_plan, write_plan
from misheard.run.recognition_audit import audit_recognition
from misheard.run.recognized import Recognized, read_recognized
from misheard.run.resolve import local_recognizer
from misheard.stages.recognize import WindowOutcome
from misheard.suite.items import Item
from misheard.text.languages import whisper_code


def recognize_suite(context: RunContext) -> tuple[Plan, list[Recognized]]:
    """Return the plan and what was recognized, per item in suite order.

    Raises BackendError where the recognizer cannot be used and RunAbortedError where the failure policy
    says so.
    """
    with contextlib.closing(Journal(context.directory.recognize)) as journal:
        plan = _finished_plan(context, journal) or _recognize_rest(context, journal)
        recognized = _recognized(context, plan, journal)
        context.phase_ended(
            [
                (item.id, one.failure)
                for item, one in zip(context.suite.items, recognized, strict=True)
                if one.failure is not None
            ]
        )
        return plan, recognized


def _recognized(context: RunContext, plan: Plan, journal: Journal) -> list[Recognized]:
    found = read_recognized(context.suite.items, plan, journal.committed.values())
    return [one for one in found if one is not None]


def _finished_plan(context: RunContext, journal: Journal) -> Plan | None:
    """Return the plan of a resumed run that has recognized everything: no model is loaded then."""
    if not context.directory.plan.exists():
        return None
    if not is_audited(context.directory.audit("recognize"), context.config.execution):
        return None
    plan = read_plan(context.directory.plan)
    return plan if len(_recognized(context, plan, journal)) == len(context.suite.items) else None


def _recognize_rest(context: RunContext, journal: Journal) -> Plan:
    clock, progress = context.clock, context.progress
    settings = local_recognizer(context.config.recognizer)
    with (
        contextlib.closing(AudioStore(context.suite, clock)) as store,
        contextlib.closing(_executor(context, settings, journal)) as executor,
    ):
        context.beside.interrupt = executor.close
        # where it was set too late to be called
        context.beside.check_stopped()
        progress.begin("loading the recognizer", None)
        with clock.measure("recognizer_load"):
            executor.load()
        context.tell_memory("recognizer", executor)
        if not executor.loads_warm:
            with clock.measure("recognizer_warm_up"):
                executor.warm_up()
        stage = {"audio_decoder": decoder_fingerprint(), **executor.fingerprint()}
        context.pin("recognizer", stage)
        plan = _plan(context, store, executor, settings.batch_size)
        journal.commit(f"start:{len(journal.committed)}", [], _start_note(clock))
        context.failed_now([(item.id, item.failure) for item in plan.items if item.failure is not None])
        progress.begin("recognizing", len(plan.windows))
        items = {item.id: item for item in context.suite.items}
        read = _reader(context, plan, items, store)
        with context.measured.stage("recognize"):
            _run_batches(context, plan, items, read, executor, journal, sha256_json(stage))
        with clock.measure("audit"):
            audit_recognition(context, plan, read, executor)
        context.executed("recognition", executor.facts())
        return plan


def _start_note(clock: Clock) -> dict[str, Any]:
    """Return what the start took; a warm-up that is part of loading has no time of its own."""
    note = {
        "load_seconds": clock.seconds["recognizer_load"],
        "decode_seconds": clock.seconds.get("decode", 0.0),
        "plan_seconds": clock.seconds["plan"],
    }
    if "recognizer_warm_up" in clock.seconds:
        note["warm_up_seconds"] = clock.seconds["recognizer_warm_up"]
    return note


def _executor(
    context: RunContext, settings: LocalRecognizerSettings, journal: Journal
) -> RecognitionExecutor:
    """Return what carries the plan out, told what the journal says of earlier processes of the run."""
    notes = [batch.note for batch in journal.committed.values()]
    audit = context.directory.audit("recognize")
    again = [batch.note for batch in read_batches(audit)] if audit.is_file() else []
    caps = [note["memory_cap"] for note in (*notes, *again) if "memory_cap" in note]
    return make_executor(
        settings,
        context.config.execution,
        cpu=context.options.cpu,
        logs=context.directory.logs,
        spent_seconds=sum(note.get("program_seconds", 0.0) for note in notes),
        memory_cap=min(caps, default=None),
    )


def _plan(context: RunContext, store: AudioStore, executor: RecognitionExecutor, batch_size: int) -> Plan:
    """Return the plan: a resumed run's own, else a new one, written before anything is inferred."""
    path, clock = context.directory.plan, context.clock
    decode_before, started = clock.seconds.get("decode", 0.0), time.perf_counter()
    if path.exists():
        plan = read_plan(path)
    else:
        context.progress.begin("decoding and planning", len(context.suite.items))

        def advance(steps: int) -> None:
            context.progress.advance(steps)
            context.beside.check_stopped()

        split = whole if executor.whole_clips else cut
        plan = make_plan(context.suite, store.get, executor.supports, batch_size, advance, split)
        write_plan(path, plan)
    decoding = clock.seconds.get("decode", 0.0) - decode_before
    clock.add("plan", time.perf_counter() - started - decoding)
    with context.beside.lock:
        context.state["suite"]["sha256"] = plan.suite_sha256
        context.save()
    return plan


def _run_batches(
    context: RunContext,
    plan: Plan,
    items: dict[str, Item],
    read: ReadWindow,
    executor: RecognitionExecutor,
    journal: Journal,
    stage_sha256: str,
) -> None:
    """Recognize what the journal lacks, in batches exactly as planned, on a resumed run as well."""
    batches = dict(enumerate(plan.batches()))
    left = [PlannedBatch(n, batch) for n, batch in batches.items() if _name(n) not in journal.committed]
    context.progress.advance(len(plan.windows) - sum(len(batch.windows) for batch in left))
    cap = None
    with contextlib.closing(as_generator(executor, left, read)) as done:
        for one in done:
            batch, outcomes = batches[one.number], one.outcome.windows
            rows = [
                {
                    "key": sha256_json([stage_sha256, window.sha256, items[window.item].language]),
                    "item": window.item,
                    "window": window.index,
                    **outcome.row(),
                }
                for window, outcome in zip(batch, outcomes, strict=True)
            ]
            journal.commit(_name(one.number), rows, _note(one, context.clock))
            context.progress.advance(len(batch))
            context.measured.heard(sum(window.end - window.start for window in batch) / SAMPLE_RATE)
            if one.note.get("memory_cap") != cap:
                cap = one.note["memory_cap"]
                windows = f"{cap} window{'' if cap == 1 else 's'}"
                context.progress.note(
                    f"out of memory: batches are recognized {windows} at a time from here on"
                )
            context.failed_now(_failed(batch, outcomes))
            # The plan begins with the longest windows: from here on no batch needs more memory.
            context.beside.busy.set()
            context.beside.check_stopped()


def _name(number: int) -> str:
    return f"batch:{number}"


def _note(done: DoneBatch, clock: Clock) -> dict[str, Any]:
    outcome = done.outcome
    clock.add("features", outcome.features_seconds)
    # A program's own inference lies within its wall time.
    clock.add("inference", outcome.program_seconds or outcome.inference_seconds or 0.0)
    note = {
        **done.note,
        "decode_seconds": done.decode_seconds,
        "features_seconds": outcome.features_seconds,
        "wall_seconds": done.wall_seconds,
    }
    if outcome.inference_seconds is not None:
        note["inference_seconds"] = outcome.inference_seconds
    if outcome.program_seconds is not None:
        note["program_seconds"] = outcome.program_seconds
        note["program_load_seconds"] = sum(_load_seconds(window) for window in outcome.windows)
    return note


def _load_seconds(outcome: WindowOutcome) -> float:
    return 0.0 if outcome.transcript is None else outcome.transcript.load_seconds or 0.0


def _reader(context: RunContext, plan: Plan, items: dict[str, Item], store: AudioStore) -> ReadWindow:
    audio_sha256 = {item.id: item.audio_sha256 for item in plan.items}

    def read(window: PlannedWindow) -> AudioWindow:
        item = items[window.item]
        return _window(window, item, audio_sha256[item.id], store, context.suite.audio_path(item))

    return read


def _window(
    planned: PlannedWindow, item: Item, audio_sha256: str | None, store: AudioStore, file: Path
) -> AudioWindow:
    audio = store.get(item)
    if audio.sha256 != audio_sha256:
        detail = "the recording changed since the batch plan was made"
        raise ItemFailedError(FailureKind.AUDIO_UNDECODABLE, detail)
    samples = audio.samples[planned.start : planned.end]
    if len(samples) < len(audio.samples):
        # a view would keep the whole recording in memory as long as its window waits
        samples = samples.copy()
    return AudioWindow(samples, whisper_code(item.language), file)


def _failed(batch: Sequence[PlannedWindow], outcomes: Sequence[WindowOutcome]) -> list[FailedItem]:
    return [
        (window.item, Failure("recognize", outcome.failure_kind, outcome.failure_detail))
        for window, outcome in zip(batch, outcomes, strict=True)
        if outcome.failure_kind is not None
    ]
