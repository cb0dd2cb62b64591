"""Several servers of one model: who answers what, and what becomes of the requests of one that dies."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from chat_server import Behaviour, ChatServer, Handler, answers, chunk, drops, serving, status
from pydantic import ValidationError

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.settings import ApiSettings

SAMPLING = Sampling(max_tokens=16)
QUESTIONS = [f"question {number}" for number in range(12)]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misheard.language_models.retries.BASE_SECONDS", 0.001)


@pytest.fixture
def servers() -> Iterator[list[ChatServer]]:
    with ExitStack() as stack:
        facts: dict[str, Any] = {"max_model_len": 64, "version": "0.1"}
        yield [stack.enter_context(serving(default=echo(), **facts)) for _ in range(3)]


def echo(delay: float = 0.0) -> Behaviour:
    """Answer with the last word of the question."""

    def behave(handler: Handler) -> None:
        body = handler.chat.bodies[handler.number]
        answers(body["messages"][-1]["content"].split()[-1], delay=delay)(handler)

    return behave


def model_of(servers: list[ChatServer], **options: Any) -> OpenAiModel:
    first, *others = (server.url for server in servers)
    settings = {"timeout_seconds": 10.0, "max_attempts": 2, "concurrency": 2, **options}
    return OpenAiModel(ApiSettings(base_url=first, further_urls=tuple(others), model="m", **settings))


def started(servers: list[ChatServer], **options: Any) -> OpenAiModel:
    model = model_of(servers, **options)
    try:
        model.start()
    except BaseException:
        model.close()
        raise
    for server in servers:
        server.bodies.clear()
    return model


def ask(model: OpenAiModel) -> list[Completion]:
    requests = [ChatRequest(text, (Message("user", text),)) for text in QUESTIONS]
    try:
        return list(model.complete(requests, SAMPLING))
    finally:
        model.close()


def texts(completions: list[Completion]) -> list[tuple[str, str | None]]:
    return sorted((completion.key, completion.text) for completion in completions)


EXPECTED = sorted((question, question.split()[-1]) for question in QUESTIONS)


def test_servers_share_the_requests_and_give_the_answers_of_one(servers: list[ChatServer]) -> None:
    alone = texts(ask(started(servers[:1])))
    assert len(servers[0].bodies) == len(QUESTIONS)
    for server in servers:
        server.default = echo(delay=0.05)
    together = texts(ask(started(servers)))
    assert together == alone == EXPECTED
    asked = [len(server.bodies) for server in servers]
    assert sum(asked) == len(QUESTIONS) and min(asked) >= 2
    assert max(server.most_running for server in servers) <= 2


def test_a_slow_server_gets_fewer_requests(servers: list[ChatServer]) -> None:
    model = started(servers[:2], concurrency=1)
    release = threading.Event()

    def waits(handler: Handler) -> None:
        release.wait(10)
        echo()(handler)

    servers[0].script = [waits]
    seen = []
    for completion in model.complete([ChatRequest(t, (Message("user", t),)) for t in QUESTIONS], SAMPLING):
        seen.append(completion)
        if len(seen) == len(QUESTIONS) - 1:
            release.set()
    model.close()
    assert texts(seen) == EXPECTED
    assert [len(server.bodies) for server in servers[:2]] == [1, len(QUESTIONS) - 1]


def test_a_server_that_dies_in_mid_run_gives_its_requests_to_the_others(
    servers: list[ChatServer], caplog: pytest.LogCaptureFixture
) -> None:
    model = started(servers)

    def dies(handler: Handler) -> None:
        servers[1].kill()
        drops(chunk("half an"))(handler)

    servers[1].script = [echo(), dies, drops()]
    completions = ask(model)
    assert texts(completions) == EXPECTED
    assert len(servers[1].bodies) >= 2
    assert f"the server at {servers[1].url} is gone" in caplog.text


def test_the_run_ends_when_no_server_is_left(servers: list[ChatServer]) -> None:
    model = started(servers[:2])

    def kills(server: ChatServer) -> Behaviour:
        def behave(handler: Handler) -> None:
            server.kill()
            drops()(handler)

        return behave

    for server in servers[:2]:
        server.default = kills(server)
    requests = [ChatRequest(text, (Message("user", text),)) for text in QUESTIONS]
    for _ in range(2):
        with pytest.raises(BackendError, match=r"the last of 2 servers, .* is gone; start them .*--resume"):
            list(model.complete(requests, SAMPLING))
    model.close()


def test_a_machine_that_is_gone_gives_its_requests_to_the_others(
    servers: list[ChatServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses no connection: here a port whose queue is full, which the kernel does not answer."""
    monkeypatch.setattr("misheard.language_models.server_facts._REACHABLE_SECONDS", 0.2)
    model = started(servers, max_attempts=1, timeout_seconds=0.5)
    servers[1].kill()
    address = ("127.0.0.1", urlsplit(servers[1].url).port)
    with ExitStack() as stack:
        port = stack.enter_context(socket.socket())
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port.bind(address)
        port.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        assert texts(ask(model)) == EXPECTED


def test_a_failure_of_a_server_that_lives_is_not_passed_on(servers: list[ChatServer]) -> None:
    model = started(servers)
    servers[2].default = status(400)
    completions = ask(model)
    failed = [completion for completion in completions if completion.failure is FailureKind.LLM_ERROR]
    assert len(completions) == len(QUESTIONS) == len({completion.key for completion in completions})
    assert len(failed) == len(servers[2].bodies) > 0


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("version", "0.2", r"differ in engine_version \('0.1' and '0.2'\)"),
        ("max_model_len", 128, r"differ in max_context \(64 and 128\)"),
        ("version", None, r"differ in engine_version \('0.1' and None\)"),
        ("model", "other", "does not serve m; it serves 'other'"),
    ],
)
def test_servers_must_be_alike(servers: list[ChatServer], attribute: str, value: Any, words: str) -> None:
    setattr(servers[2], attribute, value)
    with pytest.raises(BackendError, match=words) as caught:
        started(servers)
    assert servers[2].url in str(caught.value)


def test_a_server_that_is_not_there_is_found_before_the_run(servers: list[ChatServer]) -> None:
    servers[1].kill()
    with pytest.raises(BackendError, match=f"{servers[1].url}/models cannot be read"):
        model_of(servers).check()


def test_every_server_is_warmed_up_and_named(servers: list[ChatServer]) -> None:
    model = started(servers)
    model.warm_up(SAMPLING)
    fingerprint = model.fingerprint()
    model.close()
    assert [len(server.bodies) for server in servers] == [1, 1, 1]
    assert [fingerprint["base_url"], *fingerprint["further_urls"]] == [server.url for server in servers]


def test_every_url_is_checked_and_there_once() -> None:
    first = "http://127.0.0.1:1/v1"
    for urls in ((first + "/",), ("http://user:secret@x/v1",), ("x",)):
        with pytest.raises(ValidationError, match="further_urls"):
            ApiSettings(base_url=first, further_urls=urls, model="m")
