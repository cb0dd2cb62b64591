"""The HTTP client below the OpenAI SDK: bounded replies, no redirects, no proxy on loopback."""

import importlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from misheard.errors import BackendError

LARGEST_REPLY_BYTES = 16 * 2**20
"""Most bytes read of one reply; ten thousand streamed tokens are under 4 MiB."""

CONNECT_SECONDS = 10.0


class ReplyRefusedError(Exception):
    """A reply that is too large, or compressed although that was not asked for."""


def make_http_client(*, trust_env: bool, connections: int, seconds: float, socket: Path | None) -> Any:
    """Return an async client of the library that the installed OpenAI SDK speaks through.

    `trust_env` lets proxies named in the environment apply; with `socket` every request goes to that Unix
    socket. Redirects are not followed: they would carry the prompts to a server that nobody named. Replies
    are asked for uncompressed, so that their size on the wire is their size in memory.

    Raises BackendError for a proxy that cannot be used.
    """
    http = _http_library()
    limits = http.Limits(max_connections=connections, max_keepalive_connections=connections)
    try:
        return http.AsyncClient(
            transport=None if socket is None else http.AsyncHTTPTransport(uds=str(socket), limits=limits),
            limits=limits,
            timeout=http.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS), pool=None),
            follow_redirects=False,
            trust_env=trust_env,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_make_bound(http)]},
        )
    except (ValueError, ImportError, http.InvalidURL) as error:
        # The error may quote the proxy's password.
        raise BackendError(
            f"a proxy that the environment names cannot be used ({type(error).__name__}); set HTTP_PROXY, "
            "HTTPS_PROXY and ALL_PROXY to http:// URLs, or unset them"
        ) from None


def _http_library() -> Any:
    """Return httpx2 or httpx: version 3 of the SDK moved from one to the other."""
    import openai

    for base in openai.DefaultAsyncHttpxClient.__mro__:
        package = base.__module__.partition(".")[0]
        if package.startswith("httpx"):
            return importlib.import_module(package)
    raise ImportError("the installed openai package speaks through neither httpx nor httpx2")


def _make_bound(http: Any) -> Any:
    class BoundedStream(http.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for chunk in self._inner:
                received += len(chunk)
                if received > LARGEST_REPLY_BYTES:
                    raise ReplyRefusedError(f"the reply is larger than {LARGEST_REPLY_BYTES} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ReplyRefusedError("the reply is compressed although that was not asked for")
        response.stream = BoundedStream(response.stream)

    return bound
