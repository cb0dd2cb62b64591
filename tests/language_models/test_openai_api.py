import logging
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from chat_server import (
    Behaviour,
    ChatServer,
    answers,
    chunk,
    drops,
    endless,
    hangs,
    raw,
    serving,
    status,
    streams,
    usage,
)

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models import http_client
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Message, Sampling
from misheard.language_models.settings import ApiSettings

SAMPLING = Sampling(max_tokens=16, top_k=5, min_p=0.25, repetition_penalty=1.5, seed=3)
PROMPT = "CANARY prompt"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misheard.language_models.retries.BASE_SECONDS", 0.001)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving() as chat:
        yield chat


def started(server: ChatServer, **options: Any) -> OpenAiModel:
    settings = {"timeout_seconds": 5.0, "max_attempts": 3, **options}
    model = OpenAiModel(ApiSettings(base_url=server.url, model="m", **settings))
    script, server.script = server.script, []
    try:
        model.start()
    except BaseException:
        model.close()
        raise
    server.bodies.clear()
    server.headers.clear()
    server.script = script
    return model


def requests(*keys: str) -> list[ChatRequest]:
    return [ChatRequest(key, (Message("system", "Be brief."), Message("user", PROMPT))) for key in keys]


def ask(server: ChatServer, *keys: str, **options: Any) -> list[Completion]:
    model: LanguageModel = started(server, **options)
    try:
        return list(model.complete(requests(*keys or ("q",)), SAMPLING))
    finally:
        model.close()


def test_an_answer_comes_with_tokens_and_times(server: ChatServer) -> None:
    server.script = [answers("The capital is Paris.", delay=0.05)]
    [completion] = ask(server)
    assert completion.key == "q" and completion.text == "The capital is Paris."
    assert (completion.finish_reason, completion.prompt_tokens, completion.completion_tokens) == (
        "stop",
        7,
        4,
    )
    assert completion.first_token_seconds is not None
    assert 0.05 <= completion.first_token_seconds <= completion.seconds
    assert completion.attempts == 1


def test_every_sampling_parameter_is_sent(server: ChatServer) -> None:
    ask(server)
    [body] = server.bodies
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}],
        "n": 1,
        "max_tokens": 16,
        "temperature": 0.0,
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "seed": 3,
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_k": 5,
        "min_p": 0.25,
        "repetition_penalty": 1.5,
    }


def test_extra_sampling_can_be_turned_off(server: ChatServer) -> None:
    ask(server, extra_sampling=False)
    assert not {"top_k", "min_p", "repetition_penalty"} & set(server.bodies[0])


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_passing_faults_are_retried_until_an_answer_comes(server: ChatServer, code: int) -> None:
    server.script = [status(code), status(code), answers("Paris")]
    [completion] = ask(server)
    assert (completion.text, completion.attempts, len(server.bodies)) == ("Paris", 3, 3)


@pytest.mark.parametrize(
    ("code", "kind", "attempts"),
    [
        (400, FailureKind.LLM_ERROR, 1),
        (401, FailureKind.LLM_ERROR, 1),
        (403, FailureKind.LLM_ERROR, 1),
        (404, FailureKind.LLM_ERROR, 1),
        (409, FailureKind.LLM_ERROR, 1),
        (418, FailureKind.LLM_ERROR, 1),
        (422, FailureKind.LLM_ERROR, 1),
        (302, FailureKind.LLM_ERROR, 1),
        (307, FailureKind.LLM_ERROR, 1),
        (408, FailureKind.TIMEOUT, 3),
        (429, FailureKind.LLM_ERROR, 3),
        (500, FailureKind.LLM_ERROR, 3),
        (503, FailureKind.LLM_ERROR, 3),
        (504, FailureKind.TIMEOUT, 3),
    ],
)
def test_lasting_faults_are_typed_and_tried_no_more_than_allowed(
    server: ChatServer, code: int, kind: FailureKind, attempts: int
) -> None:
    server.script = [status(code, PROMPT, Location=f"{server.url}/elsewhere")] * 5
    [completion] = ask(server)
    assert (completion.text, completion.failure, completion.attempts) == (None, kind, attempts)
    assert len(server.bodies) == attempts
    assert str(code) in completion.detail and "CANARY" not in completion.detail


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 2048 tokens. However, your prompt contains 2049 input tokens",
        "This model's maximum context length is 2048 tokens. However, your prompt contains 55148 characters",
        "code: context_length_exceeded",
    ],
)
def test_a_prompt_beyond_the_context_is_too_long(server: ChatServer, message: str) -> None:
    server.script = [status(400, f"{message} {PROMPT}")]
    [completion] = ask(server)
    assert (completion.failure, completion.attempts) == (FailureKind.PROMPT_TOO_LONG, 1)
    assert "CANARY" not in completion.detail


