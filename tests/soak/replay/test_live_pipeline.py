"""A session through all stages at once: what the trace says of it, whatever happens in between."""

import gc
import random
import threading
import weakref
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_sessions import (
    QUICK,
    Answer,
    ScriptedModel,
    ScriptedRecognizer,
    corrected,
    corrects_and_plans,
    make_system,
    plan_of,
    play,
    rows_of,
    seconds_of,
    spoken,
    verdict_of,
)

from misheard.failures import FailureKind
from misheard.soak.limits import Limits
from misheard.soak.replay.clock import SessionClock
from misheard.soak.replay.queues import Inbox
from misheard.soak.replay.values import CHUNK_SECONDS, TurnClosed
from misheard.soak.replay.workers import Worker
from misheard.stats.gate import Status

PLANS = {"correct": {}, "plan": {"kind": "language_model", "scope": "session"}}
QUICKEST = {"endpointing": {"min_speech_seconds": 0.03, "min_silence_seconds": 0.03, "pad_seconds": 0.0}}
MECHANISM = (
    "unresolved", "merged_finals", "duplicate_finals", "operation_order", "connections_drawn",
    "board_keeps_shapes", "ready_after_last_operation", "audio_coverage",
)  # fmt: skip


def statuses(folder: Path) -> dict[str, Status]:
    lenient = Limits(failed_share_at_most=1.0, empty_share_at_most=1.0)
    return {check.id: check.status for check in verdict_of(folder, lenient).verdict.checks}


def by_turn(folder: Path, *events: str) -> list[str]:
    return [row["turn"] for row in rows_of(folder, *events)]


def test_a_healthy_session_passes_every_check(tmp_path: Path) -> None:
    system = make_system(model=ScriptedModel(corrects_and_plans), **PLANS, soak={})
    replayed = play(tmp_path, system, spoken(50, speech=60, silence=40))
    judged = verdict_of(tmp_path)
    undecided = {check.id for check in judged.verdict.checks if check.status is not Status.PASS}
    assert undecided == {"failed_blocks_nothing", "streaming"}
    assert judged.exit_code == 0
    assert (replayed.turns, replayed.counts) == (50, judged.counts)
    assert replayed.seconds == judged.seconds
    assert replayed.behind_seconds == 0.0
    assert {*replayed.blocked_seconds} == {"endpoint", "recognize", "correct", "plan", "render"}


@pytest.mark.parametrize(
    ("sections", "model", "ends"),
    [
        ({}, None, "transcript_final"),
        ({}, corrects_and_plans, "answer_finished"),
        ({"correct": {}}, corrects_and_plans, "answer_finished"),
        ({"plan": {"kind": "language_model"}}, corrects_and_plans, "board_ready"),
    ],
)
def test_every_kind_of_system_ends_every_turn(
    tmp_path: Path, sections: dict[str, Any], model: Any, ends: str
) -> None:
    asked = None if model is None else ScriptedModel(model)
    play(tmp_path, make_system(model=asked, **sections), spoken(12), speed=None)
    assert by_turn(tmp_path, ends) == [f"t{turn}" for turn in range(1, 13)]
    assert rows_of(tmp_path)[-1]["event"] == "drained"
    assert len(by_turn(tmp_path, "corrected")) == (12 if "correct" in sections else 0)


def test_a_session_without_speech_is_drained(tmp_path: Path) -> None:
    replayed = play(tmp_path, make_system(), spoken(0, silence=0), speed=None)
    assert [row["event"] for row in rows_of(tmp_path) if row["event"] != "sample"] == [
        "microphone_stopped", "drained",
    ]  # fmt: skip
    assert replayed.turns == 0


def test_times_are_those_of_the_audio_and_of_its_feeding(tmp_path: Path) -> None:
    play(tmp_path, make_system(), spoken(3, speech=20, silence=20), speed=2.0)
    length = 40 * CHUNK_SECONDS
    opened, closed = rows_of(tmp_path, "turn_opened"), rows_of(tmp_path, "turn_closed")
    for turn, (one, other) in enumerate(zip(opened, closed, strict=True)):
        begin, end = turn * length, turn * length + 20 * CHUNK_SECONDS
        assert one["audio_from"] == other["audio_from"] == pytest.approx(begin, abs=2e-6)
        assert other["audio_to"] == pytest.approx(end, abs=2e-6)
        # at speed 2, the last chunk of speech is fed at half of where it begins
        assert other["speech_end"] == pytest.approx((end - CHUNK_SECONDS) / 2, abs=2e-6)
        assert other["speech_end"] <= other["t"] >= one["t"]
    received = rows_of(tmp_path, "audio_received")
    edges = [0.0, *chain.from_iterable((row["audio_from"], row["audio_to"]) for row in received)]
    assert edges[1::2] == edges[:-1:2] and edges[-1] == pytest.approx(3 * length)
    assert rows_of(tmp_path, "microphone_stopped")[0]["audio_to"] == pytest.approx(3 * length)


