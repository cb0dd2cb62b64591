"""Any server with the OpenAI transcription endpoint: windows as WAV uploads, temperature 0, no prompt."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np

from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.api_client import make_api_client
from misheard.language_models.event_loop import EventLoopThread
from misheard.language_models.request_errors import AttemptFailed, classify
from misheard.language_models.retries import backoff_seconds
from misheard.language_models.server_facts import (
    UNVERIFIED,
    ServerFacts,
    is_reachable,
    read_server_facts,
)
from misheard.recognizers.protocol import (
    SAMPLE_RATE,
    AudioWindow,
    Features,
    RecognizedBatch,
    WindowFailed,
    WindowTranscript,
)
from misheard.recognizers.settings import TranscriptionServerSettings
from misheard.recognizers.transcription_reply import read_reply
from misheard.recognizers.wav import wav_bytes

_PROBE = AudioWindow(np.zeros(SAMPLE_RATE, np.float32), "en")
"""A second of silence: what is heard in it does not matter."""


class TranscriptionServer:
    """A recognizer behind the OpenAI transcription API, such as vLLM, Speaches or a hosted one.

    `socket` sends every request to a Unix socket instead of the URL's host. `check_alive` is called after a
    batch with a window without a reply and raises BackendError when the server is gone for good. `audit`
    records that nothing is known of what decides whether the server repeats itself.
    """

    whole_clips = False

    def __init__(
        self,
        settings: TranscriptionServerSettings,
        *,
        socket: Path | None = None,
        check_alive: Callable[[], None] = lambda: None,
        audit: bool = False,
    ) -> None:
        self._settings = settings
        self._socket = socket
        self._check_alive = check_alive
        self._audit = audit
        self._retries_left = settings.retries_per_run
        self._loop: EventLoopThread | None = None
        self._client: Any = None
        self._facts: ServerFacts | None = None

    def load(self) -> None:
        """Connect and check which model is served. Raises BackendError."""
        self._client, http = make_api_client(self._settings, "recognizer", self._socket)
        self._loop = EventLoopThread("misheard-recognizer")
        facts = read_server_facts(self._client, http, self._settings, "recognizer")
        self._facts = self._loop.run(facts)

    def warm_up(self) -> None:
        """Send a second of silence, so that a server that cannot transcribe is found before the run.

        Raises BackendError.
        """
        try:
            self._running_loop().run(self._transcribe(_PROBE))
        except ItemFailedError as error:
            said, hint = error.detail, "is this a transcription endpoint?"
        except _RefusedError as error:
            said, hint = error.failed.detail, self._startup_hint(error.failed.status)
        else:
            return
        if self._socket is not None:
            hint = "choose a model that transcribes, or raise timeout_seconds if it only is slow"
        raise BackendError(
            f"recognizer: {self._where()} did not transcribe a first clip: {said}; {hint}"
        ) from None

    def _startup_hint(self, status: int | None) -> str:
        if status in {401, 403}:
            name = self._settings.api_key_env
            return f"check the key in {name}" if name else "name the key's variable in api_key_env"
        if status is None:
            return "raise timeout_seconds if it only is slow"
        return "does this model transcribe, and does base_url end in /v1?"

    def fingerprint(self) -> dict[str, Any]:
        return {
            "backend": "openai_api",
            "base_url": self._settings.base_url,
            "model": self._settings.model,
            "engine_version": self.facts.engine_version,
            **self.request_fingerprint(),
            **({"audit": dict(UNVERIFIED)} if self._audit else {}),
        }

    @property
    def facts(self) -> ServerFacts:
        """What the server says about itself, after `load`."""
        if self._facts is None:
            raise RuntimeError("load() comes before fingerprint()")
        return self._facts

    def request_fingerprint(self) -> dict[str, Any]:
        """Return what decides the output in the requests and in how replies are read."""
        return {
            "response_format": self._settings.response_format,
            "max_words": self._settings.max_words,
            "decoding": {"temperature": 0, "prompt": None},
        }

    def supports(self, language: str | None) -> bool:
        return True

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        """Recognize windows concurrently. Raises BackendError where nobody listens any more."""
        loop = self._running_loop()
        started = time.perf_counter()
        try:
            windows = loop.run(self._all(batch))
        except CancelledError:
            raise BackendError("recognizer: closed while requests were running") from None
        seconds = time.perf_counter() - started
        lost = {FailureKind.ASR_ERROR, FailureKind.TIMEOUT}
        failed = any(isinstance(window, WindowFailed) and window.kind in lost for window in windows)
        if failed:
            self._check_alive()
            if not loop.run(is_reachable(self._client)):
                raise BackendError(
                    f"recognizer: {self._where()} is gone; start it again (a run goes on with --resume)"
                )
        return RecognizedBatch(windows, 0.0, seconds)

    def close(self) -> None:
        """Cancel all requests and disconnect."""
        if self._loop is None:
            return
        loop, client = self._loop, self._client
        self._loop = self._client = None
        loop.close(client.close)

    async def _all(self, batch: Sequence[AudioWindow]) -> tuple[WindowTranscript | WindowFailed, ...]:
        turn = asyncio.Semaphore(self._settings.concurrency)

        async def one(window: AudioWindow) -> WindowTranscript | WindowFailed:
            async with turn:
                return await self._recognize(window)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(window)) for window in batch]
        return tuple(task.result() for task in tasks)

    async def _recognize(self, window: AudioWindow) -> WindowTranscript | WindowFailed:
        started = time.perf_counter()
        try:
            return await self._transcribe(window)
        except ItemFailedError as error:
            return WindowFailed(error.kind, error.detail, time.perf_counter() - started)
        except _RefusedError as error:
            kind = FailureKind.TIMEOUT if error.failed.kind is FailureKind.TIMEOUT else FailureKind.ASR_ERROR
            return WindowFailed(kind, error.failed.detail, time.perf_counter() - started)

    async def _transcribe(self, window: AudioWindow) -> WindowTranscript:
        """Ask until a reply comes, the failure is final, or no try is left.

        Raises _RefusedError, and ItemFailedError for a reply that is none.
        """
        attempt = 0
        while True:
            attempt += 1
            started = time.perf_counter()
            try:
                content = await self._attempt(window)
            except Exception as error:  # noqa: BLE001 - whatever a hostile reply provokes is a typed failure
                failed = classify(error, attempt)
            else:
                seconds = time.perf_counter() - started
                return read_reply(content, window, self._settings.max_words, seconds)
            if not failed.retry or attempt == self._settings.max_attempts or not self._retries_left:
                raise _RefusedError(failed)
            self._retries_left -= 1
            await asyncio.sleep(backoff_seconds(attempt, failed.retry_after))

    async def _attempt(self, window: AudioWindow) -> bytes:
        language = {} if window.language is None else {"language": window.language}
        async with asyncio.timeout(self._settings.timeout_seconds):
            reply = await self._client.audio.transcriptions.with_raw_response.create(
                file=("window.wav", wav_bytes(window.samples), "audio/wav"),
                model=self._settings.model,
                response_format=self._settings.response_format,
                temperature=0.0,
                **language,
            )
        content: bytes = reply.content
        return content

    def _where(self) -> str:
        return "the server" if self._socket else f"the server at {self._settings.base_url}"

    def _running_loop(self) -> EventLoopThread:
        if self._loop is None:
            raise RuntimeError("load() comes first, and nothing after close()")
        return self._loop


class _RefusedError(Exception):
    """The last attempt at a window failed."""

    def __init__(self, failed: AttemptFailed) -> None:
        super().__init__(failed.detail)
        self.failed = failed
