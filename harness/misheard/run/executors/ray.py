"""Recognition on Ray workers: same plan, same outcomes, same order, however many workers there are."""

import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from misheard.errors import BackendError, InputError
from misheard.execution import RaySettings
from misheard.recognizers.protocol import SAMPLE_RATE, WINDOW_SECONDS
from misheard.recognizers.settings import LocalRecognizerSettings
from misheard.run.executors.protocol import DoneBatch, PlannedBatch, ReadWindow
from misheard.run.executors.ray_connection import check_installed, check_reachable, connect
from misheard.run.executors.ray_course import LOSSES, Course
from misheard.run.executors.ray_crew import Crew, Lost
from misheard.run.executors.ray_flights import Flights
from misheard.run.executors.ray_local import LocalRay
from misheard.run.executors.ray_worker import AT_ONCE, Broken, Recognized
from misheard.stages.recognize import BatchOutcome

_SPREAD_KINDS = frozenset({"ctranslate2", "transformers", "fake"})
_POLL_SECONDS = 0.25
_SMALLEST_STORE = 256 * 2**20
_LARGEST_STORE_PART = 0.25
_WINDOW_BYTES = int(WINDOW_SECONDS * SAMPLE_RATE) * 4
_HELD_PER_WORKER = 2 * AT_ONCE


