"""Carrying a batch plan out: order, reading ahead, and batches that do not fit into memory."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from misheard.config import load_config
from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.fake import FakeRecognizer
from misheard.recognizers.protocol import AudioWindow, Features, OutOfMemoryError, RecognizedBatch
from misheard.recognizers.settings import FakeRecognizerSettings
from misheard.run.clock import Clock
from misheard.run.context import RunOptions
from misheard.run.executors.local import LocalExecutor
from misheard.run.executors.protocol import PlannedBatch, as_generator
from misheard.run.plan import PlannedWindow
from misheard.run.progress import NoProgress
from misheard.run.runner import run
from misheard.stages.recognize import recognize_within_memory


def window(number: int) -> AudioWindow:
    return AudioWindow(np.full(160, number / 1000, np.float32), "en")


def batches(*sizes: int) -> list[PlannedBatch]:
    made, first = [], 0
    for number, size in enumerate(sizes):
        names = range(first, first + size)
        made.append(
            PlannedBatch(number, tuple(PlannedWindow(str(i), 0, 0, 160, str(i), 0.0, number) for i in names))
        )
        first += size
    return made


def read(planned: PlannedWindow) -> AudioWindow:
    return window(int(planned.item))


def texts(executor: LocalExecutor, plan: Sequence[PlannedBatch]) -> list[list[str | None]]:
    return [
        [None if one.transcript is None else one.transcript.text for one in done.outcome.windows]
        for done in executor.recognize(plan, read)
    ]


class Ahead(FakeRecognizer):
    """Notes which thread computes the features of which batch, and what it is given."""

    def __init__(self, device: str = "cuda", memory_windows: int | None = None) -> None:
        super().__init__(FakeRecognizerSettings(memory_windows=memory_windows))
        self.device = device
        self.featured: list[tuple[int, bool]] = []
        self.given: list[tuple[int, bool]] = []

    def fingerprint(self) -> dict[str, object]:
        return {**super().fingerprint(), "device": self.device}

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        self.featured.append((len(batch), threading.current_thread() is threading.main_thread()))
        return Features([float(one.samples[0]) for one in batch], 0.25)

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        if features is not None:
            assert features.value == [float(one.samples[0]) for one in batch]
        self.given.append((len(batch), features is not None))
        return super().recognize(batch)


@pytest.mark.parametrize("read_ahead", [0, 1, 3, 64])
def test_order_and_texts_do_not_depend_on_reading_ahead(read_ahead: int) -> None:
    plan = batches(3, 3, 3, 2)
    found = texts(LocalExecutor(Ahead(), read_ahead), plan)
    alone = texts(LocalExecutor(FakeRecognizer(FakeRecognizerSettings()), 0), plan)
    assert [len(batch) for batch in found] == [3, 3, 3, 2]
    assert found == alone


def test_features_are_computed_by_another_thread_and_used() -> None:
    recognizer = Ahead()
    texts(LocalExecutor(recognizer, 2), batches(2, 2, 1))
    assert recognizer.featured == [(2, False), (2, False), (1, False)]
    assert recognizer.given == [(2, True), (2, True), (1, True)]


def test_on_a_cpu_nothing_is_done_ahead() -> None:
    recognizer = Ahead(device="cpu")
    texts(LocalExecutor(recognizer, 2), batches(2, 1))
    assert recognizer.featured == []


def test_no_more_is_read_ahead_than_asked_for() -> None:
    seen: list[str] = []

    def noted(planned: PlannedWindow) -> AudioWindow:
        seen.append(planned.item)
        return read(planned)

    done = as_generator(LocalExecutor(Ahead(), 2), batches(*[1] * 20), noted)
    next(done)
    done.close()
    assert len(seen) <= 3


def test_what_cannot_be_read_fails_alone() -> None:
    def damaged(planned: PlannedWindow) -> AudioWindow:
        if planned.item == "1":
            raise ItemFailedError(FailureKind.AUDIO_UNDECODABLE, "changed")
        return read(planned)

    (done,) = LocalExecutor(Ahead(), 2).recognize(batches(3), damaged)
    kinds = [one.failure_kind for one in done.outcome.windows]
    assert kinds == [None, FailureKind.AUDIO_UNDECODABLE, None]


def test_an_unreadable_batch_asks_nobody() -> None:
    def gone(planned: PlannedWindow) -> AudioWindow:
        raise ItemFailedError(FailureKind.AUDIO_MISSING, "gone")

    recognizer = Ahead()
    (done,) = LocalExecutor(recognizer, 1).recognize(batches(2), gone)
    assert [one.failure_kind for one in done.outcome.windows] == [FailureKind.AUDIO_MISSING] * 2
    assert recognizer.given == []


@pytest.mark.parametrize(
    ("room", "size", "cap", "pieces"),
    [
        (8, 8, None, [8]),
        (4, 8, 4, [8, 4, 4]),
        (3, 8, 2, [8, 4, 2, 2, 2, 2]),
        (1, 5, 1, [5, 3, 2, 1, 1, 1, 1, 1]),
        (2, 5, 2, [5, 3, 2, 1, 2]),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_along_its_order(
    room: int, size: int, cap: int | None, pieces: list[int]
) -> None:
    recognizer = Ahead(memory_windows=room)
    batch = [window(number) for number in range(size)]
    outcome, found = recognize_within_memory(recognizer, batch)
    whole, _ = recognize_within_memory(FakeRecognizer(FakeRecognizerSettings()), batch)
    assert found == cap
    assert [n for n, _ in recognizer.given] == pieces
    assert [one.transcript for one in outcome.windows] == [one.transcript for one in whole.windows]


def test_the_cap_is_remembered_for_later_batches_and_told() -> None:
    recognizer = Ahead(memory_windows=2)
    executor = LocalExecutor(recognizer, 1)
    done = list(executor.recognize(batches(4, 4), read))
    assert [n for n, _ in recognizer.given] == [4, 2, 2, 2, 2]
    assert [one.note for one in done] == [{"memory_cap": 2}, {"memory_cap": 2}]
    assert executor.facts()["memory_cap"] == 2


def test_a_resumed_run_begins_with_the_cap_that_was_found() -> None:
    recognizer = Ahead(memory_windows=2)
    texts(LocalExecutor(recognizer, 0, memory_cap=2), batches(4))
    assert [n for n, _ in recognizer.given] == [2, 2]


def test_a_window_that_does_not_fit_alone_fails_alone() -> None:
    outcome, cap = recognize_within_memory(Ahead(memory_windows=0), [window(0), window(1)])
    assert cap == 1
    assert [one.failure_kind for one in outcome.windows] == [FailureKind.ASR_ERROR] * 2
    assert "memory" in outcome.windows[0].failure_detail


def test_features_that_do_not_fit_ahead_are_computed_with_the_pieces() -> None:
    class Tight(Ahead):
        def features(self, batch: Sequence[AudioWindow]) -> Features | None:
            raise OutOfMemoryError("features")

    recognizer = Tight(memory_windows=2)
    assert len(texts(LocalExecutor(recognizer, 1), batches(4))[0]) == 4
    assert not any(given for _, given in recognizer.given)


def test_a_whole_run_tells_its_cap(tmp_path: Path, make_suite, make_config) -> None:  # type: ignore[no-untyped-def]
    from misheard.config import load_config
    from misheard.run.clock import Clock
    from misheard.run.context import RunOptions
    from misheard.run.progress import NoProgress
    from misheard.run.runner import run

    notes: list[str] = []

    class Noted(NoProgress):
        def note(self, text: str) -> None:
            notes.append(text)

    def report(name: str, *sets: str) -> dict[str, object]:
        config = load_config(make_config(), sets)
        return run(
            config, RunOptions(tmp_path / name, make_suite(name=f"suite-{name}"), cpu=True), Noted(), Clock()
        ).report

    tight = report("tight", "recognizer.memory_windows=1", "recognizer.batch_size=4")
    roomy = report("roomy", "recognizer.batch_size=4")
    assert any("out of memory" in note and "1 window" in note for note in notes)
    assert tight["determinism"]["memory_cap"] == 1  # type: ignore[index]
    assert tight["matrix"] == roomy["matrix"]


def test_a_waiting_window_keeps_no_whole_recording_in_memory(
    tmp_path: Path,
    make_suite: Callable[..., Path],
    make_config: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hear, kept = FakeRecognizer.recognize, []

    def noted(
        self: FakeRecognizer, batch: Sequence[AudioWindow], features: Features | None = None
    ) -> RecognizedBatch:
        kept.extend(one.samples.base is None for one in batch)
        return hear(self, batch, features)

    monkeypatch.setattr(FakeRecognizer, "recognize", noted)
    suite = make_suite(speech=1, silent=0, seconds=40.0)
    options = RunOptions(tmp_path / "out", suite, cpu=True)
    run(load_config(make_config(language_model=None)), options, NoProgress(), Clock())
    assert len(kept) > 1 and all(kept)