@pytest.mark.parametrize(
    ("context", "failure"), [(None, None), (116, None), (115, FailureKind.PROMPT_TOO_LONG)]
)
def test_an_answer_whose_budget_the_server_cut_is_no_answer(
    context: int | None, failure: FailureKind | None
) -> None:
    with serving(max_model_len=context) as server:
        server.script = [answers("Par", finish_reason="length", prompt_tokens=100)]
        [completion] = ask(server)
    assert completion.failure == failure
    assert completion.text == (None if failure else "Par")


def test_retry_after_is_waited_for(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def record(attempt: int, retry_after: float | None) -> float:
        pauses.append(retry_after or 0.0)
        return 0.0

    monkeypatch.setattr("misheard.language_models.chat_client.backoff_seconds", record)
    server.script = [status(429, Retry_After="7"), status(503), answers("Paris")]
    assert ask(server)[0].text == "Paris"
    assert pauses == [7.0, 0.0]


def test_a_dropped_connection_is_retried(server: ChatServer) -> None:
    server.script = [drops(), drops(chunk("Par")), streams(chunk("Par")), answers("Paris")]
    [completion] = ask(server, max_attempts=4)
    assert (completion.text, completion.attempts) == ("Paris", 4)


def test_connections_that_keep_dropping_fail(server: ChatServer) -> None:
    server.script = [drops(chunk("Par"))] * 3
    [completion] = ask(server)
    assert (completion.text, completion.failure, completion.attempts) == (None, FailureKind.LLM_ERROR, 3)


@pytest.mark.parametrize("behave", [hangs(), hangs(chunk("Par"))])
def test_a_server_that_hangs_or_dribbles_times_out(server: ChatServer, behave: Behaviour) -> None:
    server.script = [behave, behave]
    [completion] = ask(server, timeout_seconds=0.3, max_attempts=2)
    assert (completion.text, completion.failure, completion.attempts) == (None, FailureKind.TIMEOUT, 2)


GARBAGE: dict[str, Behaviour] = {
    "no json": streams("{not json"),
    "no utf-8": raw(b"data: \xff\xfe\n\n", Content_Type="text/event-stream"),
    "deep json": streams("[" * 100_000),
    "choices no list": streams({**chunk("x"), "choices": "CANARY"}),
    "content no text": streams({**chunk(), "choices": [{"index": 0, "delta": {"content": {"a": "CANARY"}}}]}),
    "finish reason no text": streams(chunk("CANARY", finish_reason=5)),  # type: ignore[arg-type]
    "error event": streams(chunk("x"), {"error": {"message": "CANARY", "code": 400}}),
    "odd error event": streams({"error": "CANARY"}),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_a_typed_failure_that_quotes_nothing(server: ChatServer, name: str) -> None:
    server.script = [GARBAGE[name]]
    [completion] = ask(server, max_attempts=1)
    assert (completion.text, completion.failure) == (None, FailureKind.LLM_ERROR)
    assert "CANARY" not in completion.detail


def test_an_error_event_of_the_server_is_retried(server: ChatServer) -> None:
    server.script = [streams(chunk("x"), {"error": {"message": "x", "code": 500}}), answers("Paris")]
    [completion] = ask(server)
    assert (completion.text, completion.attempts) == ("Paris", 2)


@pytest.mark.parametrize("line", [b"x" * 65536, b"data: " + b"x" * 65536 + b"\n\n", b": ping\n\n" * 4096])
def test_an_endless_reply_is_cut_off(
    server: ChatServer, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_REPLY_BYTES", 2**20)
    server.script = [endless(line)] * 3
    [completion] = ask(server)
    assert (completion.failure, completion.text) == (FailureKind.LLM_ERROR, None)
    assert completion.attempts == 1


def test_an_answer_of_endless_length_is_refused(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misheard.language_models.chat_stream.LARGEST_TEXT", 1000)
    server.script = [answers("word " * 300)]
    [completion] = ask(server)
    assert completion.failure == FailureKind.LLM_ERROR and "longer than 1000" in completion.detail


def test_a_huge_error_body_is_cut_off(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "LARGEST_REPLY_BYTES", 2**16)
    server.script = [status(400, "x" * 2**18)]
    assert ask(server)[0].failure == FailureKind.LLM_ERROR


def test_a_compressed_reply_is_refused(server: ChatServer) -> None:
    server.script = [raw(b"x", Content_Encoding="gzip")]
    [completion] = ask(server)
    assert completion.failure == FailureKind.LLM_ERROR and "compressed" in completion.detail


@pytest.mark.parametrize("counts", [(None, None), ("7", "4"), (-1, True)])
def test_missing_or_odd_usage_is_none(server: ChatServer, counts: tuple[Any, Any]) -> None:
    server.script = [streams(chunk("Paris"), chunk(finish_reason="stop"), usage(*counts), "[DONE]")]
    [completion] = ask(server)
    assert (completion.text, completion.prompt_tokens, completion.completion_tokens) == ("Paris", None, None)


def test_thinking_apart_from_the_answer_is_not_the_answer(server: ChatServer) -> None:
    server.script = [
        streams(chunk(reasoning="hm"), chunk("Paris"), chunk(finish_reason="stop")),
        streams(chunk(reasoning_content="hm"), chunk(finish_reason="length")),
    ]
    first, second = ask(server, "a", "b", concurrency=1)
    assert (first.text, second.failure) == ("Paris", FailureKind.INVALID_OUTPUT)


def test_an_unknown_finish_reason_is_not_repeated(server: ChatServer) -> None:
    server.script = [streams(chunk("Paris"), chunk(finish_reason="CANARY"))]
    [completion] = ask(server)
    assert (completion.failure, completion.finish_reason) == (FailureKind.INVALID_OUTPUT, "other")


def test_requests_run_at_once_up_to_the_bound_and_in_the_order_they_finish(server: ChatServer) -> None:
    server.default = answers("Paris", delay=0.05)
    keys = [f"q{n}" for n in range(24)]
    completions = ask(server, *keys, concurrency=4)
    assert sorted(c.key for c in completions) == sorted(keys)
    assert server.most_running == 4
    server.script = [answers("slow", delay=0.4)]
    server.default = answers("quick")
    assert [c.text for c in ask(server, "a", "b", concurrency=2)] == ["quick", "slow"]


def test_one_bad_request_leaves_the_others_alone(server: ChatServer) -> None:
    server.script = [answers("a"), status(400), answers("c")]
    completions = ask(server, "1", "2", "3", concurrency=1)
    assert [c.text for c in completions] == ["a", None, "c"]


def test_leaving_early_hangs_up(server: ChatServer) -> None:
    model = started(server, concurrency=2, timeout_seconds=60)
    server.script = [answers("Paris"), hangs(chunk("x"))]
    completions = model.complete(requests("a", "b"), SAMPLING)
    assert next(completions).text == "Paris"
    completions.close()  # type: ignore[attr-defined]
    assert server.hung_up.wait(10)
    model.close()


def test_ctrl_c_hangs_up(server: ChatServer) -> None:
    model = started(server, timeout_seconds=60)
    server.script = [hangs(chunk("x"))]
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        list(model.complete(requests("a"), SAMPLING))
    interrupt.join()
    assert server.hung_up.wait(10)
    model.close()


def test_closing_from_another_thread_ends_the_wait(server: ChatServer) -> None:
    """Without a further try, so that a request that failed as its connection was closed would be seen."""
    model = started(server, timeout_seconds=60, max_attempts=1)
    server.script = [hangs(chunk("x"))]
    closer = threading.Timer(0.3, model.close)
    closer.start()
    with pytest.raises(BackendError, match="closed"):
        list(model.complete(requests("a"), SAMPLING))
    closer.join()
    assert server.hung_up.wait(10)


def test_a_server_that_is_gone_for_good_ends_the_run(server: ChatServer) -> None:
    def gone() -> None:
        raise BackendError("gone")

    settings = ApiSettings(base_url=server.url, model="m", max_attempts=1)
    model = OpenAiModel(settings, check_alive=gone)
    model.start()
    assert [c.text for c in model.complete(requests("a"), SAMPLING)] == ["yes"]
    server.script = [drops()]
    with pytest.raises(BackendError, match="gone"):
        list(model.complete(requests("a"), SAMPLING))
    model.close()


def test_prompts_and_keys_reach_no_log(
    server: ChatServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISHEARD_TEST_KEY", "SECRET-KEY")
    caplog.set_level(logging.DEBUG)
    server.script = [status(500, PROMPT), status(400, PROMPT), drops(chunk(PROMPT)), GARBAGE["error event"]]
    ask(server, "a", "b", "c", api_key_env="MISHEARD_TEST_KEY", concurrency=1)
    assert server.headers[0]["authorization"] == "Bearer SECRET-KEY"
    assert "CANARY" not in caplog.text and "SECRET-KEY" not in caplog.text


def test_identifiers_of_the_environment_are_not_sent(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "SECRET-ORG")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "SECRET-PROJECT")
    monkeypatch.setenv("OPENAI_API_KEY", "SECRET-KEY")
    ask(server)
    assert "SECRET" not in str(server.headers)


def test_proxies_do_not_stand_before_loopback(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert ask(server)[0].text == "yes"


def test_the_fingerprint_names_server_model_and_engine() -> None:
    with serving(max_model_len=2048, version="0.32.0") as server:
        model = started(server)
        fingerprint = model.fingerprint()
        model.close()
    assert fingerprint["base_url"] == server.url and fingerprint["model"] == "m"
    assert (fingerprint["engine_version"], fingerprint["max_context"]) == ("0.32.0", 2048)


def test_warming_up_asks_once(server: ChatServer) -> None:
    model = started(server)
    model.warm_up(Sampling(max_tokens=2))
    model.close()
    assert [body["max_tokens"] for body in server.bodies] == [2]


def no_start(server: ChatServer, **options: Any) -> str:
    settings = {"timeout_seconds": 5.0, "max_attempts": 2, "model": "m", "base_url": server.url, **options}
    model = OpenAiModel(ApiSettings(**settings))
    with pytest.raises(BackendError) as caught:
        model.start()
    model.close()
    return str(caught.value)


def test_another_model_is_refused_by_name() -> None:
    with serving(model="\x1b[31mother") as server:
        said = no_start(server)
    assert "does not serve m" in said and "other" in said and "\x1b" not in said
    assert server.bodies == []


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"data": 5}', b'{"data": [5]}', b"<html>", b'{"data": []}']
)
def test_another_kind_of_server_is_refused(body: bytes) -> None:
    with serving(models_body=body or b" ") as server:
        said = no_start(server)
    assert "base_url" in said or "does not serve m; it serves no model" in said


def test_an_absent_server_is_refused() -> None:
    with serving() as server:
        pass
    assert "is the server running" in no_start(server)


def test_a_model_without_a_chat_template_is_refused(server: ChatServer) -> None:
    server.default = status(
        400,
        "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat "
        "template if the tokenizer does not define one.",
    )
    assert "choose an instruct model" in no_start(server)


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        (status(401), "api_key_env"),
        (status(404), "/v1"),
        (status(400), "extra_sampling: false"),
        (status(500), "HTTP status 500"),
        (drops(), "connection failed"),
        (raw(b"{}"), "connection failed or dropped"),
    ],
)
def test_a_server_that_does_not_answer_is_refused(server: ChatServer, behave: Behaviour, says: str) -> None:
    server.default = behave
    said = no_start(server)
    assert says in said and "CANARY" not in said


def test_a_missing_key_is_named(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISHEARD_TEST_KEY", raising=False)
    assert "MISHEARD_TEST_KEY is not set" in no_start(server, api_key_env="MISHEARD_TEST_KEY")


def test_a_hanging_start_ends_in_time(server: ChatServer) -> None:
    server.default = hangs()
    assert "timeout" in no_start(server, timeout_seconds=0.3, max_attempts=1)


def test_a_server_that_is_gone_ends_the_run_and_is_no_failure_of_the_items() -> None:
    with serving() as chat:
        model = started(chat, max_attempts=2)
        chat.default = drops()
    try:
        with pytest.raises(BackendError, match=r"is gone.*--resume"):
            list(model.complete([ChatRequest("k", (Message("user", PROMPT),))], SAMPLING))
    finally:
        model.close()


def test_a_server_that_drops_one_request_but_lives_fails_that_request(server: ChatServer) -> None:
    model = started(server, max_attempts=1)
    server.script = [drops()]
    try:
        requests = [ChatRequest(key, (Message("user", PROMPT),)) for key in "ab"]
        kinds = sorted(str(c.failure) for c in model.complete(requests, SAMPLING))
    finally:
        model.close()
    assert kinds == ["None", "llm_error"]


def test_absurd_token_counts_are_no_counts(server: ChatServer) -> None:
    model = started(server)
    server.script = [streams(chunk("yes", "stop"), usage(10**400, 2**40))]
    try:
        (completion,) = model.complete([ChatRequest("k", (Message("user", PROMPT),))], SAMPLING)
    finally:
        model.close()
    assert completion.text == "yes"
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)
