"""Finding a short phrase, such as a fact or an abstention, in an answer.

A text becomes tokens as follows.

1. Characters are folded as `misheard.text.folding` says, and decimal digits to ASCII; zero-width spaces are
   removed.
2. Letters, combining marks and numbers make tokens; everything else separates. An apostrophe inside a word
   stays, and so do a point or comma between digits and a minus sign before a number.
3. Numbers get one form in the languages that `misheard.text.numerals` knows.
4. Text of a script without spaces (see `misheard.text.scripts`) is a token apart from its neighbours, and
   separators inside such a run are dropped.

A phrase is found where its tokens follow each other in the text: `50` is not found in `150`. Where the
phrase begins or ends in a script without spaces, that end may lie inside a token of the text.
"""

import re
import unicodedata
from functools import lru_cache

from misheard.text.digits import ascii_digits
from misheard.text.folding import folded
from misheard.text.numerals import unify_numbers
from misheard.text.scripts import is_unspaced

_SYMBOLS = frozenset("'.,-")

# over one kind per character: d digit, a other letter, mark or number, s one of a script without spaces
_PIECE = re.compile(
    r"(?:(?<![ads'.,])-(?=d))?[ad]+(?:(?:'|(?<=d)[.,](?=d))[ad]+)*"
    r"|s+"
    r"|[ ]+"
    r"|."
)


def phrase_tokens(text: str, language: str | None) -> tuple[str, ...]:
    """Return the tokens by which phrases are found in a text of that language (BCP-47, None if unknown)."""
    tokens: list[str] = []
    for piece in unify_numbers(_pieces(_folded(text)), language):
        if unicodedata.category(piece[-1])[0] not in "LMN":
            continue
        if tokens and is_unspaced(piece[0]) and is_unspaced(tokens[-1][0]):
            tokens[-1] += piece
        else:
            tokens.append(piece)
    return tuple(tokens)


def contains_phrase(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Return whether the tokens of a phrase follow each other in `tokens`; never for an empty phrase."""
    if not phrase:
        return False
    first, last = phrase[0], phrase[-1]
    if len(phrase) == 1:
        return first in tokens or (is_unspaced(first[0]) and any(first in token for token in tokens))
    return any(
        _ends_with(tokens[start], first)
        and tokens[start + 1 : start + len(phrase) - 1] == phrase[1:-1]
        and _starts_with(tokens[start + len(phrase) - 1], last)
        for start in range(len(tokens) - len(phrase) + 1)
    )


def _starts_with(token: str, wanted: str) -> bool:
    return token.startswith(wanted) if is_unspaced(wanted[0]) else token == wanted


def _ends_with(token: str, wanted: str) -> bool:
    return token.endswith(wanted) if is_unspaced(wanted[0]) else token == wanted


def _folded(text: str) -> str:
    # in an answer a zero-width space is a stray more often than the end of a word
    return ascii_digits(folded(text.replace("\u200b", "")))


def _pieces(text: str) -> list[str]:
    kinds = "".join(map(_kind, text))
    return [text[match.start() : match.end()] for match in _PIECE.finditer(kinds)]


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    if char in _SYMBOLS:
        return char
    if char.isspace():
        return " "
    if unicodedata.category(char)[0] not in "LMN":
        return "x"
    if char.isdecimal():
        return "d"
    return "s" if is_unspaced(char) else "a"