class RayExecutor:
    """Spreads planned batches over Ray workers that have a recognizer each.

    Recordings are read here and travel as arrays. With no address a Ray of the run's own is started on this
    machine and ends with the run. `memory_cap` is as in `LocalExecutor`. `close` may be called from another
    thread while batches are recognized: that ends with BackendError.
    """

    def __init__(
        self,
        settings: LocalRecognizerSettings,
        config: RaySettings,
        *,
        cpu: bool,
        logs: Path,
        memory_cap: int | None = None,
    ) -> None:
        if settings.kind not in _SPREAD_KINDS:
            raise InputError(
                f"execution.executor: recognizer {settings.kind} starts or asks programs and servers, which "
                "are not spread over Ray workers; use executor: local"
            )
        self._settings = settings
        self._config = config
        self._cpu = cpu
        self._logs = logs
        self._cap = memory_cap
        self._told_cap = memory_cap
        self._rerun = 0
        self._version: str | None = None
        self._supports: dict[str | None, bool] = {}
        self._ray: Any = None
        self._local: LocalRay | None = None
        self._crew: Crew | None = None
        self._closing = threading.Event()
        self._lock = threading.RLock()
        """Held while Ray is asked anything, so that it is not shut down meanwhile."""

    @property
    def whole_clips(self) -> bool:
        return self._loaded_crew().loaded.whole_clips

    @property
    def loads_warm(self) -> bool:
        """Workers warm up when they load, those that replace lost ones as well."""
        return True

    def load(self) -> None:
        """Connect, and load the model in all workers at the same time. Raises BackendError."""
        try:
            with self._lock:
                crew = self._crew = Crew(self._connect(), self._settings, self._config, cpu=self._cpu)
                crew.check_room()
                crew.begin()
            while self._crew.awaited:
                for ref in self._arrived(crew.awaited):
                    self._take(crew, ref)
        except BaseException:
            self.close()
            raise

    def warm_up(self) -> None:
        """Nothing is left to do."""

    def fingerprint(self) -> dict[str, Any]:
        return self._loaded_crew().loaded.fingerprint

    def supports(self, language: str | None) -> bool:
        if language not in self._supports:
            answer = self._ask_one(language)
            if isinstance(answer, Broken):
                raise BackendError(f"execution.executor ray: a worker failed: {answer.reason}")
            self._supports[language] = answer
        return self._supports[language]

    def facts(self) -> dict[str, Any]:
        return {
            "executor": "ray",
            "workers": self._config.workers,
            "workers_lost": self._crew.lost if self._crew else 0,
            "batches_rerun": self._rerun,
            "ray": self._version,
            "memory_cap": self._cap,
        }

    def close(self) -> None:
        """End the workers, and Ray where it is the run's own; returns when nothing of it is left."""
        self._closing.set()
        with self._lock:
            crew, ray, local = self._crew, self._ray, self._local
            self._ray = self._local = None
            try:
                if ray is not None and ray.is_initialized():
                    if crew is not None:
                        crew.dismiss()
                    ray.shutdown()
            finally:
                if local is not None:
                    local.stop()

    def recognize(self, batches: Sequence[PlannedBatch], read: ReadWindow) -> Iterator[DoneBatch]:
        """Yield the batches in the given order. Raises BackendError where workers cannot go on."""
        course: Course[DoneBatch] = Course(
            batches, at_once=AT_ONCE, held=_HELD_PER_WORKER * self._config.workers
        )
        flights = Flights(self._loaded_crew(), read)
        began = time.perf_counter()
        while True:
            self._send(course, flights)
            for done in course.due():
                yield self._as_told(done, time.perf_counter() - began)
                began = time.perf_counter()
            if course.finished:
                return  # whoever is to replace a lost worker is not waited for
            waiting = [*flights.refs, *flights.crew.awaited]
            for ref in self._arrived(waiting) if waiting else []:
                self._land(course, flights, ref)

    def _send(self, course: Course[DoneBatch], flights: Flights) -> None:
        """Give workers all that they can be given now."""
        while True:
            with self._lock:
                self._check_open()
                assigned = course.assign(flights.crew.ready)
                if assigned is None:
                    return
                worker, batch = assigned
                if not flights.send(worker, batch, self._cap):
                    course.landed(batch.number, flights.done(batch.number, BatchOutcome(())))

    def _land(self, course: Course[DoneBatch], flights: Flights, ref: Any) -> None:
        """Take what a worker has sent: an outcome, or a step towards being ready."""
        with self._lock:
            self._check_open()
            if ref in flights.refs:
                number, answer = flights.answer(ref)
                if isinstance(answer, Recognized):
                    self._cap = _smaller(self._cap, answer.memory_cap)
                    note = {} if answer.memory_cap is None else {"memory_cap": answer.memory_cap}
                    course.landed(number, flights.done(number, answer.outcome, note))
                    return
                if isinstance(answer, Broken):
                    raise BackendError(
                        f"execution.executor ray: a worker failed: {answer.reason}; continue with --resume"
                    )
                lost: Lost | None = answer
                flights.crew.replace(answer)
            else:
                lost = self._take(flights.crew, ref)
            if lost is not None:
                self._rerun_lost(course, flights, lost)

    def _rerun_lost(self, course: Course[DoneBatch], flights: Flights, lost: Lost) -> None:
        again, given_up = course.lost(lost.worker)
        self._rerun += len(again)
        flights.forget(lost.worker)
        for number in given_up:
            reason = f"{LOSSES} Ray workers were lost with this batch ({lost.reason})"
            course.landed(number, flights.failed(number, reason))

    def _as_told(self, done: DoneBatch, wall_seconds: float) -> DoneBatch:
        """Return a batch with its wall time and the smallest cap up to it in the plan."""
        self._told_cap = _smaller(self._told_cap, done.note.get("memory_cap"))
        note = {} if self._told_cap is None else {"memory_cap": self._told_cap}
        return DoneBatch(done.number, done.outcome, done.decode_seconds, wall_seconds, note)

    def _take(self, crew: Crew, ref: Any) -> Lost | None:
        with self._lock:
            self._check_open()
            lost = crew.take(ref)
            if lost is not None:
                crew.replace(lost)
            return lost

    def _ask_one(self, language: str | None) -> Any:
        """Ask a ready worker until one answers."""
        crew = self._loaded_crew()
        while True:
            with self._lock:
                self._check_open()
                worker = next(iter(crew.ready), None)
                ref = None if worker is None else crew.supports(worker, language)
            waiting = crew.awaited if ref is None else [ref]
            for arrived in self._arrived(waiting):
                if worker is None or ref is None:
                    self._take(crew, arrived)
                    continue
                with self._lock:
                    answer = crew.answer(worker, ref)
                    if not isinstance(answer, Lost):
                        return answer
                    crew.replace(answer)

    def _arrived(self, refs: Sequence[Any]) -> list[Any]:
        """Return those of the references that have arrived, as soon as there are any."""
        while True:
            with self._lock:
                self._check_open()
                arrived, _ = self._ray.wait(list(refs), num_returns=1, timeout=_POLL_SECONDS)
                if arrived:
                    return list(arrived)
                self._loaded_crew().check_patience()

    def _check_open(self) -> None:
        if self._closing.is_set() or self._ray is None:
            raise BackendError("execution.executor ray: recognition was interrupted")

    def _loaded_crew(self) -> Crew:
        if self._crew is None:
            raise RuntimeError("load() comes first")
        return self._crew

    def _connect(self) -> Any:
        """Return Ray, connected to the config's address or to one of the run's own."""
        check_installed()
        address = self._config.address
        if address is None:
            self._local = LocalRay(
                self._logs,
                cpus=max(len(os.sched_getaffinity(0)), self._cpus_needed()),
                gpus=0 if self._cpu or self._config.gpus_per_worker == 0 else None,
                store_bytes=_store_bytes(self._settings.batch_size, self._config.workers),
            )
            address = self._local.wait()
        else:
            check_reachable(address)
        self._ray = connect(address, own=self._local is not None)
        self._version = str(self._ray.__version__)
        return self._ray

    def _cpus_needed(self) -> int:
        return math.ceil(self._config.workers * self._config.cpus_per_worker)


def _store_bytes(batch_size: int, workers: int) -> int:
    """Return how much room batches on their way to workers need, within a part of this machine's memory."""
    import psutil

    needed = (AT_ONCE * workers + 1) * batch_size * _WINDOW_BYTES
    largest = int(psutil.virtual_memory().total * _LARGEST_STORE_PART)
    return max(_SMALLEST_STORE, min(needed, largest))


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((cap for cap in (one, other) if cap is not None), default=None)
