"""How a session ends before its time: at once, with the first error, and with a trace that can be read."""

import contextlib
import errno
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from played_sessions import (
    FakeClock,
    LoudIsSpeech,
    ScriptedModel,
    ScriptedRecognizer,
    corrects_and_plans,
    make_system,
    play,
    rows_of,
    spoken,
)

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.protocol import Completion
from misheard.soak.reading import read_trace
from misheard.soak.replay import pipeline, trace_writer
from misheard.soak.replay.clock import SessionClock
from misheard.soak.replay.faults import FaultPlan, parse_fault
from misheard.soak.replay.faults_protocol import NoFaults
from misheard.soak.replay.full_disk import FullDisk
from misheard.soak.replay.values import Chunk

pytestmark = pytest.mark.timeout(60)

ENDLESS = 10**9
PLANS = {"correct": {}, "plan": {"kind": "language_model", "scope": "session"}}
BROKEN = BackendError("language_model: broke")


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 30
    while left := [one.name for one in threading.enumerate() if one.name.startswith("misheard-soak")]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_GRACE_SECONDS", 0.05)
    monkeypatch.setattr(pipeline, "_CLOSED_SECONDS", 0.2)


def check_trace(folder: Path) -> None:
    """The trace can be read, and does not say that all was done."""
    assert not rows_of(folder, "drained")
    if rows_of(folder):
        read_trace(folder / "trace.jsonl")


def broken_chunks() -> Iterator[Chunk]:
    yield from spoken(5)
    raise BROKEN


def hears_until_it_breaks(turn: int) -> str | BaseException:
    return BROKEN if turn == 7 else f"turn {turn} connects things"


def replies_until_it_breaks(count: int) -> Callable[[str, bool], Any]:
    """Breaks at the n-th reply."""
    left = iter(range(count))

    def reply(message: str, as_json: bool) -> Any:
        return BROKEN if next(left, None) is None else corrects_and_plans(message, as_json)

    return reply


class BrokenRenderer:
    batch_size = None

    def fingerprint(self) -> dict[str, Any]:
        return {}

    def complete(self, requests: Any) -> Iterator[Completion]:
        raise BROKEN

    def close(self) -> None: ...


class BrokenFaults(NoFaults):
    def before_chunk(self, start: float, stop: threading.Event) -> None:
        if start > 1:
            raise BROKEN

    def plan_reply(self, turn: str, audio_to: float, text: str) -> str:
        raise BROKEN


