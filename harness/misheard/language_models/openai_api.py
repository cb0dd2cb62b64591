"""A language model behind one server with the OpenAI chat API, or several: asked concurrently."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from misheard.errors import BackendError
from misheard.language_models.chat_client import ChatClient
from misheard.language_models.event_loop import EventLoopThread
from misheard.language_models.probe import PROBE, PROBE_TOKENS
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.language_models.server_facts import UNVERIFIED, ServerFacts
from misheard.language_models.settings import ApiSettings
from misheard.language_models.several_servers import LOST, Servers, ServersGoneError


class OpenAiModel:
    """A language model behind the OpenAI chat API.

    `socket` sends every request to a Unix socket instead of the URL's host. `check_alive` is called after
    every request without a reply and raises BackendError when the server is gone for good. `audit` records
    that nothing is known of what decides whether the server repeats itself.
    """

    batch_size: int | None = None

    def __init__(
        self,
        settings: ApiSettings,
        *,
        socket: Path | None = None,
        check_alive: Callable[[], None] = lambda: None,
        audit: bool = False,
    ) -> None:
        self._settings = settings
        self._socket = socket
        self._check_alive = check_alive
        self._audit = audit
        self._loop: EventLoopThread | None = None
        self._servers: Servers | None = None
        self._facts: ServerFacts | None = None
        self._taken_schemas: set[str] = set()

    def check(self) -> None:
        """Find out whether the server can be used, as `start` does, and leave it."""
        try:
            self.start()
        finally:
            self.close()

    def start(self) -> None:
        """Connect, verify which model is served, and ask one question.

        Raises BackendError for a missing key, an unreachable server, another model than the configured one,
        a model that cannot chat, or servers that differ.
        """
        try:
            self.connect()
            self.verify()
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        """Make the clients; sends nothing. Raises BackendError for a missing library or key."""
        if self._servers is not None:
            return
        each = [
            self._settings.model_copy(update={"base_url": url, "further_urls": ()})
            for url in self._settings.urls
        ]
        self._servers = Servers([ChatClient(settings, self._socket) for settings in each])
        self._loop = EventLoopThread("misheard-language-model")

    def verify(self, seconds: float | None = None) -> None:
        """Check that every server serves the configured model and that it answers, within `seconds` if given.

        Raises BackendError.
        """
        loop, servers = self._running()
        try:
            failed = loop.run(servers.verify(), seconds)
        except TimeoutError:
            raise BackendError("language_model: the server did not answer a first question in time") from None
        if failed is not None:
            where, probe = failed
            raise BackendError(f"language_model: {where} {probe.startup_hint(self._settings.api_key_env)}")
        self._facts = servers.facts

    def warm_up(self, sampling: Sampling) -> None:
        """Ask every server one question, so that its caches and kernels are warm."""
        tokens = min(PROBE_TOKENS, sampling.max_tokens)
        probes = [PROBE] * self._running()[1].count
        for _ in self.complete(probes, Sampling(max_tokens=tokens, json_schema=sampling.json_schema)):
            pass

    def fingerprint(self) -> dict[str, Any]:
        if self._facts is None:
            raise RuntimeError("start() comes before fingerprint()")
        settings = self._settings
        return {
            "kind": "openai_api",
            "base_url": settings.base_url,
            **({"further_urls": list(settings.further_urls)} if settings.further_urls else {}),
            "model": settings.model,
            "extra_sampling": settings.extra_sampling,
            **({} if settings.structured_output else {"structured_output": False}),
            "engine_version": self._facts.engine_version,
            "max_context": self._facts.max_context,
            **({"audit": dict(UNVERIFIED)} if self._audit else {}),
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
        loop, servers = self._running()
        schema = sampling.json_schema
        work = partial(servers.complete, requests, sampling)
        try:
            for completion in loop.each(len(requests), work, "language_model"):
                if completion.failure in LOST:
                    self._check_alive()
                    self._check_schema(schema)
                if completion.text is not None and schema is not None:
                    self._taken_schemas.add(schema)
                yield completion
        except ServersGoneError:
            self._check_alive()
            raise

    def close(self) -> None:
        """Cancel all requests and disconnect."""
        if self._loop is None or self._servers is None:
            return
        loop, servers = self._loop, self._servers
        self._loop = self._servers = None
        loop.close(servers.close)

    def _check_schema(self, schema: str | None) -> None:
        """Raise BackendError where the server refuses whatever is held to the schema."""
        if schema is None or not self._settings.structured_output or schema in self._taken_schemas:
            return
        loop, servers = self._running()
        if refused := loop.run(servers.schema_refusal(schema)):
            advice = (
                "use vllm 0.12 or later"
                if self._socket
                else "set language_model.structured_output: false; replies are checked either way"
            )
            where = "the server" if self._socket else f"the server at {self._settings.base_url}"
            raise BackendError(
                f"language_model: {where} refuses to hold replies to a JSON schema ({refused.detail}); "
                f"{advice}"
            )

    def _running(self) -> tuple[EventLoopThread, Servers]:
        if self._loop is None or self._servers is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._loop, self._servers
