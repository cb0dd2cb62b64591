"""Ray workers without Ray: what they must agree on, how they share CPUs, and what they tell of errors."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from misheard import __version__
from misheard.errors import BackendError
from misheard.execution import RaySettings
from misheard.recognizers.fake import FakeRecognizer
from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    OutOfMemoryError,
    RecognizedBatch,
    WindowTranscript,
)
from misheard.recognizers.settings import CTranslate2Settings, FakeRecognizerSettings, TransformersSettings
from misheard.run.executors.ray_crew import Crew
from misheard.run.executors.ray_worker import (
    Broken,
    Loaded,
    Place,
    RecognitionWorker,
    Recognized,
    with_threads,
)

WINDOWS = [AudioWindow(np.full(1600, 0.1 * n, np.float32), "en") for n in range(1, 5)]


class StandInRay:
    """Ray's calls, answered at once: a reference is the answer itself."""

    exceptions = SimpleNamespace(
        **{
            name: type(name, (Exception,), {})
            for name in (
                "RayError", "RayActorError", "NodeDiedError", "WorkerCrashedError", "OutOfMemoryError",
                "ObjectLostError", "ActorUnschedulableError",
            )
        }
    )  # fmt: skip

    def __init__(self, places: Sequence[Place], loaded: Sequence[Loaded | Broken]) -> None:
        self._places = iter(places)
        self._loaded = iter(loaded)
        self.threads: list[int] = []

    def remote(self, cls: type) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: self._actor()))

    def _actor(self) -> Any:
        def load(threads: int) -> Loaded | Broken:
            self.threads.append(threads)
            return next(self._loaded)

        place = next(self._places)
        return SimpleNamespace(place=SimpleNamespace(remote=lambda: place), load=SimpleNamespace(remote=load))

    def get(self, ref: Any) -> Any:
        return ref


def place(node: str, cpus: int = 8, version: str = __version__) -> Place:
    return Place(node, f"host-{node}", cpus, version)


def loaded(**fingerprint: str) -> Loaded:
    return Loaded(fingerprint, whole_clips=False)


def begin(ray: StandInRay, workers: int) -> Crew:
    crew = Crew(ray, FakeRecognizerSettings(), RaySettings(workers=workers), cpu=True)
    crew.begin()
    while crew.awaited:
        assert crew.take(crew.awaited[0]) is None
    return crew


@pytest.mark.parametrize("address", ["local", "", "somewhere", "ray://10.0.0.5:10001", "10.0.0.5:"])
def test_an_address_is_of_a_ray_that_runs_already(address: str) -> None:
    """Ray would start one of its own for `local`, that anybody may reach."""
    with pytest.raises(ValidationError, match="address"):
        RaySettings(address=address)
    assert RaySettings(address="[::1]:6379").address and RaySettings(address="auto").address


def test_workers_of_one_machine_share_its_cpus() -> None:
    places = [place("a"), place("b", cpus=6), place("a")]
    ray = StandInRay(places, [Loaded({"n": 1}, False) for _ in places])
    crew = begin(ray, 3)
    assert ray.threads == [4, 6, 4]
    assert crew.ready == [0, 1, 2]


@pytest.mark.parametrize(
    ("places", "answers", "message"),
    [
        (
            [place("a"), place("b")],
            [loaded(device="cuda", content="1"), loaded(device="cpu", content="1")],
            r"the worker on host-b has loaded something else than the first worker \(device differ\)",
        ),
        (
            [place("a"), place("b")],
            [loaded(), Broken("recognizer.model: /m has no model.bin")],
            r"^recognizer\.model: /m has no model\.bin \(in a Ray worker on host-b\)$",
        ),
        (
            [place("a"), place("b", version="0.0.1")],
            [],
            rf"host-b has misheard 0\.0\.1, this run {__version__}",
        ),
    ],
    ids=["fingerprints", "a model", "versions"],
)
def test_workers_that_differ_end_the_run(
    places: list[Place], answers: list[Loaded | Broken], message: str
) -> None:
    with pytest.raises(BackendError, match=message):
        begin(StandInRay(places, answers), len(places))


@pytest.mark.parametrize(
    ("settings", "threads"),
    [
        (CTranslate2Settings(model="m"), 3),
        (CTranslate2Settings(model="m", threads=5), 5),
        (TransformersSettings(model="m"), 3),
        (FakeRecognizerSettings(), None),
    ],
    ids=["left open", "said", "torch", "no such option"],
)
def test_threads_are_shared_where_the_settings_leave_them_open(settings: Any, threads: int | None) -> None:
    assert getattr(with_threads(settings, 3), "threads", None) == threads


class Narrow(FakeRecognizer):
    """Has room for two windows, and prepares features as on a GPU."""

    def fingerprint(self) -> dict[str, Any]:
        return {"device": "cuda"}

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return Features(len(batch), 0.5)

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        if len(batch) > 2:
            raise OutOfMemoryError("too large")
        assert features is None or features.value == len(batch)
        tokens = None if features is None else features.value
        return RecognizedBatch(tuple(WindowTranscript("x", tokens=tokens) for _ in batch), 0.0, 0.0)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> RecognitionWorker:
    """A worker with a recognizer that is too small for four windows."""
    settings = FakeRecognizerSettings()
    made = "misheard.run.executors.ray_worker.make_recognizer"
    monkeypatch.setattr(made, lambda *_, **__: Narrow(settings))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    one = RecognitionWorker(settings, cpu=True)
    assert one.load(2) == Loaded({"device": "cuda"}, whole_clips=False)
    return one


def test_a_worker_halves_what_does_not_fit_and_tells_the_cap(worker: RecognitionWorker) -> None:
    answer = worker.recognize(WINDOWS, None)
    assert isinstance(answer, Recognized)
    assert answer.memory_cap == 2
    assert [window.failure_kind for window in answer.outcome.windows] == [None] * 4
    again = worker.recognize(WINDOWS[:2], 2)
    assert isinstance(again, Recognized)
    assert [w.transcript and w.transcript.tokens for w in again.outcome.windows] == [2, 2], (
        "features were ready"
    )


def test_what_goes_wrong_in_a_worker_is_told_without_its_message(
    worker: RecognitionWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> None:
        raise ValueError("canary: what was said")

    monkeypatch.setattr(Narrow, "recognize", break_down)
    answer = worker.recognize(WINDOWS[:1], None)
    assert isinstance(answer, Broken)
    assert "ValueError in " in answer.reason
    assert "break_down" in answer.reason
    assert "canary" not in answer.reason
