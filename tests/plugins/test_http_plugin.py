"""A user's endpoint: what is posted, what is tried again, and what becomes of what it says."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asking import ask
from plugin_server import (
    Behaviour,
    Endpoint,
    answers,
    drips,
    endpoint,
    floods,
    hangs_up,
    says,
    waits,
)

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.protocol import Completion
from misheard.plugins.http import HttpPlugin
from misheard.plugins.protocol import PLANNER, RENDERER, PluginRequest
from misheard.plugins.settings import HttpPluginSettings

pytest.importorskip("httpx", reason="needs the extra run")

OK = answers(lambda request: {"got": request})
REQUEST = {"utterances": ["canary नमस्ते"], "language": "hi"}


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint(OK) as state:
        yield state


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float | None]]:
    """Retries come at once; what they would have waited for is noted."""
    pauses: list[tuple[int, float | None]] = []

    def pause(attempt: int, retry_after: float | None) -> float:
        pauses.append((attempt, retry_after))
        return 0.0

    monkeypatch.setattr("misheard.plugins.http.backoff_seconds", pause)
    return pauses


def ask_once(server: Endpoint, **options: Any) -> Completion:
    (found,) = ask(HttpPluginSettings(url=server.url, **options), [REQUEST])
    return found


def test_a_request_is_a_post_of_json(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_KEY", " sk-canary\n")
    found = ask_once(server, api_key_env="PLANNER_KEY")
    assert json.loads(found.text or "") == {"got": REQUEST}
    (body,), (headers,) = server.bodies, server.headers
    assert json.loads(body) == REQUEST and body.isascii()
    assert headers["content-type"] == "application/json"
    assert headers["authorization"] == "Bearer sk-canary"
    assert headers["accept-encoding"] == "identity"
    assert ask_once(server).text == found.text and "authorization" not in server.headers[1]


def test_a_key_that_is_not_there_is_said_at_once(server: Endpoint) -> None:
    with pytest.raises(BackendError, match=r"plan\.api_key_env: .*NO_SUCH_KEY"):
        ask_once(server, api_key_env="NO_SUCH_KEY")


@pytest.mark.parametrize(
    ("behaviour", "kind", "detail"),
    [
        (says(400, b"canary"), FailureKind.PLANNER_ERROR, "HTTP status 400"),
        (says(401), FailureKind.PLANNER_ERROR, "HTTP status 401"),
        (says(404), FailureKind.PLANNER_ERROR, "HTTP status 404"),
        (says(204), FailureKind.INVALID_OUTPUT, "the reply is empty"),
        (says(200), FailureKind.INVALID_OUTPUT, "the reply is empty"),
        (says(200, b"<!doctype html><p>canary"), FailureKind.INVALID_OUTPUT, "the reply is no JSON"),
        (says(200, b'["canary"]'), FailureKind.INVALID_OUTPUT, "the reply is no JSON object"),
        (says(200, b'{"a": NaN}'), FailureKind.INVALID_OUTPUT, "the reply holds a number that is not finite"),
        (says(200, b"[" * 99_999), FailureKind.INVALID_OUTPUT, "the reply is no JSON"),
        (says(200, b"\xff"), FailureKind.INVALID_OUTPUT, "the reply is not UTF-8 at byte 0"),
        (
            says(200, b"{}", Content_Encoding="gzip"),
            FailureKind.INVALID_OUTPUT,
            "the reply is compressed although that was not asked for",
        ),
        (floods, FailureKind.INVALID_OUTPUT, "the reply is larger than 1048576 bytes"),
    ],
)
def test_a_final_failure_is_not_tried_again(
    server: Endpoint, behaviour: Behaviour, kind: FailureKind, detail: str
) -> None:
    server.script = [behaviour]
    found = ask_once(server)
    assert (found.text, found.failure, found.detail, found.attempts) == (None, kind, detail, 1)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(server: Endpoint, status: int) -> None:
    with endpoint(OK) as other:
        server.script = [says(status, b"", Location=other.url)]
        found = ask_once(server)
        assert (found.failure, found.detail) == (FailureKind.PLANNER_ERROR, f"HTTP status {status}")
        assert other.bodies == []


@pytest.mark.parametrize("behaviour", [waits, drips])
def test_a_reply_that_does_not_come_is_a_timeout_and_is_not_tried_again(
    server: Endpoint, behaviour: Behaviour
) -> None:
    server.script = [behaviour]
    found = ask_once(server, timeout_seconds=0.5)
    assert (found.failure, found.detail) == (FailureKind.TIMEOUT, "no full reply in time")
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "trouble", [says(408), says(429), says(500, b"canary"), says(503), says(504), hangs_up]
)
def test_what_may_pass_is_tried_again(server: Endpoint, trouble: Behaviour) -> None:
    server.script = [trouble, trouble]
    found = ask_once(server)
    assert (json.loads(found.text or ""), found.attempts) == ({"got": REQUEST}, 3)


@pytest.mark.parametrize(
    ("trouble", "kind", "detail"),
    [
        (says(500, b"canary"), FailureKind.PLANNER_ERROR, "HTTP status 500"),
        (says(504), FailureKind.TIMEOUT, "HTTP status 504"),
        (says(408), FailureKind.TIMEOUT, "HTTP status 408"),
        (hangs_up, FailureKind.PLANNER_ERROR, "connection failed or dropped"),
    ],
)
def test_the_last_try_decides(server: Endpoint, trouble: Behaviour, kind: FailureKind, detail: str) -> None:
    server.default = trouble
    found = ask_once(server, max_attempts=2)
    assert (found.text, found.failure, found.detail, found.attempts) == (None, kind, detail, 2)
    assert len(server.bodies) == 2


def test_what_a_server_asks_for_is_waited_for(
    server: Endpoint, no_pauses: list[tuple[int, float | None]]
) -> None:
    server.script = [says(429, b"", Retry_After="7"), says(503, b"", Retry_After="nonsense")]
    assert ask_once(server).text
    assert no_pauses == [(1, 7.0), (2, None)]


def test_requests_run_at_once_up_to_the_concurrency(server: Endpoint) -> None:
    gate = threading.Barrier(3)

    def together(handler: Any, request: dict[str, Any]) -> None:
        gate.wait(30)
        OK(handler, request)

    server.default = together
    found = ask(HttpPluginSettings(url=server.url, concurrency=3), [{"n": n} for n in range(6)])
    assert [json.loads(one.text or "") for one in found] == [{"got": {"n": n}} for n in range(6)]
    assert server.most_running == 3


def test_one_failure_does_not_touch_the_others(server: Endpoint) -> None:
    def odd(handler: Any, request: dict[str, Any]) -> None:
        (says(400) if request["n"] % 2 else OK)(handler, request)

    server.default = odd
    found = ask(HttpPluginSettings(url=server.url), [{"n": n} for n in range(8)])
    assert [one.failure is None for one in found] == [True, False] * 4


def test_leaving_early_cancels_the_rest(server: Endpoint) -> None:
    server.script = [OK]
    server.default = waits
    plugin = HttpPlugin(HttpPluginSettings(url=server.url, concurrency=1), PLANNER)
    plugin.start()
    replies = plugin.complete([PluginRequest(str(n), {}) for n in range(9)])
    assert next(replies).text
    plugin.close()
    with pytest.raises(BackendError, match="closed while requests were running"):
        next(replies)
    assert len(server.bodies) <= 2


def closed_url() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/plan"


@pytest.mark.parametrize(("role", "section"), [(PLANNER, "plan"), (RENDERER, "render")])
def test_where_nobody_listens_no_run_begins(role: Any, section: str) -> None:
    with pytest.raises(BackendError, match=rf"{section}\.url: nobody listens at http://127"):
        ask(HttpPluginSettings(url=closed_url()), [REQUEST], role)


def test_an_endpoint_that_goes_away_ends_the_run() -> None:
    with endpoint(OK) as server:
        plugin = HttpPlugin(HttpPluginSettings(url=server.url, max_attempts=2), PLANNER)
        plugin.start()
        assert [one.text for one in plugin.complete([PluginRequest("a", {})])] == ['{"got":{}}']
        server.script = [hangs_up] * 2
    with pytest.raises(BackendError, match=r"plan\.url: .* is gone; .*--resume"):
        list(plugin.complete([PluginRequest(str(n), {}) for n in range(9)]))
    plugin.close()


def test_no_proxy_stands_before_this_machine(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_url())
    assert ask_once(server).text


def test_a_proxy_stands_before_other_machines(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, server.url.removesuffix("/plan"))
    (found,) = ask(HttpPluginSettings(url="http://planner.invalid/plan"), [REQUEST])
    assert json.loads(found.text or "") == {"got": REQUEST}
    assert server.elsewhere == ["http://planner.invalid/plan"]


def test_a_proxy_that_is_none_is_said_at_once_and_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "ftp://user:canary@proxy.invalid")
    monkeypatch.setenv("http_proxy", "ftp://user:canary@proxy.invalid")
    with pytest.raises(BackendError, match="proxy") as raised:
        ask(HttpPluginSettings(url="http://planner.invalid/plan"), [REQUEST])
    assert "canary" not in str(raised.value)


def test_the_fingerprint_is_the_endpoint_and_its_version(server: Endpoint) -> None:
    plugin = HttpPlugin(HttpPluginSettings(url=server.url, version="2026-11", timeout_seconds=9), PLANNER)
    assert plugin.fingerprint() == {"kind": "http", "url": server.url, "version": "2026-11"}
