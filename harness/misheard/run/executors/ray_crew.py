"""Workers on Ray: started, loaded, asked, and replaced where they are lost."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from misheard import __version__
from misheard.errors import BackendError
from misheard.execution import RaySettings
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.settings import LocalRecognizerSettings
from misheard.run.executors.ray_worker import AT_ONCE, Broken, Loaded, Place, RecognitionWorker

REPLACEMENTS_PER_WORKER = 3
_PLACE_SECONDS = 300.0
"""How long Ray may take to find room for a worker while no other works."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker that is gone, and why as far as Ray tells."""

    worker: int
    reason: str


@dataclass(slots=True)
class _Hand:
    """A worker: its actor, what is awaited from it before it is ready, and what it told of itself."""

    actor: Any
    awaited: Any = None
    place: Place | None = None
    loaded: Loaded | None = None


class Crew:
    """The workers of a run, known by numbers that are never used again.

    All must have loaded the same: BackendError tells who has not, what differs, and where a worker cannot
    load at all.
    """

    def __init__(
        self, ray: Any, settings: LocalRecognizerSettings, config: RaySettings, *, cpu: bool
    ) -> None:
        self._ray = ray
        self._settings = settings
        self._size = config.workers
        self._cpu = cpu
        gpus = config.gpus_per_worker
        self._cpus = config.cpus_per_worker
        self._gpus = 0.0 if cpu else 1.0 if gpus is None else gpus
        self._hands: dict[int, _Hand] = {}
        self._began = 0
        self._first: Loaded | None = None
        self._all_placed = False
        self._waiting_since: float | None = None
        self.lost = 0

    def check_room(self) -> None:
        """Raise BackendError where Ray does not have what all workers together need."""
        there = self._ray.cluster_resources()
        for name, each in (("CPU", self._cpus), ("GPU", self._gpus)):
            if each * self._size > there.get(name, 0.0):
                option = f"execution.ray.{name.lower()}s_per_worker"
                raise BackendError(
                    f"execution.ray.workers: {self._size} workers with {option} {each:g} need "
                    f"{each * self._size:g} {name}s and Ray has {there.get(name, 0.0):g}; "
                    f"take fewer workers, set {option}, add machines with `ray start`"
                    f"{', or use --cpu' if name == 'GPU' else ''}"
                )

    def begin(self) -> None:
        """Start all workers; they are ready when `take` has got what they send."""
        for _ in range(self._size):
            self._start()

    def _start(self) -> None:
        options = {
            "num_cpus": self._cpus,
            "num_gpus": self._gpus,
            "max_concurrency": AT_ONCE,
            "max_restarts": 0,
            "max_task_retries": 0,
        }
        actor = self._ray.remote(RecognitionWorker).options(**options).remote(self._settings, self._cpu)
        self._hands[self._began] = _Hand(actor, actor.place.remote())
        self._began += 1

    @property
    def ready(self) -> list[int]:
        """The workers that have loaded."""
        return [number for number, hand in self._hands.items() if hand.loaded is not None]

    @property
    def awaited(self) -> list[Any]:
        """What the others are to send before they are ready."""
        return [hand.awaited for hand in self._hands.values() if hand.awaited is not None]

    @property
    def loaded(self) -> Loaded:
        """What every worker has loaded."""
        if self._first is None:
            raise RuntimeError("load() comes first")
        return self._first

    def take(self, ref: Any) -> Lost | None:
        """Take what a worker that is not ready yet has sent; returns which was lost instead."""
        number = next(number for number, hand in self._hands.items() if hand.awaited == ref)
        hand = self._hands[number]
        answer = self.answer(number, ref)
        if isinstance(answer, Lost):
            if hand.place is None:
                raise BackendError(
                    f"execution.ray: a worker could not be started: {answer.reason}; every machine needs the "
                    "same Python, Ray and misheard"
                )
            return answer
        hand.awaited = None
        if isinstance(answer, Place):
            if answer.misheard != __version__:
                raise BackendError(
                    f"execution.ray: {answer.host} has misheard {answer.misheard}, this run {__version__}; "
                    "install the same version on every machine"
                )
            hand.place = answer
            self._load_placed()
        else:
            self._check(hand, answer)
        return None

    def _load_placed(self) -> None:
        """Let workers load, the first when all are placed: it is known then how many share a machine."""
        self._all_placed = self._all_placed or all(hand.place for hand in self._hands.values())
        if not self._all_placed:
            return
        sharing = Counter(hand.place.node for hand in self._hands.values() if hand.place)
        for hand in self._hands.values():
            if hand.place and hand.loaded is None and hand.awaited is None:
                hand.awaited = hand.actor.load.remote(max(1, hand.place.cpus // sharing[hand.place.node]))

    def _check(self, hand: _Hand, answer: Loaded | Broken) -> None:
        host = hand.place.host if hand.place else "?"
        if isinstance(answer, Broken):
            raise BackendError(f"{answer.reason} (in a Ray worker on {host})")
        first = self._first or answer
        if first != answer:
            there, here = answer.fingerprint, first.fingerprint
            names = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
            raise BackendError(
                f"execution.ray: the worker on {host} has loaded something else than the first worker "
                f"({', '.join(names) or 'whole_clips'} differ); every machine needs the same model, with the "
                "same versions"
            )
        self._first = hand.loaded = first

    def recognize(self, worker: int, payload: Any, cap: int | None) -> Any:
        """Let a worker recognize the windows that `payload` refers to; returns a reference to the answer."""
        return self._hands[worker].actor.recognize.remote(payload, cap)

    def supports(self, worker: int, language: str | None) -> Any:
        """Ask a worker whether it can expect a language; returns a reference to the answer."""
        return self._hands[worker].actor.supports.remote(language)

    def put(self, windows: Sequence[AudioWindow]) -> Any:
        """Make windows available to all workers; returns a reference to them."""
        return self._ray.put([AudioWindow(window.samples, window.language) for window in windows])

    def answer(self, worker: int, ref: Any) -> Any:
        """Return what a worker answered, or that it is lost. Raises BackendError where Ray itself fails."""
        errors = self._ray.exceptions
        gone = (
            errors.RayActorError, errors.NodeDiedError, errors.WorkerCrashedError, errors.OutOfMemoryError,
            errors.ObjectLostError, errors.ActorUnschedulableError,
        )  # fmt: skip
        try:
            return self._ray.get(ref)
        except gone as error:
            return Lost(worker, f"{type(error).__name__}: {_first_line(error)}")
        except errors.RayError as error:
            raise BackendError(
                f"execution.executor ray: {type(error).__name__}: {_first_line(error)}; "
                "continue with --resume"
            ) from None

    def replace(self, lost: Lost) -> None:
        """Start a worker in the place of a lost one. Raises BackendError where too many were."""
        hand = self._hands.pop(lost.worker)
        self._ray.kill(hand.actor)  # where it is only out of reach, it must not go on
        self.lost += 1
        allowed = REPLACEMENTS_PER_WORKER * self._size
        if self.lost > allowed:
            raise BackendError(
                f"execution.executor ray: {self.lost} workers were lost, and {allowed} are replaced at most; "
                f"the last: {lost.reason}; find out why, then continue with --resume"
            )
        self._start()

    def check_patience(self) -> None:
        """Raise BackendError where Ray has not found room for the workers that are needed for long."""
        placed = [hand.place is not None for hand in self._hands.values()]
        if any(placed) if self._all_placed else all(placed):
            self._waiting_since = None
            return
        now = time.monotonic()
        self._waiting_since = self._waiting_since or now
        if now - self._waiting_since > _PLACE_SECONDS:
            raise BackendError(
                f"execution.executor ray: Ray found no room for a worker in {_PLACE_SECONDS:g} s; see "
                "`ray status` for what else runs there"
            )

    def dismiss(self) -> None:
        """End all workers."""
        for hand in self._hands.values():
            self._ray.kill(hand.actor)
        self._hands.clear()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else "no reason given"
