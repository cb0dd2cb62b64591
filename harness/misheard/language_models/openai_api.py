"""A client of servers that speak the OpenAI chat API: concurrent, with bounded retries and typed failures."""

import asyncio
import logging
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.answers import FINISH_REASONS, grade_text
from misheard.language_models.api_client import make_api_client
from misheard.language_models.chat_stream import StreamedReply
from misheard.language_models.event_loop import EventLoopThread
from misheard.language_models.probe import PROBE, PROBE_TOKENS, schema_refusal
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.request_body import request_body
from misheard.language_models.request_errors import AttemptFailed, classify, context_overflow
from misheard.language_models.retries import backoff_seconds
from misheard.language_models.server_facts import ServerFacts, is_reachable, read_server_facts
from misheard.language_models.settings import ApiSettings


@dataclass(frozen=True, slots=True)
class _Attempt:
    reply: StreamedReply
    seconds: float
    first_token_seconds: float | None


class OpenAiModel:
    """A language model behind the OpenAI chat API.

    `socket` sends every request to a Unix socket instead of the URL's host. `check_alive` is called after
    every request without a reply and raises BackendError when the server is gone for good.
    """

    batch_size: int | None = None

    def __init__(
        self,
        settings: ApiSettings,
        *,
        socket: Path | None = None,
        check_alive: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._socket = socket
        self._check_alive = check_alive
        self._loop: EventLoopThread | None = None
        self._client: Any = None
        self._http: Any = None
        self._facts: ServerFacts | None = None
        self._taken_schemas: set[str] = set()

    def check(self) -> None:
        """Find out whether the server can be used, as `start` does, and leave it."""
        try:
            self.start()
        finally:
            self.close()

    def start(self) -> None:
        """Connect, verify which model is served, and ask it one question.

        Raises BackendError for a missing key, an unreachable server, another model than the configured one,
        or a model that cannot chat.
        """
        try:
            self.connect()
            self.verify()
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        """Make the client; sends nothing. Raises BackendError for a missing library or key."""
        if self._client is not None:
            return
        self._client, self._http = make_api_client(self._settings, "language_model", self._socket)
        self._loop = EventLoopThread("misheard-language-model")

    def verify(self, seconds: float | None = None) -> None:
        """Check that the server serves the configured model and that it answers, within `seconds` if given.

        Raises BackendError.
        """
        try:
            probe = self._running_loop().run(self._verify(), seconds)
        except TimeoutError:
            raise BackendError(
                f"language_model: {self._where()} did not answer a first question in time"
            ) from None
        if isinstance(probe, AttemptFailed):
            raise BackendError(
                f"language_model: {self._where()} {probe.startup_hint(self._settings.api_key_env)}"
            )

    async def _verify(self) -> tuple[_Attempt, int] | AttemptFailed:
        self._facts = await read_server_facts(self._client, self._http, self._settings)
        return await self._ask(PROBE, Sampling(max_tokens=PROBE_TOKENS), checked=False)

    async def _healthy(self) -> bool:
        try:
            url = self._settings.base_url.removesuffix("/v1") + "/health"
            reply = await self._http.get(url, timeout=5.0)
        except Exception:  # noqa: BLE001 - any failure means: not yet
            return False
        return bool(reply.status_code == 200)

    def is_healthy(self) -> bool:
        """Return whether GET /health beside the API answers 200; the client must be connected."""
        return self._running_loop().run(self._healthy())

    def _check_reachable(self) -> None:
        """Raise BackendError where nobody listens any more: the rest of the suite would fail with it."""
        if not self._running_loop().run(is_reachable(self._client)):
            raise BackendError(
                f"language_model: {self._where()} is gone; start it again and go on with --resume"
            )

    def _check_schema(self, schema: str | None) -> None:
        """Raise BackendError where the server refuses whatever is held to the schema."""
        if schema is None or not self._settings.structured_output or schema in self._taken_schemas:
            return
        if refused := self._running_loop().run(schema_refusal(partial(self._ask, checked=False), schema)):
            advice = (
                "use vllm 0.12 or later"
                if self._socket
                else "set language_model.structured_output: false; replies are checked either way"
            )
            raise BackendError(
                f"language_model: {self._where()} refuses to hold replies to a JSON schema "
                f"({refused.detail}); {advice}"
            )

    def warm_up(self, sampling: Sampling) -> None:
        """Ask one question, so that caches and kernels of the server are warm."""
        tokens = min(PROBE_TOKENS, sampling.max_tokens)
        for _ in self.complete([PROBE], Sampling(max_tokens=tokens, json_schema=sampling.json_schema)):
            pass

    def fingerprint(self) -> dict[str, Any]:
        if self._facts is None:
            raise RuntimeError("start() comes before fingerprint()")
        return {
            "kind": "openai_api",
            "base_url": self._settings.base_url,
            "model": self._settings.model,
            "extra_sampling": self._settings.extra_sampling,
            **({} if self._settings.structured_output else {"structured_output": False}),
            "engine_version": self._facts.engine_version,
            "max_context": self._facts.max_context,
        }

    @property
    def engine_version(self) -> str | None:
        """The server's version where it tells one, after `verify`."""
        return self._facts.engine_version if self._facts else None

    @property
    def max_context(self) -> int | None:
        """Most tokens of prompt and answer together where the server tells it, after `verify`."""
        return self._facts.max_context if self._facts else None

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        """Yield one completion per request as they finish; leaving early cancels the rest at the server."""
        loop = self._running_loop()
        finished: queue.SimpleQueue[Completion | BaseException] = queue.SimpleQueue()
        asking = loop.submit(self._complete_all(requests, sampling, finished.put))
        asking.add_done_callback(lambda future: _pass_on_error(future, finished.put))
        try:
            for _ in requests:
                outcome = finished.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                if outcome.failure in {FailureKind.LLM_ERROR, FailureKind.TIMEOUT}:
                    self._check_alive()
                    self._check_reachable()
                    self._check_schema(sampling.json_schema)
                if outcome.text is not None and sampling.json_schema is not None:
                    self._taken_schemas.add(sampling.json_schema)
                yield outcome
        finally:
            asking.cancel()

    def close(self) -> None:
        """Cancel all requests and disconnect."""
        if self._loop is None:
            return
        loop, client = self._loop, self._client
        self._loop = self._client = self._http = None
        try:
            loop.submit(client.close()).result(timeout=5)
        except Exception:  # noqa: BLE001 - a connection that cannot be closed is left to the operating system
            logging.getLogger(__name__).debug("closing the connections failed")
        finally:
            loop.close()

    async def _complete_all(
        self, requests: Sequence[ChatRequest], sampling: Sampling, done: Callable[[Completion], None]
    ) -> None:
        waiting = iter(requests)

        async def work() -> None:
            for request in waiting:
                done(await self._complete_one(request, sampling))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._settings.concurrency, len(requests))):
                group.create_task(work())

    async def _complete_one(self, request: ChatRequest, sampling: Sampling) -> Completion:
        started = time.perf_counter()
        outcome = await self._ask(request, sampling)
        if isinstance(outcome, AttemptFailed):
            seconds = time.perf_counter() - started
            return Completion(
                request.key, None, outcome.kind, outcome.detail, seconds=seconds, attempts=outcome.attempts
            )
        attempt, attempts = outcome
        reply = attempt.reply
        as_json = sampling.json_schema is not None
        answer = grade_text(reply.text, reply.finish_reason, as_json=as_json)
        known = reply.finish_reason if reply.finish_reason in FINISH_REASONS else "other"
        return Completion(
            request.key,
            answer.text,
            answer.failure,
            answer.detail,
            finish_reason=known,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            seconds=attempt.seconds,
            first_token_seconds=attempt.first_token_seconds,
            attempts=attempts,
        )

    async def _ask(
        self, request: ChatRequest, sampling: Sampling, *, checked: bool = True
    ) -> tuple[_Attempt, int] | AttemptFailed:
        """Try until an attempt succeeds, fails for good, or the attempts are used up."""
        for attempt in range(1, self._settings.max_attempts + 1):
            try:
                result = await self._attempt(request, sampling)
            except Exception as error:  # noqa: BLE001 - whatever a hostile reply provokes is a typed failure
                failed = classify(error, attempt)
            else:
                prompt = result.reply.prompt_tokens if checked else None
                if too_long := context_overflow(prompt, sampling.max_tokens, self.max_context, attempt):
                    return too_long
                return result, attempt
            if not failed.retry or attempt == self._settings.max_attempts:
                return failed
            await asyncio.sleep(backoff_seconds(attempt, failed.retry_after))
        raise AssertionError("max_attempts is at least 1")

    async def _attempt(self, request: ChatRequest, sampling: Sampling) -> _Attempt:
        reply, first_token_seconds = StreamedReply(), None
        started = time.perf_counter()
        async with asyncio.timeout(self._settings.timeout_seconds):
            stream = await self._client.chat.completions.create(
                **request_body(self._settings, request, sampling)
            )
            async with stream:
                async for chunk in stream:
                    reply.add(chunk)
                    if reply.started and first_token_seconds is None:
                        first_token_seconds = time.perf_counter() - started
        if reply.finish_reason is None:
            raise ConnectionError("the reply ended early")
        return _Attempt(reply, time.perf_counter() - started, first_token_seconds)

    def _where(self) -> str:
        return "the server" if self._socket else f"the server at {self._settings.base_url}"

    def _running_loop(self) -> EventLoopThread:
        if self._loop is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._loop


def _pass_on_error(asking: Future[None], put: Callable[[BaseException], None]) -> None:
    if asking.cancelled():
        put(BackendError("language_model: closed while requests were running"))
    elif error := asking.exception():
        put(error)