def test_a_turn_that_is_open_when_the_microphone_stops_is_heard(tmp_path: Path) -> None:
    recognizer = ScriptedRecognizer()
    assert play(tmp_path, make_system(recognizer), spoken(1, silence=0), speed=None).turns == 1
    assert recognizer.heard == [0]
    assert by_turn(tmp_path, "turn_closed", "transcript_final") == ["t1", "t1"]


def test_the_recognizer_is_told_the_language_of_what_is_played(tmp_path: Path) -> None:
    recognizer = ScriptedRecognizer()
    languages: list[str | None] = []
    supports = recognizer.supports
    recognizer.supports = lambda language: languages.append(language) or supports(language)  # type: ignore[method-assign, func-returns-value]
    tags = {"i0": "cmn-Hans", "i1": "tlh", "i2": None}
    play(tmp_path, make_system(recognizer), spoken(3), speed=None, language_of=lambda item: tags[item or ""])
    assert languages == ["zh", "tlh", None]
    assert by_turn(tmp_path, "transcript_failed") == ["t2"]
    assert recognizer.heard == [0, 2]


@pytest.mark.parametrize(
    ("reply", "event", "goes_on"),
    [
        (corrected("turn 0 connect things"), "corrected", "turn 0 connect things"),
        ("I cannot help with that", "correction_failed", "turn 0 connects things"),
        (FailureKind.TIMEOUT, "correction_failed", "turn 0 connects things"),
    ],
)
def test_a_correction_that_fails_leaves_the_transcript(
    tmp_path: Path, reply: Answer, event: str, goes_on: str
) -> None:
    answered: list[str] = []

    def answer(message: str, as_json: bool) -> Answer:
        if as_json:
            return reply
        answered.append(message)
        return "yes"

    play(tmp_path, make_system(model=ScriptedModel(answer), correct={}), spoken(1), speed=None)
    (row,) = rows_of(tmp_path, "corrected", "correction_failed")
    assert row["event"] == event
    assert answered == [goes_on]
    if event == "corrected":
        assert (row["words"], row["words_changed"]) == (4, 1)
    (finished,) = rows_of(tmp_path, "answer_finished")
    assert finished["words"] == 1


@pytest.mark.parametrize("scope", ["item", "session"])
def test_a_plan_of_a_session_sees_the_last_utterances_and_its_board_goes_on(
    tmp_path: Path, scope: str
) -> None:
    prompts: list[str] = []

    def plan(message: str, as_json: bool) -> str:
        prompts.append(message)
        return corrects_and_plans(message, as_json)

    system = make_system(
        model=ScriptedModel(plan), plan={"kind": "language_model", "scope": scope},
        soak={**QUICK, "history_turns": 2},
    )  # fmt: skip
    play(tmp_path, system, spoken(3), speed=None)
    seen = [[int(line.split()[1]) for line in prompt.splitlines()] for prompt in prompts]
    drawn = [(row["turn"], row["type"], row["shapes"]) for row in rows_of(tmp_path, "operation_applied")]
    if scope == "item":
        assert sorted(seen) == [[0], [1], [2]]
        assert drawn == [
            row for turn in ("t1", "t2", "t3") for row in ((turn, "topic", 0), (turn, "add_shape", 1))
        ]
    else:
        assert sorted(seen) == [[0], [0, 1], [1, 2]]
        assert drawn == [
            ("t1", "add_shape", 1), ("t2", "add_shape", 2), ("t2", "connect", 2), ("t3", "disconnect", 2),
            ("t3", "remove", 1), ("t3", "add_shape", 2), ("t3", "connect", 2),
        ]  # fmt: skip
    accepted = rows_of(tmp_path, "plan_accepted")
    assert [row["operations"] for row in accepted] == ([1, 1, 1] if scope == "item" else [1, 3, 3])


def test_a_board_shows_what_it_took_and_a_plan_that_is_none_stops_nothing(tmp_path: Path) -> None:
    doubled = plan_of("a", "b").replace('"id": "b"', '"id": "a"')
    replies = {0: doubled, 1: "no plan", 2: FailureKind.PROMPT_TOO_LONG, 3: plan_of("a", "b")}

    def plan(message: str, as_json: bool) -> Answer:
        return replies[int(message.split()[1])]

    play(tmp_path, make_system(model=ScriptedModel(plan), plan={"kind": "language_model"}), spoken(4))
    assert by_turn(tmp_path, "plan_rejected") == ["t2", "t3"]
    rows = rows_of(tmp_path, "operation_accepted")
    assert [(row["turn"], row["type"]) for row in rows] == [
        ("t1", "topic"), ("t1", "add_shape"),
        ("t4", "topic"), ("t4", "add_shape"), ("t4", "add_shape"), ("t4", "connect"),
    ]  # fmt: skip
    assert by_turn(tmp_path, "board_ready") == ["t1", "t4"]


