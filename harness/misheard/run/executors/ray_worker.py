"""What runs inside a Ray worker: one recognizer. Loaded there by name.

Errors are returned as text and not raised, so that neither Ray's traceback nor its pickle of an exception
reaches the run or a log.
"""

import os
import platform
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard import __version__
from misheard.errors import MisheardError
from misheard.recognizers.protocol import AudioWindow, Features, OutOfMemoryError, Recognizer
from misheard.recognizers.registry import make_recognizer
from misheard.recognizers.settings import LocalRecognizerSettings
from misheard.stages.recognize import BatchOutcome, recognize_within_memory

AT_ONCE = 2
"""Batches that a worker is given at a time: one is inferred while the next is fetched and prepared."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker runs: Ray's node, its host, the CPUs that it may use, and its version of misheard."""

    node: str
    host: str
    cpus: int
    misheard: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a worker has loaded, warmed up."""

    fingerprint: dict[str, Any]
    whole_clips: bool


@dataclass(frozen=True, slots=True)
class Recognized:
    """The outcome of a batch's windows, and the largest batch that fits from now on."""

    outcome: BatchOutcome
    memory_cap: int | None


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a worker could not do what it was asked for; holds no transcript."""

    reason: str


class RecognitionWorker:
    """A recognizer of its own, for one run. Up to `AT_ONCE` calls are carried out at the same time."""

    def __init__(self, settings: LocalRecognizerSettings, cpu: bool) -> None:
        self._settings = settings
        self._cpu = cpu
        self._recognizer: Recognizer | None = None
        self._prepares = False
        self._preparing = threading.Lock()
        self._inferring = threading.Lock()

    def place(self) -> Place:
        """Say where this worker is."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return Place(node, platform.node(), len(os.sched_getaffinity(0)), __version__)

    def load(self, threads: int) -> Loaded | Broken:
        """Load the model and warm it up. `threads` is this worker's share, where its settings name none."""
        # Ray sets one thread, and idle ones must not spin on shared cores, as in the command line. Libraries
        # read both when they are imported, which loading does.
        os.environ["OMP_NUM_THREADS"] = str(threads)
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            settings = with_threads(self._settings, threads)
            # What needs a folder for logs starts a server, and is not spread over workers.
            recognizer = make_recognizer(settings, cpu=self._cpu, logs=Path())
            recognizer.load()
            recognizer.warm_up()
            fingerprint = recognizer.fingerprint()
        except MisheardError as error:
            return Broken(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a library raises is told, not pickled
            return Broken(f"{type(error).__name__}: {error}")
        self._recognizer = recognizer
        # On a CPU, preparing a batch would take its cores from the one that is inferred.
        self._prepares = fingerprint.get("device", "cpu") != "cpu"
        return Loaded(fingerprint, recognizer.whole_clips)

    def supports(self, language: str | None) -> bool | Broken:
        """Say whether the model can be told to expect a language."""
        try:
            return self._loaded().supports(language)
        except Exception as error:  # noqa: BLE001 - whatever a library raises is told, not pickled
            return Broken(where(error))

    def recognize(self, windows: Sequence[AudioWindow], cap: int | None) -> Recognized | Broken:
        """Recognize windows, at most `cap` at once, as `recognize_within_memory` does."""
        try:
            recognizer = self._loaded()
            features = self._features(recognizer, windows, cap)
            with self._inferring:
                return Recognized(*recognize_within_memory(recognizer, windows, features, cap))
        except MisheardError as error:
            return Broken(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a library raises is told, not pickled
            return Broken(where(error))

    def _features(
        self, recognizer: Recognizer, windows: Sequence[AudioWindow], cap: int | None
    ) -> Features | None:
        """Compute features while another batch is inferred, unless this one is inferred in pieces."""
        if not self._prepares or (cap is not None and len(windows) > cap):
            return None
        try:
            with self._preparing:
                return recognizer.features(windows)
        except OutOfMemoryError:
            return None

    def _loaded(self) -> Recognizer:
        if self._recognizer is None:
            raise RuntimeError("load() comes first")
        return self._recognizer


def with_threads(settings: LocalRecognizerSettings, threads: int) -> LocalRecognizerSettings:
    """Return settings with a number of CPU threads, where they have that option and leave it open."""
    if getattr(settings, "threads", None) == 0:
        return settings.model_copy(update={"threads": threads})
    return settings


def where(error: Exception) -> str:
    """Return what an unexpected error is and where it was raised; its message may hold anything."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return type(error).__name__
    return f"{type(error).__name__} in {traceback.tb_frame.f_code.co_qualname}, line {traceback.tb_lineno}"
