"""The first questions to a server: whether it answers, and whether it takes a JSON schema."""

from collections.abc import Awaitable, Callable

from misheard.language_models.protocol import ChatRequest, Message, Sampling
from misheard.language_models.request_errors import AttemptFailed

PROBE_TOKENS = 8
PROBE = ChatRequest("probe", (Message("user", "Say yes."),))

_REFUSALS = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses with which servers refuse `response_format`; llama-cpp-python has 500 for it."""


async def schema_refusal(
    ask: Callable[[ChatRequest, Sampling], Awaitable[object]], schema: str
) -> AttemptFailed | None:
    """Return how a server refuses any reply under a schema; None where it does not.

    It does where it refuses the probe under the schema and answers the same probe without one.
    """
    held = await ask(PROBE, Sampling(max_tokens=PROBE_TOKENS, json_schema=schema))
    if not isinstance(held, AttemptFailed) or held.status not in _REFUSALS:
        return None
    free = await ask(PROBE, Sampling(max_tokens=PROBE_TOKENS))
    return None if isinstance(free, AttemptFailed) else held