class Trouble:
    """Faults at every place that a pipeline asks at."""

    def __init__(self) -> None:
        self.starts: list[float] = []

    def before_chunk(self, start: float, stop: threading.Event) -> None:
        self.starts.append(start)

    def recognizing(self, turn: str, audio_to: float) -> FailureKind | None:
        assert audio_to == pytest.approx(seconds_of(int(turn[1:])) - 2 * CHUNK_SECONDS)
        return FailureKind.TIMEOUT if turn == "t2" else None

    def plan_reply(self, turn: str, audio_to: float, text: str) -> str:
        assert audio_to == pytest.approx(seconds_of(int(turn[1:])) - 2 * CHUNK_SECONDS)
        return text[:5] if turn == "t3" else text


def test_faults_are_put_in_where_they_belong(tmp_path: Path) -> None:
    trouble, recognizer = Trouble(), ScriptedRecognizer()
    system = make_system(
        recognizer, ScriptedModel(corrects_and_plans), plan={"kind": "language_model"}
    )  # fmt: skip
    play(tmp_path, system, spoken(4), faults=trouble)
    assert trouble.starts == [number * CHUNK_SECONDS for number in range(16)]
    assert by_turn(tmp_path, "transcript_failed") == ["t2"]
    assert by_turn(tmp_path, "plan_rejected") == ["t3"]
    assert by_turn(tmp_path, "board_ready") == ["t1", "t4"]
    assert recognizer.heard == [0, 2, 3]


def test_the_board_of_a_renderer_that_fails_stays_as_it_was(tmp_path: Path) -> None:
    class Broken:
        """Draws every second plan."""

        batch_size = None

        def fingerprint(self) -> dict[str, Any]:
            return {}

        def complete(self, requests: Any) -> Any:
            from misheard.language_models.protocol import Completion
            from misheard.renderers.board import BoardRenderer

            for request in requests:
                if len(request.payload["plan"]["shapes"]) % 2:
                    yield from BoardRenderer().complete([request])
                else:
                    yield Completion(request.key, None, FailureKind.RENDERER_ERROR, "scripted")

    system = make_system(
        model=ScriptedModel(corrects_and_plans), renderer=Broken(), plan=PLANS["plan"],
        soak={**QUICK, "history_turns": 3},
    )  # fmt: skip
    play(tmp_path, system, spoken(3))
    assert by_turn(tmp_path, "board_ready") == ["t1", "t3"]
    assert by_turn(tmp_path, "render_failed") == ["t2"]
    assert statuses(tmp_path)["board_keeps_shapes"] is Status.PASS


def test_models_within_the_process_are_asked_by_one_stage_at_a_time(tmp_path: Path) -> None:
    for batch_size in (2, None):
        model = ScriptedModel(corrects_and_plans, delay=lambda: 0.002, batch_size=batch_size)
        folder = tmp_path / str(batch_size)
        folder.mkdir()
        play(folder, make_system(model=model, **PLANS), spoken(20), speed=None)
        assert max(model.calls) <= (batch_size or 8)
        assert (model.at_once > 1) is (batch_size is None)


def test_a_slow_stage_holds_up_the_microphone_and_no_more_waits_than_may(tmp_path: Path) -> None:
    def alive() -> int:
        return sum(type(one) is TurnClosed for one in gc.get_objects())

    others, counts = alive(), list[int]()

    def reply(message: str, as_json: bool) -> str:
        if len(counts) < 8:
            counts.append(alive() - others)
        return "yes"

    recognizer = ScriptedRecognizer(delay=lambda: 0.002)
    system = make_system(
        recognizer, ScriptedModel(reply, delay=lambda: 0.01), recognizer={"kind": "fake", "batch_size": 3},
        soak={**QUICK, "queue_turns": 2},
    )  # fmt: skip
    replayed = play(tmp_path, system, spoken(30), clock=SessionClock(), speed=1_000.0)
    assert all(replayed.blocked_seconds[name] > 0 for name in ("endpoint", "recognize", "respond"))
    assert replayed.behind_seconds is not None and replayed.behind_seconds > 0
    # two wait, three are recognized, one waits to be put in
    assert max(counts) <= 6
    assert max(recognizer.batches) <= 2
    samples = rows_of(tmp_path, "sample")
    assert {"memory_bytes", "queue_endpoint", "queue_recognize", "queue_respond"} <= samples[0].keys()
    assert max(row["queue_recognize"] for row in samples) <= 2


