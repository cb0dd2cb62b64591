"""A client of one server that speaks the OpenAI chat API: bounded retries and typed failures."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from misheard.language_models.answers import FINISH_REASONS, grade_text
from misheard.language_models.api_client import make_api_client
from misheard.language_models.chat_stream import StreamedReply
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


class ChatClient:
    """One server, asked from within an event loop.

    `socket` sends every request to a Unix socket instead of the URL's host. Making the client sends nothing;
    it raises BackendError for a missing library or key.
    """

    def __init__(self, settings: ApiSettings, socket: Path | None = None) -> None:
        self._settings = settings
        self._client, self._http = make_api_client(settings, "language_model", socket)
        self.concurrency = settings.concurrency
        self.where = "the server" if socket else f"the server at {settings.base_url}"
        self.facts: ServerFacts | None = None

    async def verify(self) -> AttemptFailed | None:
        """Read what the server says about itself and ask it one question; return how it failed to answer.

        Raises BackendError where it cannot be reached, or serves another model than the configured one.
        """
        self.facts = await read_server_facts(self._client, self._http, self._settings)
        probe = await self._ask(PROBE, Sampling(max_tokens=PROBE_TOKENS), checked=False)
        return probe if isinstance(probe, AttemptFailed) else None

    async def is_reachable(self) -> bool:
        """Return whether anybody listens; a slow reply counts as yes."""
        return await is_reachable(self._client)

    async def schema_refusal(self, schema: str) -> AttemptFailed | None:
        """Return how the server refuses whatever is held to the schema; None where it does not."""
        return await schema_refusal(partial(self._ask, checked=False), schema)

    async def complete(self, request: ChatRequest, sampling: Sampling) -> Completion:
        """Ask until an answer comes, a failure is final, or no try is left."""
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

    async def close(self) -> None:
        """Disconnect."""
        await self._client.close()

    async def _ask(
        self, request: ChatRequest, sampling: Sampling, *, checked: bool = True
    ) -> tuple[_Attempt, int] | AttemptFailed:
        context = self.facts.max_context if self.facts and checked else None
        for attempt in range(1, self._settings.max_attempts + 1):
            try:
                result = await self._attempt(request, sampling)
            except Exception as error:  # noqa: BLE001 - whatever a hostile reply provokes is a typed failure
                failed = classify(error, attempt)
            else:
                prompt = result.reply.prompt_tokens
                too_long = context_overflow(prompt, sampling.max_tokens, context, attempt)
                return too_long or (result, attempt)
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
