"""What is sent to a server for one request."""

from typing import Any

from misheard.language_models.protocol import ChatRequest, Sampling
from misheard.language_models.reply_schema import reply_schema
from misheard.language_models.settings import ApiSettings


def request_body(settings: ApiSettings, request: ChatRequest, sampling: Sampling) -> dict[str, Any]:
    """Return the arguments of one streamed chat completion; every sampling parameter is among them.

    A JSON schema goes as OpenAI's `response_format`, which vLLM follows as well. `strict` makes OpenAI follow
    it too; its schemas name every property as required and allow no other.
    """
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "n": 1,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "seed": sampling.seed,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if settings.extra_sampling:
        body["extra_body"] = {
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
            "repetition_penalty": sampling.repetition_penalty,
        }
    if settings.structured_output and sampling.json_schema is not None:
        schema = {"name": "reply", "strict": True, "schema": reply_schema(sampling.json_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body
