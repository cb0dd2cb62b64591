"""The client of a server that speaks the OpenAI API, for answers and for transcripts."""

import logging
from pathlib import Path
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.language_models.api_key import read_api_key
from misheard.language_models.http_client import make_http_client
from misheard.language_models.settings import ServerSettings


def make_api_client(settings: ServerSettings, section: str, socket: Path | None = None) -> tuple[Any, Any]:
    """Return an `openai.AsyncOpenAI` that retries nothing, and the HTTP client that it speaks through.

    Nothing is sent. `section` of the config is named in errors; with `socket` every request goes to that Unix
    socket. Raises BackendError for a missing library, a missing key, and a proxy that cannot be used.
    """
    key = read_api_key(section, settings.api_key_env)
    try:
        import openai
    except ImportError as error:
        raise BackendError(f"{section}: the openai package is missing; {INSTALL_ADVICE}") from error
    # At DEBUG the SDK logs whole requests, prompts and recordings included.
    logging.getLogger("openai").setLevel(logging.WARNING)
    http = make_http_client(
        trust_env=socket is None and not settings.is_loopback,
        connections=settings.concurrency,
        seconds=settings.timeout_seconds,
        socket=socket,
    )
    client = openai.AsyncOpenAI(api_key=key, base_url=settings.base_url, max_retries=0, http_client=http)
    # Taken from the environment otherwise, and of no concern to the server that the config names.
    client.organization = client.project = None
    return client, http