@pytest.mark.parametrize(
    ("system", "playing"),
    [
        pytest.param({}, {"chunks": broken_chunks()}, id="microphone"),
        pytest.param({"hears": ScriptedRecognizer(hears_until_it_breaks)}, {}, id="recognizer"),
        pytest.param({"model": ScriptedModel(replies_until_it_breaks(1))}, {}, id="model"),
        pytest.param({"model": ScriptedModel(replies_until_it_breaks(9)), **PLANS}, {}, id="planner"),
        pytest.param(
            {"model": ScriptedModel(corrects_and_plans, batch_size=2), "renderer": BrokenRenderer(), **PLANS},
            {}, id="renderer",
        ),
        pytest.param({}, {"faults": BrokenFaults()}, id="faults"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("speed", [None, 1.0])
def test_the_first_error_ends_the_session(
    tmp_path: Path, system: dict[str, Any], playing: dict[str, Any], speed: float | None
) -> None:
    if speed is not None and "chunks" in playing:
        playing = {"chunks": broken_chunks()}
    playing = {"chunks": spoken(ENDLESS), **playing}
    with pytest.raises(BackendError, match="broke"):
        play(tmp_path, make_system(**system), playing.pop("chunks"), speed=speed, **playing)
    check_trace(tmp_path)


def test_a_model_that_does_not_answer_everything_ends_the_session(tmp_path: Path) -> None:
    class Forgetful(ScriptedModel):
        def complete(self, requests: Any, sampling: Any) -> Iterator[Completion]:
            return iter(())

    with pytest.raises(BackendError, match="language_model: 1 request"):
        play(tmp_path, make_system(model=Forgetful(corrects_and_plans)), spoken(1))


@pytest.mark.parametrize(("attempts", "event"), [(2, "answer_failed"), (3, "answer_finished")])
def test_a_failure_that_may_pass_is_asked_again(tmp_path: Path, attempts: int, event: str) -> None:
    asked: list[str] = []

    def reply(message: str, as_json: bool) -> Any:
        asked.append(message)
        return FailureKind.TIMEOUT if len(asked) < 3 else "yes"

    play(tmp_path, make_system(model=ScriptedModel(reply), soak={"attempts": attempts}), spoken(1, 20, 20))
    assert [row["event"] for row in rows_of(tmp_path, "answer_failed", "answer_finished")] == [event]
    assert len(asked) == attempts


def test_a_failure_that_stays_is_asked_once(tmp_path: Path) -> None:
    model = ScriptedModel(lambda message, as_json: FailureKind.PROMPT_TOO_LONG)
    play(tmp_path, make_system(model=model), spoken(1))
    assert len(model.asked) == len(rows_of(tmp_path, "answer_failed")) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_takes_no_more_ends_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(trace_writer, "_FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(trace_writer, "MOST_WAITING", 50)
    room = 3_000

    def write(file: int, data: memoryview) -> int:
        nonlocal room
        written = os.write(file, data[:room])
        room -= written
        if not written:
            raise OSError(number, os.strerror(number))
        return written

    with pytest.raises(OSError, match=r"trace\.jsonl") as full:
        play(tmp_path, make_system(), spoken(ENDLESS), write=write)
    assert full.value.errno == number
    check_trace(tmp_path)


@pytest.mark.parametrize("breaks", [False, True])
def test_a_disk_that_is_full_on_purpose_takes_everything_once_the_session_ends(
    tmp_path: Path, breaks: bool
) -> None:
    clock = SessionClock()
    disk = FullDisk(clock)
    plan = FaultPlan([parse_fault("disk_full@0+86400")], clock=clock, disk=disk, emit=lambda kind: None)
    system = make_system(ScriptedRecognizer(hears_until_it_breaks) if breaks else None)
    ends = pytest.raises(BackendError) if breaks else contextlib.nullcontext()
    with ends:
        play(
            tmp_path,
            system,
            spoken(8 if breaks else 5),
            clock=clock,
            speed=None,
            faults=plan,
            write=disk.write,
        )
    assert len(rows_of(tmp_path, "drained")) == (not breaks)
    assert len(rows_of(tmp_path, "transcript_final")) >= (4 if breaks else 5)


def interrupt_after(seconds: float) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def interrupt_once() -> Callable[[], None]:
    """What interrupts the main thread when it is first called."""
    left = iter(range(1))

    def interrupt() -> None:
        if next(left, None) is not None:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


@pytest.mark.parametrize("seed", range(8))
def test_ctrl_c_ends_it_wherever_it_is(tmp_path: Path, seed: int) -> None:
    choices = random.Random(seed)
    system = make_system(
        ScriptedRecognizer(delay=lambda: choices.choice([0.0, 0.005])),
        ScriptedModel(corrects_and_plans, lambda: choices.choice([0.0, 0.005]), choices.choice([None, 3])),
        **PLANS,
    )
    clock = choices.choice([SessionClock, FakeClock])()
    interrupt_after(choices.uniform(0.01, 0.15))
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, system, spoken(ENDLESS), clock=clock, speed=choices.choice([None, 1.0, 50.0]))
    check_trace(tmp_path)


def test_ctrl_c_while_the_threads_start_ends_those_that_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, left = threading.Thread.start, iter(range(2))

    def interrupted(thread: threading.Thread) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, make_system(), spoken(ENDLESS))
    check_trace(tmp_path)


def test_what_waits_for_a_model_is_let_go_by_closing_it(
    tmp_path: Path,
    impatient: None,
) -> None:
    interrupt = interrupt_once()

    def waits() -> float:
        interrupt()
        return 3_600.0

    model = ScriptedModel(corrects_and_plans, delay=waits)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, make_system(model=model, **PLANS), spoken(ENDLESS))
    assert model.closed.is_set()
    check_trace(tmp_path)


def test_a_recognizer_that_never_returns_holds_nothing_up(
    tmp_path: Path,
    impatient: None,
) -> None:
    let_go = threading.Event()

    interrupt = interrupt_once()

    def hear(turn: int) -> str:
        interrupt()
        let_go.wait()
        return "late"

    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, make_system(ScriptedRecognizer(hear)), spoken(ENDLESS))
    written = (tmp_path / "trace.jsonl").read_bytes()
    let_go.set()
    time.sleep(0.05)
    # what it says afterwards is not part of the session
    assert (tmp_path / "trace.jsonl").read_bytes() == written
    check_trace(tmp_path)


def test_an_ear_that_breaks_ends_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def probability(self: LoudIsSpeech, chunk: Chunk) -> float:
        raise BROKEN

    monkeypatch.setattr(LoudIsSpeech, "probability", probability)
    with pytest.raises(BackendError, match="broke"):
        play(tmp_path, make_system(), spoken(ENDLESS))