class Audio:
    """Stands for what a stage takes."""


class Taking:
    most = 4

    def work(self, turns: Sequence[Audio], emit: Any) -> Iterator[Audio]:
        yield from ()


def test_a_stage_that_waits_holds_nothing_of_what_it_has_done() -> None:
    inbox: Inbox[Audio] = Inbox("recognize", 2)
    thread = threading.Thread(target=Worker(Taking(), inbox, None).run, args=[print], daemon=True)
    thread.start()
    audio = Audio()
    gone = threading.Event()
    weakref.finalize(audio, gone.set)
    inbox.put(audio)
    del audio
    assert gone.wait(10)
    inbox.close()
    thread.join(30)
    assert not thread.is_alive()


def test_ten_thousand_turns_leave_nothing_behind(tmp_path: Path) -> None:
    held: list[int] = []

    def hear(turn: int) -> str:
        if turn % 1_000 == 999:
            held.append(len(gc.get_objects()))
        return "yes" if turn % 3 else ""

    system = make_system(
        ScriptedRecognizer(hear), ScriptedModel(lambda message, as_json: "no"),
        recognizer={"kind": "fake", "batch_size": 16}, soak=QUICKEST,
    )  # fmt: skip
    replayed = play(tmp_path, system, spoken(10_000, speech=1, silence=1), speed=None)
    assert replayed.turns == 10_000
    assert replayed.counts["transcript_empty"] + replayed.counts["answer_finished"] == 10_000
    assert max(held[2:]) - min(held[2:]) < 3_000, held


OUTCOMES = st.sampled_from(["words", "words", "words", "empty", "failed", "failed"])
REPLIES = st.sampled_from(
    [
        "good",
        "good",
        "good",
        "nonsense",
        FailureKind.TIMEOUT,
        FailureKind.LLM_ERROR,
        FailureKind.INVALID_OUTPUT,
    ]
)


@settings(
    max_examples=15, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(
    outcomes=st.lists(OUTCOMES, min_size=1, max_size=20),
    replies=st.lists(REPLIES, min_size=1, max_size=9),
    capacity=st.integers(1, 3),
    batches=st.tuples(st.integers(1, 5), st.sampled_from([None, 1, 3])),
    attempts=st.integers(1, 3),
    scope=st.sampled_from(["item", "session"]),
    seed=st.integers(0, 99),
)
def test_nothing_is_lost_doubled_or_out_of_order(
    tmp_path_factory: pytest.TempPathFactory, outcomes: list[str], replies: list[str | FailureKind],
    capacity: int, batches: tuple[int, int | None], attempts: int, scope: str, seed: int,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("session")
    choices = random.Random(seed)

    def hear(turn: int) -> str | FailureKind:
        return {"words": f"turn {turn} connects things", "empty": " "}.get(
            outcomes[turn], FailureKind.ASR_ERROR
        )

    def reply(message: str, as_json: bool) -> Answer:
        chosen = choices.choice(replies)
        return corrects_and_plans(message, as_json) if chosen == "good" else chosen

    def delay() -> float:
        return choices.choice([0.0, 0.0, 0.002])

    system = make_system(
        ScriptedRecognizer(hear, delay),
        ScriptedModel(reply, delay, batches[1], seed),
        recognizer={"kind": "fake", "batch_size": batches[0]}, correct={},
        plan={"kind": "language_model", "scope": scope},
        soak={**QUICK, "queue_turns": capacity, "attempts": attempts},
    )  # fmt: skip
    play(folder, system, spoken(len(outcomes)), speed=choices.choice([None, 1.0]))

    turns = [f"t{number}" for number in range(1, len(outcomes) + 1)]
    finals = [turn for turn, outcome in zip(turns, outcomes, strict=True) if outcome == "words"]
    accepted = by_turn(folder, "plan_accepted")
    assert by_turn(folder, "turn_opened") == by_turn(folder, "turn_closed") == turns
    assert by_turn(folder, "transcript_final", "transcript_empty", "transcript_failed") == turns
    assert by_turn(folder, "transcript_final") == finals
    assert by_turn(folder, "corrected", "correction_failed") == finals
    assert by_turn(folder, "plan_accepted", "plan_rejected") == finals
    assert by_turn(folder, "board_ready") == accepted
    found = statuses(folder)
    assert {found[check] for check in MECHANISM} <= {Status.PASS, Status.NO_EVIDENCE}
    assert found["unresolved"] is found["audio_coverage"] is Status.PASS
