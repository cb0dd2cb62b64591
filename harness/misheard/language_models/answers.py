"""From a model's raw text to the answer that is graded: one rule for every backend."""

import re
from dataclasses import dataclass

from misheard.failures import FailureKind

_THINKING_TAG = re.compile(r"<(?P<closing>/?)think(?:ing)?>|\[(?P<square>/?)THINK\]", re.IGNORECASE)

_JSON_START = re.compile(r"\s*(?:```\w*\s*)?\{")
"""The beginning of an object, in a code fence or not."""

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
        closing = _is_closing(tag)
        if not thinking and not closing:
            kept.append(text[position : tag.start()])
        elif not thinking:
            kept.clear()
        thinking = not closing
        position = tag.end()
    if thinking:
        return None
    return "".join([*kept, text[position:]])


def strip_thinking_before_json(text: str) -> str | None:
    """Return what should be a JSON object without the thinking before it; None where that is still open.

    The object is never touched: a tag within it is a text that somebody said. So a reply that begins as one
    is kept as it is, and otherwise thinking ends at the first closing tag that an object follows.
    """
    if _JSON_START.match(text):
        return text
    for tag in _THINKING_TAG.finditer(text):
        if _is_closing(tag) and _JSON_START.match(text, tag.end()):
            return text[tag.end() :]
    return strip_thinking(text)


def grade_text(raw: str, finish_reason: str | None, *, as_json: bool = False) -> Answer:
    """Return what is graded of a model's raw text; `finish_reason` as the backend gave it, or None.

    `as_json` says that a JSON object was asked for: whether it is one is for its reader to find out.
    """
    if finish_reason not in {"stop", "length", None}:
        known = finish_reason if finish_reason in FINISH_REASONS else "an unknown reason"
        return _invalid(f"generation ended by {known}")
    text = strip_thinking_before_json(raw) if as_json else strip_thinking(raw)
    if text is None:
        cut = " at the limit of tokens; raise max_tokens" if finish_reason == "length" else ""
        return _invalid(f"a thinking section is not closed{cut}")
    if not text.strip():
        return _invalid("the completion is empty")
    return Answer(text=text.strip())


def _is_closing(tag: re.Match[str]) -> bool:
    return bool(tag["closing"] or tag["square"])


def _invalid(detail: str) -> Answer:
    return Answer(text=None, failure=FailureKind.INVALID_OUTPUT, detail=detail)
