"""Puts a streamed chat reply together; every field comes from the server and may be anything."""

from dataclasses import dataclass, field
from typing import Any

LARGEST_TEXT = 2**20
"""Most characters of one answer that are kept; a longer one is refused."""

_MOST_TOKENS = 2**31


class MalformedReplyError(Exception):
    """A reply that does not have the form of the API. Its message holds nothing of the reply."""


@dataclass(slots=True)
class StreamedReply:
    """What has arrived so far. Figures that the server did not send are None.

    `started` becomes true with the first piece of text, thinking included.
    """

    parts: list[str] = field(default_factory=list)
    size: int = 0
    started: bool = False
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.parts)

    def add(self, chunk: Any) -> None:
        """Take in one chunk as the SDK parsed it. Raises MalformedReplyError."""
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self.prompt_tokens = _count(getattr(usage, "prompt_tokens", None))
            self.completion_tokens = _count(getattr(usage, "completion_tokens", None))
        choices = getattr(chunk, "choices", None) or []
        if not isinstance(choices, list):
            raise MalformedReplyError("`choices` is no list")
        for choice in choices:
            self._add_choice(choice)

    def _add_choice(self, choice: Any) -> None:
        delta = getattr(choice, "delta", None)
        content = getattr(delta, "content", None)
        if content is not None and not isinstance(content, str):
            raise MalformedReplyError("`content` is no text")
        if content or any(getattr(delta, name, None) for name in ("reasoning", "reasoning_content")):
            self.started = True
        if content:
            self.size += len(content)
            if self.size > LARGEST_TEXT:
                raise MalformedReplyError(f"the answer is longer than {LARGEST_TEXT} characters")
            self.parts.append(content)
        reason = getattr(choice, "finish_reason", None)
        if reason is not None:
            if not isinstance(reason, str):
                raise MalformedReplyError("`finish_reason` is no text")
            self.finish_reason = reason


def _count(value: Any) -> int | None:
    """Return a count of tokens, or None for anything that is none."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if is_count else None
