"""What a server says about itself: the models it serves, their context, and its version."""

import asyncio
from dataclasses import dataclass
from typing import Any

from misheard.errors import BackendError
from misheard.language_models.request_errors import AttemptFailed, classify
from misheard.language_models.settings import ServerSettings

FACTS_SECONDS = 30.0
_SHOWN_MODELS = 5

_REACHABLE_SECONDS = 5.0

UNVERIFIED = {
    "prefix_caching": None,
    "batch_invariance": None,
    "reason": "somebody else runs this server, so its options cannot be verified",
}
"""What an audit knows of a server that is not the run's own."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts of the configured model; None where the server does not tell."""

    max_context: int | None
    engine_version: str | None


async def read_server_facts(
    client: Any, http: Any, settings: ServerSettings, section: str = "language_model"
) -> ServerFacts:
    """Return the facts of the configured model; `section` of the config is named in errors.

    Raises BackendError where the server does not serve it.
    """
    try:
        async with asyncio.timeout(min(FACTS_SECONDS, settings.timeout_seconds)):
            page = await client.models.list()
        models = {str(model.id): model for model in page.data}
    except Exception as error:  # noqa: BLE001 - whatever a hostile reply provokes
        failed = classify(error, 1)
        raise BackendError(
            f"{section}.base_url: {settings.base_url}/models cannot be read ({failed.detail})"
            f"{_hint(failed, settings)}"
        ) from None
    if settings.model not in models:
        raise BackendError(
            f"{section}.model: the server at {settings.base_url} does not serve {settings.model}; "
            f"it serves {_shown(list(models))}. Is this the right server?"
        )
    context = getattr(models[settings.model], "max_model_len", None)
    return ServerFacts(
        max_context=context if isinstance(context, int) and context > 0 else None,
        engine_version=await _version(http, settings),
    )


async def _version(http: Any, settings: ServerSettings) -> str | None:
    """Return what vLLM tells under /version, or None."""
    try:
        async with asyncio.timeout(min(FACTS_SECONDS, settings.timeout_seconds)):
            reply = await http.get(settings.base_url.removesuffix("/v1") + "/version")
        version = reply.json().get("version") if reply.status_code == 200 else None
    except Exception:  # noqa: BLE001 - most servers have no such page
        return None
    return version[:100] if isinstance(version, str) else None


def _hint(failed: AttemptFailed, settings: ServerSettings) -> str:
    if failed.status in {401, 403}:
        return f"; check the key in {settings.api_key_env}" if settings.api_key_env else "; set api_key_env"
    if failed.status is None:
        scheme = settings.base_url.partition(":")[0].lower()
        return f"; is the server running, and does it speak {scheme}?"
    return "; base_url usually ends in /v1"


def _shown(ids: list[str]) -> str:
    """Return some of the names, safe to print: the server chose them."""
    if not ids:
        return "no model"
    names = ", ".join(ascii(name[:80]) for name in ids[:_SHOWN_MODELS])
    return names if len(ids) <= _SHOWN_MODELS else f"{names} and {len(ids) - _SHOWN_MODELS} more"


async def is_reachable(client: Any) -> bool:
    """Return whether anybody listens where the client's server should be; a slow reply counts as yes."""
    import openai

    try:
        await client.models.list(timeout=_REACHABLE_SECONDS)
    except openai.APITimeoutError as error:
        # A machine that is gone refuses no connection, it leaves it open; the HTTP library is one of two.
        return type(error.__cause__).__name__ != "ConnectTimeout"
    except openai.APIConnectionError:
        return False
    except Exception:  # noqa: BLE001 - whatever it says, somebody answers
        return True
    return True
