"""Text of items as it is shown: what cannot be seen as escapes, and what is too long cut."""

from unicodedata import category

from misheard.report.html.items_alignment import MOST_CHARACTERS
from misheard.report.terminal_score import visible

_JOINERS = "\u200c\u200d"

ShownText = str | list[str | int]
"""A text, or its beginning with the length in code points of the whole."""


def shown_text(text: str) -> ShownText:
    """Return a text with its lines, what else cannot be seen as escapes, cut where it is too long."""
    if len(text) <= MOST_CHARACTERS:
        return _visible(text)
    return [_visible(text[: _cut(text, MOST_CHARACTERS)]), len(text)]


def _cut(text: str, end: int) -> int:
    """Return a place at or before `end` with no mark or joiner behind it: nothing is cut through there."""
    while end > 0 and (
        category(text[end]).startswith("M") or text[end] in _JOINERS or text[end - 1] == "\u200d"
    ):
        end -= 1
    return end


def _visible(text: str) -> str:
    return "\n".join(map(visible, text.replace("\r\n", "\n").split("\n")))
