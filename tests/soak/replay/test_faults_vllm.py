"""A real server that is stopped, and killed while it answers: every question is answered once, as before."""

import threading
from pathlib import Path

import pytest

from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.settings import VllmSettings
from misheard.language_models.vllm_server import VllmModel
from misheard.processes.tree import descendants
from misheard.soak.replay.clock import SessionClock
from misheard.soak.replay.faults import FaultPlan, parse_fault
from misheard.soak.replay.full_disk import FullDisk
from misheard.soak.replay.server import LastingModel
from process_states import all_gone, state, wait_until

QUESTIONS = [
    "What is the capital of France?",
    "What is the currency of Japan?",
    "How many days are in a week?",
    "Name the longest river in Africa.",
    "Who wrote Romeo and Juliet?",
    "What language is spoken in Brazil?",
]
REQUESTS = [ChatRequest(str(number), (Message("user", text),)) for number, text in enumerate(QUESTIONS)]
SAMPLING = Sampling(max_tokens=16)
NEVER = threading.Event()


def texts(completions: list[Completion]) -> dict[str, str | None]:
    assert len(completions) == len({completion.key for completion in completions})
    return {completion.key: completion.text for completion in completions}


@pytest.mark.vllm
@pytest.mark.models
@pytest.mark.slow
def test_a_real_server_is_stopped_and_killed_and_every_question_answered_once(
    vllm_python: Path, models_dir: Path, tmp_path: Path
) -> None:
    # one sequence at a time, so that no answer depends on what it shares a batch with
    settings = VllmSettings(
        model=str(models_dir / "smollm2-135m-instruct"),
        python=vllm_python,
        max_model_len=256,
        dtype="float32",
        extra_args=("--max-num-seqs", "1"),
    )
    seconds: list[float] = []
    model = LastingModel(
        VllmModel(settings, logs=tmp_path, cpu=True, audit=True), restarts=1, on_restart=seconds.append
    )
    clock, told = SessionClock(), []
    faults = [parse_fault("slow_server@10+5"), parse_fault("server_crash@20")]
    plan = FaultPlan(
        faults, clock=clock, disk=FullDisk(clock), emit=told.append, serving_pid=lambda: model.serving_pid
    )
    try:
        model.start()
        fingerprint, first_pid = model.fingerprint(), model.serving_pid
        expected = texts(list(model.complete(REQUESTS, SAMPLING)))
        assert None not in expected.values() and len(set(expected.values())) == len(QUESTIONS)

        assert first_pid is not None and descendants(first_pid)
        server = {first_pid} | descendants(first_pid)
        plan.before_chunk(10.0, NEVER)
        assert wait_until(lambda: set(map(state, server)) == {"T"})
        assert texts(list(model.complete(REQUESTS[:1], SAMPLING))) == {"0": expected["0"]}
        assert wait_until(lambda: "T" not in set(map(state, server))) and model.restarted == 0

        answered = []
        for completion in model.complete(REQUESTS, SAMPLING):
            answered.append(completion)
            if len(answered) == 1:
                plan.before_chunk(20.0, NEVER)
        assert texts(answered) == expected
        assert told == ["slow_server", "server_crash"] and plan.pending == ()
        assert model.restarted == len(seconds) == 1 and seconds[0] > 0
        second_pid = model.serving_pid
        assert second_pid not in (None, first_pid) and model.fingerprint() == fingerprint
        server |= {second_pid} | descendants(second_pid)
    finally:
        plan.close()
        model.close()
    assert all_gone(server)
