"""How much of a text a page shows: what comes from outside may be a megabyte, many times."""

from typing import Any

from misheard.report.labels import UNICODE, plain

MOST_CHARACTERS = 2_000
"""Of a name or a sentence."""

MOST_OF_A_LINE = 20_000
"""Of a line that is copied, such as a command that names many runs."""


def shown(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text with control characters as escapes; of a long one the beginning, with its length."""
    if len(text) <= most:
        return plain(text)
    return f"{plain(text[:most])}{UNICODE.to} ({len(text):,} characters)"


def shown_line(text: str) -> str:
    """Return the same of a line that is copied."""
    return shown(text, MOST_OF_A_LINE)


def bounded(value: Any) -> Any:
    """Return a value of JSON whose texts are cut where they are too long."""
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARACTERS else value[:MOST_CHARACTERS] + UNICODE.to
    if isinstance(value, list | tuple):
        return [bounded(one) for one in value]
    if isinstance(value, dict):
        return {bounded(name): bounded(one) for name, one in value.items()}
    return value
