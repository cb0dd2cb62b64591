"""Transcription servers: what is sent, what is retried, what becomes of replies that are none."""

import json
import logging
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.request_errors import classify
from misheard.recognizers.protocol import AudioWindow, WindowFailed, WindowTranscript
from misheard.recognizers.settings import TranscriptionServerSettings
from misheard.recognizers.transcription_reply import read_reply

pytest.importorskip("openai", reason="needs the extra run")

from misheard.recognizers.openai_api import TranscriptionServer

sys.path.insert(0, str(Path(__file__).parent))

from transcription_server import (
    Behaviour,
    Server,
    drops,
    echoes_length,
    floods,
    hangs,
    replies,
    says,
    serving,
    trickles,
)


def window(frames: int = 1600, language: str | None = "en") -> AudioWindow:
    return AudioWindow(np.zeros(frames, np.float32), language)


@contextmanager
def recognizer(server: Server, **options: Any) -> Iterator[TranscriptionServer]:
    made = TranscriptionServer(
        TranscriptionServerSettings(base_url=server.url, model=server.model, **options)
    )
    try:
        made.load()
        yield made
    finally:
        made.close()


def hear(behaviours: list[Behaviour], **options: Any) -> tuple[WindowTranscript | WindowFailed, Server]:
    """Recognize one window with a server that behaves so; return the outcome and what the server saw."""
    with serving(script=behaviours) as server, recognizer(server, **options) as made:
        (found,) = made.recognize([window()]).windows
    return found, server


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record pauses between attempts instead of making them."""
    pauses: list[float] = []

    def backoff(attempt: int, retry_after: float | None) -> float:
        from misheard.language_models.retries import backoff_seconds

        pauses.append(backoff_seconds(attempt, retry_after))
        return 0.0

    monkeypatch.setattr("misheard.recognizers.openai_api.backoff_seconds", backoff)
    return pauses


def test_a_window_is_sent_as_wav_with_every_parameter() -> None:
    with serving() as server, recognizer(server) as made:
        batch = made.recognize([window(2400), window(800, None)])
    assert [found.text for found in batch.windows if isinstance(found, WindowTranscript)] == ["heard"] * 2
    assert sorted(server.frames) == [800, 2400]
    sent = [server.fields[server.frames.index(frames)] for frames in (2400, 800)]
    common = {"model": "whisper", "response_format": "json"}
    assert [{**fields, "temperature": float(fields["temperature"])} for fields in sent] == [
        {**common, "language": "en", "temperature": 0.0}, {**common, "temperature": 0.0},
    ]  # fmt: skip


def test_windows_are_in_flight_together_up_to_a_bound_and_come_back_in_order() -> None:
    lengths = [3200, 100, 1600, 800, 400, 2400, 200]
    with serving(default=echoes_length) as server, recognizer(server, concurrency=3) as made:
        batch = made.recognize([window(frames) for frames in lengths])
    assert 2 <= server.most_running <= 3
    assert len(batch.windows) == len(lengths)
    assert all(isinstance(found, WindowTranscript) for found in batch.windows)
    assert batch.inference_seconds is not None and batch.inference_seconds > 0
    with serving() as server, recognizer(server, concurrency=1) as made:
        server.script = [says(str(n)) for n in range(5)]
        found = made.recognize([window()] * 5).windows
    assert [one.text for one in found if isinstance(one, WindowTranscript)] == list("01234")


@pytest.mark.parametrize(
    ("behaviours", "requests"),
    [
        ([replies(503), says("heard")], 2),
        ([replies(429, Retry_After="7"), replies(500), says("heard")], 3),
        ([replies(408), drops, says("heard")], 3),
    ],
)
def test_what_may_pass_is_tried_again(
    behaviours: list[Behaviour], requests: int, no_pauses: list[float]
) -> None:
    found, server = hear(behaviours)
    assert isinstance(found, WindowTranscript) and found.text == "heard"
    assert len(server.fields) == requests == len(no_pauses) + 1
    if requests == 3 and len(behaviours) == 3 and behaviours[-2] is not drops:
        assert no_pauses[0] == 7.0


@pytest.mark.parametrize(
    ("behaviour", "requests", "kind", "detail"),
    [
        (replies(400, b'{"error": {"message": "canary"}}'), 1, FailureKind.ASR_ERROR, "HTTP status 400"),
        (replies(401), 1, FailureKind.ASR_ERROR, "HTTP status 401"),
        (replies(422), 1, FailureKind.ASR_ERROR, "HTTP status 422"),
        (replies(503, b"canary"), 3, FailureKind.ASR_ERROR, "HTTP status 503"),
        (replies(504), 3, FailureKind.TIMEOUT, "HTTP status 504"),
        (drops, 3, FailureKind.ASR_ERROR, "connection"),
        (floods, 1, FailureKind.ASR_ERROR, "larger than"),
        (replies(200, b"canary"), 1, FailureKind.INVALID_OUTPUT, "no JSON"),
        (replies(200, b""), 1, FailureKind.INVALID_OUTPUT, "no JSON"),
        (replies(200, b"[" * 200_000), 1, FailureKind.INVALID_OUTPUT, "no JSON"),
        (replies(200, b'["canary"]'), 1, FailureKind.INVALID_OUTPUT, "no text"),
        (replies(200, b'{"text": {"canary": 1}}'), 1, FailureKind.INVALID_OUTPUT, "no text"),
        (replies(200, b'{"error": "canary"}'), 1, FailureKind.INVALID_OUTPUT, "no text"),
        (says("canary \ud800"), 1, FailureKind.INVALID_OUTPUT, "surrogate"),
        (says("canary " * 3000), 1, FailureKind.INVALID_OUTPUT, "more than 2000 words"),
        (replies(200, b"\x1f\x8b", Content_Encoding="gzip"), 1, FailureKind.ASR_ERROR, "compressed"),
    ],
)
def test_what_cannot_pass_fails_at_once_and_is_not_quoted(
    behaviour: Behaviour, requests: int, kind: FailureKind, detail: str
) -> None:
    found, server = hear([behaviour] * 5, max_attempts=3)
    assert isinstance(found, WindowFailed)
    assert (found.kind, len(server.fields)) == (kind, requests)
    assert detail in found.detail and "canary" not in found.detail


@pytest.mark.parametrize("behaviour", [hangs, trickles])
def test_a_slow_reply_is_a_timeout(behaviour: Behaviour) -> None:
    found, server = hear([behaviour] * 2, timeout_seconds=0.5, max_attempts=2)
    assert isinstance(found, WindowFailed) and found.kind is FailureKind.TIMEOUT
    assert len(server.fields) == 2


def test_a_redirect_is_not_followed() -> None:
    with serving() as other:
        elsewhere = replies(307, b"", Location=f"{other.url}/audio/transcriptions")
        found, _ = hear([elsewhere])
        assert isinstance(found, WindowFailed) and found.detail == "HTTP status 307"
        assert other.fields == []


def test_retries_end_with_the_runs_bound() -> None:
    bounds = {"max_attempts": 10, "retries_per_run": 4, "concurrency": 2}
    with serving(default=replies(503)) as server, recognizer(server, **bounds) as made:
        first = made.recognize([window()] * 3).windows
        second = made.recognize([window()] * 2).windows
    assert all(isinstance(found, WindowFailed) for found in (*first, *second))
    assert len(server.fields) == 5 + 4


def test_one_failed_window_leaves_the_others_alone() -> None:
    script = [says("a"), replies(400), says("c")]
    with serving(script=script) as server, recognizer(server, concurrency=1) as made:
        found = made.recognize([window()] * 3).windows
    assert [isinstance(one, WindowTranscript) for one in found] == [True, False, True]
    assert len(server.fields) == 3


def test_closing_from_another_thread_fails_no_window() -> None:
    with serving(default=hangs) as server, recognizer(server, max_attempts=1) as made:
        closer = threading.Timer(0.3, made.close)
        closer.start()
        with pytest.raises(BackendError, match="closed while requests were running"):
            made.recognize([window()] * 2)
        closer.join()
        server.release.set()


def test_a_server_that_is_gone_ends_the_run() -> None:
    with serving() as server:
        made = TranscriptionServer(
            TranscriptionServerSettings(base_url=server.url, model="whisper", max_attempts=2)
        )
        made.load()
        made.warm_up()
    with pytest.raises(BackendError, match="--resume"):
        made.recognize([window()])
    made.close()
    made.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "other"}, "does not serve other; it serves 'whisper'"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "recognizer.base_url"),
        ({"api_key_env": "MISHEARD_NO_SUCH_KEY"}, "MISHEARD_NO_SUCH_KEY is not set"),
    ],
)
def test_the_wrong_server_is_found_before_the_run(options: dict[str, Any], words: str) -> None:
    with serving() as server:
        settings = {"base_url": server.url, "model": "whisper", **options}
        made = TranscriptionServer(TranscriptionServerSettings(**settings))
        with pytest.raises(BackendError) as raised:
            made.load()
        made.close()
    assert words in str(raised.value)
    assert server.fields == []


def test_a_server_that_does_not_transcribe_is_found_before_the_run() -> None:
    with (
        serving(script=[replies(404)]) as server,
        recognizer(server) as made,
        pytest.raises(BackendError, match="base_url"),
    ):
        made.warm_up()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (replies(401), "HTTP status 401; check the key in STT_KEY"),
        (replies(200, b"<html>canary</html>"), "no JSON; is this a transcription endpoint"),
        (replies(200, b'{"error": "canary"}'), "has no text; is this a transcription endpoint"),
        (hangs, "no full reply in time; raise timeout_seconds"),
    ],
)
def test_a_first_reply_that_is_no_transcript_ends_the_run(
    reply: Behaviour, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STT_KEY", "sk-canary")
    options = {"api_key_env": "STT_KEY", "timeout_seconds": 1, "max_attempts": 1}
    with (
        serving(script=[reply]) as server,
        recognizer(server, **options) as made,
        pytest.raises(BackendError) as raised,
    ):
        made.warm_up()
    assert words in str(raised.value) and "canary" not in str(raised.value)


@pytest.mark.parametrize(
    "key", ["sk-canary\nX-Other: y", "sk-canary and more", "sk-canary\u00e9", "\u201csk-canary"]
)
def test_a_key_that_cannot_be_sent_is_said_without_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STT_KEY", key)
    with (
        serving() as server,
        pytest.raises(BackendError) as raised,
        recognizer(server, api_key_env="STT_KEY"),
    ):
        pass
    assert "recognizer.api_key_env: STT_KEY" in str(raised.value) and "canary" not in str(raised.value)
    assert server.headers == []


def test_a_server_without_tls_is_told_from_one_that_is_gone() -> None:
    with serving() as server:
        url = server.url.replace("http", "https")
        made = TranscriptionServer(TranscriptionServerSettings(base_url=url, model="whisper"))
        with pytest.raises(BackendError, match=r"\(TLS failed: .*\); is the server running.* speak https"):
            made.load()
        made.close()


def test_a_certificate_that_is_refused_is_not_tried_again() -> None:
    import openai

    refused = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] canary")
    lost = ssl.SSLEOFError(8, "canary")
    for cause, retry in ((refused, False), (lost, True)):
        error = openai.APIConnectionError(request=None)  # type: ignore[arg-type]
        error.__cause__ = ConnectionError("canary")
        error.__cause__.__context__ = cause
        failed = classify(error, 1)
        assert (failed.retry, failed.kind) == (retry, FailureKind.LLM_ERROR)
        assert failed.detail.startswith("TLS failed") and "canary" not in failed.detail


@pytest.mark.parametrize("proxy", ["canary9://proxy.invalid", "http://canary:canary@[::1"])
def test_a_proxy_that_cannot_be_used_is_said_without_it(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, proxy)
    settings = TranscriptionServerSettings(base_url="http://server.invalid/v1", model="whisper")
    made = TranscriptionServer(settings)
    with pytest.raises(BackendError) as raised:
        made.load()
    made.close()
    assert "proxy" in str(raised.value) and "canary" not in str(raised.value)


def test_the_key_goes_to_the_server_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("STT_KEY", "sk-canary")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    caplog.set_level(logging.DEBUG)
    with (
        serving(script=[replies(401)]) as server,
        recognizer(server, api_key_env="STT_KEY") as made,
    ):
        (found,) = made.recognize([window()]).windows
        shown = json.dumps(made.fingerprint())
    assert server.headers[0]["authorization"] == "Bearer sk-canary"
    assert "openai-organization" not in server.headers[0]
    assert "canary" not in f"{found}{shown}{caplog.text}"


def test_verbose_replies_tell_probabilities() -> None:
    segments = [{"no_speech_prob": 0.25, "avg_logprob": -0.5}, {"no_speech_prob": 0.9}]
    found, server = hear([says(" so ", language="EN", segments=segments)], response_format="verbose_json")
    assert isinstance(found, WindowTranscript)
    assert server.fields[0]["response_format"] == "verbose_json"
    assert (found.text, found.language, found.no_speech_prob, found.avg_logprob) == ("so", "en", 0.25, -0.5)


@pytest.mark.parametrize(
    "fields",
    [
        {"segments": [{"no_speech_prob": "x", "avg_logprob": True}]},
        {"segments": [{"no_speech_prob": float("nan"), "avg_logprob": float("-inf")}]},
        {"segments": [{"no_speech_prob": -(10**400), "avg_logprob": 10**400}]},
        {"segments": ["x"], "language": "english"},
        {"segments": {}, "language": ["en"]},
        {"segments": []},
    ],
)
def test_figures_that_are_none_are_unknown(fields: dict[str, Any]) -> None:
    found = read_reply(json.dumps({"text": "x", **fields}).encode(), window(language=None), 10, 0.5)
    assert (found.no_speech_prob, found.avg_logprob, found.language) == (None, None, None)
    assert found.wall_seconds == 0.5


def test_a_reply_of_anything_else_is_invalid() -> None:
    for content in (b"\xff", b"null", b"1" * 5000, b'{"text": null}', b'{"text": "x\\u0000"}'):
        with pytest.raises(ItemFailedError):
            read_reply(content, window(), 10, 0.5)


@pytest.mark.parametrize(
    "base_url",
    [
        "ftp://x/v1",
        "x",
        "http://user:secret@x/v1",
        "http://x/v1?key=secret",
        "http://x/v1#a",
        "http:///v1",
        "http://[::1/v1",
        "http://x:99999/v1",
        "http://x:port/v1",
        "http://x\n/v1",
        "http://a b/v1",
        "http://x\0/v1",
    ],
)
def test_a_base_url_is_plain(base_url: str) -> None:
    with pytest.raises(ValidationError):
        TranscriptionServerSettings(base_url=base_url, model="m")
