"""Tokenisers: what is counted.

White space is Unicode's, as `str.split` and `str.isspace` see it, in every tokeniser. That includes the
separator controls U+001C to U+001F, so that `a<U+001F>b` is two words, and the no-break spaces; it does not
include U+200B, the zero-width space.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """A split of a text into tokens, with the name and version under which reports cite it."""

    name: str
    version: int
    split: Callable[[str], list[str]] = field(repr=False, compare=False)


def words(text: str) -> list[str]:
    """Return the runs of characters between white space."""
    return text.split()


def chars(text: str) -> list[str]:
    """Return the code points that are not white space."""
    return list("".join(text.split()))


WORDS = Tokeniser("words", 1, words)
CHARS = Tokeniser("chars", 1, chars)
