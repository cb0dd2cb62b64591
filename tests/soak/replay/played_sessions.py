"""Sessions without models: audio that says which turn it is of, and parts that read it back."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from misheard.config import RunConfig
from misheard.failures import FailureKind
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.recognizers.protocol import (
    AudioWindow,
    Features,
    RecognizedBatch,
    WindowFailed,
    WindowTranscript,
)
from misheard.renderers.board import BoardRenderer
from misheard.run.prompts import load_prompts
from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.faults_protocol import Faults
from misheard.soak.replay.pipeline import Replayed, Session, System, replay
from misheard.soak.replay.trace_writer import TraceWriter
from misheard.soak.replay.values import CHUNK_SAMPLES, CHUNK_SECONDS, Chunk
from misheard.soak.verdict import SoakVerdict, judge_trace

QUICK = {
    "endpointing": {"min_speech_seconds": 0.03, "min_silence_seconds": 0.06, "pad_seconds": 0.0},
}
"""Turns of two chunks, with two chunks of silence behind them."""
_STEP = 2.0**-17


class FakeClock:
    """Time that passes where the microphone sleeps, and in no other way.

    Whoever sleeps besides wakes up when it is time, and time goes on once they sleep again. Durations are
    real.
    """

    def __init__(self, sleepers: int = 1, driver: str = "misheard-soak-microphone") -> None:
        self._sleepers, self._driver = sleepers, driver
        self._changed = threading.Condition()
        self._due: dict[int, float] = {}
        self._now = 0.0

    def begin(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def steady(self) -> float:
        return time.perf_counter()

    def jump(self, seconds: float) -> None:
        self._now += max(0.0, seconds)

    def sleep_until(self, t: float, stop: threading.Event) -> bool:
        with self._changed:
            if threading.current_thread().name == self._driver:
                self._advance(t, stop)
            else:
                self._wait(t, stop)
        return not stop.is_set()

    def _advance(self, t: float, stop: threading.Event) -> None:
        while self._now < t and not stop.is_set():
            if len(self._due) < self._sleepers or min(self._due.values(), default=t) <= self._now:
                self._changed.wait(0.01)
            else:
                self._now = min(t, *self._due.values())
                self._changed.notify_all()

    def _wait(self, t: float, stop: threading.Event) -> None:
        own = threading.get_ident()
        self._due[own] = t
        self._changed.notify_all()
        while self._now < t and not stop.is_set():
            self._changed.wait(0.01)
        del self._due[own]


class LoudIsSpeech:
    """A voice activity detector for the audio of `spoken`."""

    def probability(self, chunk: Chunk) -> float:
        return 0.9 if chunk.samples[0] else 0.0

    def reset(self) -> None:
        """Nothing is remembered."""


def spoken(turns: int, speech: int = 2, silence: int = 2) -> Iterator[Chunk]:
    """Turns of so many chunks; each sample says the number of its turn, and each chunk its item."""
    number = 0
    for turn in range(turns):
        for place in range(speech + silence):
            value = (turn + 1) * _STEP if place < speech else 0.0
            item = f"i{turn}" if place < speech else None
            yield Chunk(number, np.full(CHUNK_SAMPLES, value, np.float32), item)
            number += 1


def turns_in(samples: np.ndarray[Any, Any]) -> list[int]:
    """Return the numbers of the turns that some audio is of."""
    return [round(value / _STEP) - 1 for value in np.unique(samples[samples > 0])]


@dataclass
class ScriptedRecognizer:
    """Hears `word N` in turn N; `outcome` says what else it does with a turn, and how long that takes."""

    outcome: Callable[[int], str | FailureKind | BaseException] = lambda turn: f"turn {turn} connects things"
    delay: Callable[[], float] = lambda: 0.0
    heard: list[int] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    closed: int = 0
    whole_clips: bool = False

    def load(self) -> None: ...

    def warm_up(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]:
        return {"backend": "scripted"}

    def supports(self, language: str | None) -> bool:
        return language != "tlh"

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        time.sleep(self.delay())
        self.batches.append(len(batch))
        return RecognizedBatch(tuple(map(self._one, batch)), 0.0, 0.0)

    def close(self) -> None:
        self.closed += 1

    def _one(self, window: AudioWindow) -> WindowTranscript | WindowFailed:
        (turn,) = turns_in(window.samples)
        self.heard.append(turn)
        outcome = self.outcome(turn)
        if isinstance(outcome, BaseException):
            raise outcome
        if isinstance(outcome, FailureKind):
            return WindowFailed(outcome, "scripted")
        return WindowTranscript(outcome, window.language)


Answer = str | FailureKind | BaseException


@dataclass
class ScriptedModel:
    """Answers what `reply` makes of the last message, and of whether JSON is asked for; in any order."""

    reply: Callable[[str, bool], Answer]
    delay: Callable[[], float] = lambda: 0.0
    batch_size: int | None = None
    seed: int = 0
    asked: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    at_once: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    _inside: int = 0

    def check(self) -> None: ...

    def start(self) -> None: ...

    def warm_up(self, sampling: Sampling) -> None: ...

    def fingerprint(self) -> dict[str, Any]:
        return {"kind": "scripted"}

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        self._inside += 1
        self.at_once = max(self.at_once, self._inside)
        try:
            self.calls.append(len(requests))
            for request in random.Random(self.seed).sample(requests, len(requests)):
                self.closed.wait(self.delay())
                self.asked.append(request.key)
                answer = self.reply(request.messages[-1].content, sampling.json_schema is not None)
                if isinstance(answer, BaseException):
                    raise answer
                failure = answer if isinstance(answer, FailureKind) else None
                yield Completion(request.key, None if failure else str(answer), failure, finish_reason="stop")
        finally:
            self._inside -= 1

    def close(self) -> None:
        self.closed.set()


def plan_of(*labels: str) -> str:
    """A plan of shapes in a row, each connected to the one before."""
    shapes = [{"id": label, "kind": "box", "label": label} for label in labels]
    ends = pairwise(labels)
    connections = [{"from": one, "to": other, "label": ""} for one, other in ends]
    return json.dumps({"shapes": shapes, "connections": connections})


def corrected(transcript: str) -> str:
    return json.dumps({"transcript": transcript})


def corrects_and_plans(message: str, as_json: bool) -> str:
    """Repeats what it is to correct, plans a shape for every utterance, and else says thanks."""
    lines = [line for line in message.splitlines() if line.endswith("connects things")]
    if message.startswith("Transcript: "):
        return corrected(lines[0].removeprefix("Transcript: "))
    return plan_of(*(line.split()[1] for line in lines)) if as_json else "Thank you very much"


def make_system(hears: Any = None, model: Any = None, renderer: Any = None, **sections: Any) -> System:
    """A system of scripted parts; keyword arguments are sections of its config."""
    config: dict[str, Any] = {"recognizer": {"kind": "fake", "batch_size": 4}, "soak": QUICK}
    if model is not None:
        config["language_model"] = {"kind": "fake"}
    parsed = RunConfig.model_validate({**config, **sections})
    if parsed.plan is not None and renderer is None:
        renderer = BoardRenderer()
    return System(hears or ScriptedRecognizer(), model, None, renderer, parsed, load_prompts(parsed))


def play(
    folder: Path,
    system: System,
    chunks: Iterator[Chunk],
    *,
    clock: Clock | None = None,
    speed: float | None = 1.0,
    faults: Faults | None = None,
    language_of: Callable[[str | None], str | None] = lambda item: "en",
    **writing: Any,
) -> Replayed:
    """Play a session; its trace is `trace.jsonl` of the folder."""
    clock = clock or FakeClock()
    writer = TraceWriter(folder / "trace.jsonl", clock, **writing)
    session = Session(chunks, LoudIsSpeech(), language_of)
    return replay(system, session, clock, writer, speed, faults)


def rows_of(folder: Path, *events: str) -> list[Mapping[str, Any]]:
    """The events of a trace in order, or those of some names."""
    lines = (folder / "trace.jsonl").read_text().splitlines()[1:]
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if not events or row["event"] in events]


def verdict_of(folder: Path, limits: Limits | None = None) -> SoakVerdict:
    path = folder / "trace.jsonl"
    return judge_trace(read_trace(path), limits or Limits(), path.name, None)


def seconds_of(turns: int, speech: int = 2, silence: int = 2) -> float:
    return turns * (speech + silence) * CHUNK_SECONDS
