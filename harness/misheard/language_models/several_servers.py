"""Servers of one model that share the requests: each takes the next one when it is free."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.chat_client import ChatClient
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.request_errors import AttemptFailed
from misheard.language_models.server_facts import ServerFacts

LOST = frozenset({FailureKind.LLM_ERROR, FailureKind.TIMEOUT})
"""Failures that a server which is gone brings about."""


class ServersGoneError(BackendError):
    """Nobody listens any more where the servers were: every further request would fail."""


class Servers:
    """One server or several of the same model, used from within one event loop.

    A server where nobody listens any more gives its requests back to the others and is asked no more.
    """

    def __init__(self, clients: Sequence[ChatClient]) -> None:
        self._clients = tuple(clients)
        self._alive = list(clients)

    @property
    def count(self) -> int:
        """How many are left."""
        return len(self._alive)

    @property
    def facts(self) -> ServerFacts | None:
        """What the servers, which are alike, say about themselves, after `verify`."""
        return self._clients[0].facts

    async def verify(self) -> tuple[str, AttemptFailed] | None:
        """Ask every server about itself and one question; return which failed to answer that, and how.

        Raises BackendError where one cannot be reached, serves another model, or differs from the first.
        """
        probes = await asyncio.gather(*(client.verify() for client in self._clients))
        first = self._clients[0]
        for client in self._clients[1:]:
            _check_alike(first, client)
        failed = ((client.where, probe) for client, probe in zip(self._clients, probes, strict=True) if probe)
        return next(failed, None)

    async def schema_refusal(self, schema: str) -> AttemptFailed | None:
        """Return how a server refuses whatever is held to the schema; None where it does not."""
        return await (self._alive or self._clients)[0].schema_refusal(schema)

    async def complete(
        self, requests: Sequence[ChatRequest], sampling: Sampling, done: Callable[[Completion], None]
    ) -> None:
        """Pass on one completion per request, as they finish.

        Raises ServersGoneError when no server is left.
        """
        if not self._alive:
            raise self._gone(self._clients[-1])
        waiting = _Waiting(requests)
        turns = min(len(requests), self._clients[0].concurrency)
        async with asyncio.TaskGroup() as group:
            for _ in range(turns):
                for client in self._alive:
                    group.create_task(self._work(client, waiting, sampling, done))

    async def close(self) -> None:
        """Disconnect from all."""
        await asyncio.gather(*(client.close() for client in self._clients), return_exceptions=True)

    async def _work(
        self,
        client: ChatClient,
        waiting: "_Waiting",
        sampling: Sampling,
        done: Callable[[Completion], None],
    ) -> None:
        while (request := await waiting.take()) is not None:
            completion = await client.complete(request, sampling) if client in self._alive else None
            if completion is not None and completion.failure in LOST and not await client.is_reachable():
                self._lose(client)
                completion = None
            if completion is None:
                await waiting.give_back(request)
                return
            done(completion)
            await waiting.finished()

    def _lose(self, client: ChatClient) -> None:
        if client in self._alive:
            self._alive.remove(client)
            logging.getLogger(__name__).warning("language_model: %s is gone", client.where)
        if not self._alive:
            raise self._gone(client)

    def _gone(self, last: ChatClient) -> ServersGoneError:
        which, them = last.where, "it"
        if len(self._clients) > 1:
            which, them = f"the last of {len(self._clients)} servers, {last.where},", "them"
        return ServersGoneError(
            f"language_model: {which} is gone; start {them} again (a run goes on with --resume)"
        )


class _Waiting:
    """Requests that have no answer yet; what is given back is the next to be taken."""

    def __init__(self, requests: Sequence[ChatRequest]) -> None:
        self._requests = deque(requests)
        self._unfinished = len(requests)
        self._changed = asyncio.Condition()

    async def take(self) -> ChatRequest | None:
        """Return the next request, or None when all have their answers; waits while all are being asked."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._requests or not self._unfinished)
            return self._requests.popleft() if self._requests else None

    async def give_back(self, request: ChatRequest) -> None:
        async with self._changed:
            self._requests.appendleft(request)
            self._changed.notify_all()

    async def finished(self) -> None:
        async with self._changed:
            self._unfinished -= 1
            if not self._unfinished:
                self._changed.notify_all()


def _check_alike(first: ChatClient, other: ChatClient) -> None:
    if first.facts is None or other.facts is None:
        raise RuntimeError("the facts are read first")
    here, there = asdict(first.facts), asdict(other.facts)
    differing = [f"{name} ({here[name]!a} and {there[name]!a})" for name in here if here[name] != there[name]]
    if differing:
        raise BackendError(
            f"language_model.further_urls: {first.where} and {other.where} differ in {', '.join(differing)}; "
            "answers of different servers cannot stand for one system"
        )
