"""From a model's raw text to the answer that is graded: one rule for every backend."""

import re
from dataclasses import dataclass

from misheard.failures import FailureKind

_THINKING_TAG = re.compile(r"<(?P<closing>/?)think(?:ing)?>|\[(?P<square>/?)THINK\]", re.IGNORECASE)

FINISH_REASONS = frozenset({"stop", "length", "content_filter", "tool_calls", "function_call"})
"""The finish reasons of the OpenAI chat API."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as graded, or the failure that takes its place; exactly one of `text` and `failure`."""

    text: str | None
    failure: FailureKind | None = None
    detail: str = ""


def strip_thinking(text: str) -> str | None:
    """Return the text without its thinking sections, or None where one is still open at the end.

    A closing tag without an opening one ends a section that the prompt opened: all before it is thinking.
    """
    kept: list[str] = []
    thinking, position = False, 0
    for tag in _THINKING_TAG.finditer(text):
        closing = bool(tag["closing"] or tag["square"])
        if not thinking and not closing:
            kept.append(text[position : tag.start()])
        elif not thinking:
            kept.clear()
        thinking = not closing
        position = tag.end()
    if thinking:
        return None
    return "".join([*kept, text[position:]])


def grade_text(raw: str, finish_reason: str | None) -> Answer:
    """Return what is graded of a model's raw text; `finish_reason` as the backend gave it, or None."""
    if finish_reason not in {"stop", "length", None}:
        known = finish_reason if finish_reason in FINISH_REASONS else "an unknown reason"
        return _invalid(f"generation ended by {known}")
    text = strip_thinking(raw)
    if text is None:
        cut = " at the limit of tokens; raise max_tokens" if finish_reason == "length" else ""
        return _invalid(f"a thinking section is not closed{cut}")
    if not text.strip():
        return _invalid("the completion is empty")
    return Answer(text=text.strip())


def _invalid(detail: str) -> Answer:
    return Answer(text=None, failure=FailureKind.INVALID_OUTPUT, detail=detail)
