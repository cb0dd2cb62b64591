"""An HTTP endpoint of the user's as a plug-in: a POST of JSON per request, concurrent and bounded."""

import asyncio
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from misheard.canonical import canonical_json
from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.api_key import read_api_key
from misheard.language_models.event_loop import EventLoopThread, ask_each
from misheard.language_models.http_client import CONNECT_SECONDS
from misheard.language_models.protocol import Completion
from misheard.language_models.retries import backoff_seconds, is_retried_status, parse_retry_after
from misheard.language_models.settings import is_loopback
from misheard.plugins.protocol import PluginRequest, PluginRole
from misheard.plugins.reply import MAX_REPLY_BYTES, decode_reply, invalid
from misheard.plugins.settings import HttpPluginSettings

_PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Refused:
    """A failed attempt; `retry_after` is in seconds."""

    kind: FailureKind
    detail: str
    retry: bool = False
    retry_after: float | None = None
    unreachable: bool = False


class HttpPlugin:
    """Posts requests to an endpoint that somebody else runs.

    Redirects are not followed: they would carry what was said to a server that nobody named.
    """

    batch_size: int | None = None

    def __init__(self, settings: HttpPluginSettings, role: PluginRole) -> None:
        self._settings = settings
        self._role = role
        self._loop: EventLoopThread | None = None
        self._client: Any = None

    def check(self) -> None:
        """Find out whether anybody listens, as `start` does, and leave it."""
        try:
            self.start()
        finally:
            self.close()

    def start(self) -> None:
        """Connect. Raises BackendError for a missing library or key, and where nobody listens."""
        if self._client is not None:
            return
        self._client = self._make_client()
        self._loop = EventLoopThread(f"misheard-{self._role.name}")
        if not self._loop.run(self._is_reachable()):
            self.close()
            raise BackendError(
                f"{self._role.name}.url: nobody listens at {self._settings.url}; start the endpoint first"
            )

    def fingerprint(self) -> dict[str, Any]:
        """Return the endpoint and what the user calls its version."""
        return {"kind": "http", "url": self._settings.url, "version": self._settings.version}

    def complete(self, requests: Sequence[PluginRequest]) -> Iterator[Completion]:
        """Yield one completion per request as they finish; leaving early cancels the rest.

        Raises BackendError where nobody listens any more.
        """
        loop = self._running_loop()
        concurrency = self._settings.concurrency
        work = partial(ask_each, requests, self._complete_one, concurrency)
        return loop.each(len(requests), work, self._role.name)

    def close(self) -> None:
        """Cancel all requests and disconnect."""
        if self._loop is None:
            return
        loop, client = self._loop, self._client
        self._loop = self._client = None
        loop.close(client.aclose)

    def _make_client(self) -> Any:
        settings = self._settings
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if settings.api_key_env is not None:
            headers["Authorization"] = f"Bearer {read_api_key(self._role.name, settings.api_key_env)}"
        try:
            import httpx
        except ImportError as error:
            raise BackendError(
                f"{self._role.name}: the httpx package is missing; {INSTALL_ADVICE}"
            ) from error
        seconds = settings.timeout_seconds
        try:
            return httpx.AsyncClient(
                limits=httpx.Limits(max_connections=settings.concurrency + 1),
                timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS), pool=None),
                follow_redirects=False,
                trust_env=not is_loopback(settings.url),
                headers=headers,
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            # The error may quote the proxy's password.
            raise BackendError(
                f"a proxy that the environment names cannot be used ({type(error).__name__}); set "
                "HTTP_PROXY, HTTPS_PROXY and ALL_PROXY to http:// URLs, or unset them"
            ) from None

    async def _is_reachable(self) -> bool:
        """Return whether anybody listens; any reply, and a slow one, counts as yes."""
        import httpx

        try:
            async with self._client.stream("OPTIONS", self._settings.url, timeout=_PROBE_SECONDS):
                return True
        except httpx.ConnectError:
            return False
        except Exception:  # noqa: BLE001 - whatever it says, somebody answers
            return True

    async def _complete_one(self, request: PluginRequest) -> Completion:
        """Try until a reply comes, the failure is final, or no try is left. Raises BackendError."""
        body = canonical_json(request.payload).encode("ascii")
        attempt = 0
        while True:
            attempt += 1
            started = time.perf_counter()
            outcome = await self._attempt(body)
            seconds = time.perf_counter() - started
            if isinstance(outcome, str):
                return Completion(request.key, outcome, seconds=seconds, attempts=attempt)
            if not outcome.retry or attempt == self._settings.max_attempts:
                break
            await asyncio.sleep(backoff_seconds(attempt, outcome.retry_after))
        if outcome.unreachable and not await self._is_reachable():
            raise BackendError(
                f"{self._role.name}.url: the endpoint at {self._settings.url} is gone; start it again "
                "(a run goes on with --resume)"
            )
        return Completion(request.key, None, outcome.kind, outcome.detail, seconds=seconds, attempts=attempt)

    async def _attempt(self, body: bytes) -> str | _Refused:
        """Return the reply's canonical JSON, or what was wrong; details hold the status at most."""
        import httpx

        error = self._role.error
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await self._post(body)
        except ItemFailedError as failed:
            return _Refused(failed.kind, failed.detail)
        except _StatusError as failed:
            kind = FailureKind.TIMEOUT if failed.status in {408, 504} else error
            return _Refused(
                kind, f"HTTP status {failed.status}", is_retried_status(failed.status), failed.retry_after
            )
        except (TimeoutError, httpx.TimeoutException):
            return _Refused(FailureKind.TIMEOUT, "no full reply in time")
        except httpx.TransportError as failed:
            distrusted = isinstance(_root(failed), ssl.SSLCertVerificationError)
            detail = "the certificate is not trusted" if distrusted else "connection failed or dropped"
            return _Refused(error, detail, retry=not distrusted, unreachable=True)
        except Exception as failed:  # noqa: BLE001 - whatever a hostile reply provokes is a typed failure
            return _Refused(error, f"malformed reply: {type(failed).__name__}")

    async def _post(self, body: bytes) -> str:
        """Return the canonical JSON of a reply. Raises ItemFailedError, _StatusError and errors of httpx."""
        async with self._client.stream("POST", self._settings.url, content=body) as reply:
            if not 200 <= reply.status_code <= 299:
                after = parse_retry_after(reply.headers.get("retry-after"), time.time())
                raise _StatusError(reply.status_code, after)
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise invalid("the reply is compressed although that was not asked for")
            received = bytearray()
            async for chunk in reply.aiter_raw():
                received += chunk
                if len(received) > MAX_REPLY_BYTES:
                    raise invalid(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
        return decode_reply(bytes(received))

    def _running_loop(self) -> EventLoopThread:
        if self._loop is None:
            raise RuntimeError("start() comes first, and nothing after close()")
        return self._loop


class _StatusError(Exception):
    """A reply with a status that is no success."""

    def __init__(self, status: int, retry_after: float | None) -> None:
        super().__init__(str(status))
        self.status = status
        self.retry_after = retry_after


def _root(error: BaseException) -> BaseException:
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return error
