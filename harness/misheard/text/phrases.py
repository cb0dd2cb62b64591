"""Finding a short phrase, such as a fact or an abstention, in an answer.

A text becomes tokens as follows.

1. Characters are folded as `misheard.text.folding` says, and decimal digits to ASCII; zero-width spaces are
   removed.
2. Letters, combining marks and numbers make tokens; everything else separates. An apostrophe inside a word
   stays, and so do a point or comma between digits and a minus sign before a number.
3. Numbers get one form in the languages that `misheard.text.numerals` knows.
4. Text of a script without spaces (see `misheard.text.scripts`) is a token apart from its neighbours, and
   separators inside such a run are dropped; only a mark or line break between two Han numerals parts them:
   `第一，五十` is `第一` and `五十`.

A phrase is found where its tokens follow each other in the text: `50` is not found in `150`. Where the
phrase begins or ends in a script without spaces, that end may lie inside a token of the text, but not inside
a number: `五十` is not found in `五十二`, `五十年` not in `二百五十年`, and `50` not in `50万`. A run of
the characters 〇零一二三四五六七八九十百千万萬亿億兆两兩廿卅 is a number, also where it only looks like one,
as in `唯一一个`. Digits go on with 万 or 億, and with 十, 百 or 千 before one of these.
"""

import re
import unicodedata
from functools import lru_cache

from misheard.text.digits import ascii_digits
from misheard.text.folding import folded
from misheard.text.numerals import unify_numbers
from misheard.text.scripts import is_unspaced

_SYMBOLS = frozenset("'.,-")

_HAN_NUMERALS = frozenset("〇零一二三四五六七八九十百千万萬亿億兆两兩廿卅")
# not 千 or 兆 alone: 50千米 are kilometres
_SCALED = re.compile("[十百千]?[万萬亿億]")

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
    is_apart = False
    for piece in unify_numbers(_pieces(_folded(text)), language):
        if unicodedata.category(piece[-1])[0] not in "LMN":
            is_apart = is_apart or not piece.isspace() or "\n" in piece
            continue
        if tokens and is_unspaced(piece[0]) and is_unspaced(tokens[-1][0]):
            both = tokens[-1] + piece
            if not (is_apart and _cuts_number(both, len(tokens[-1]))):
                tokens[-1] = both
                is_apart = False
                continue
        tokens.append(piece)
        is_apart = False
    return tuple(tokens)


def contains_phrase(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Return whether the tokens of a phrase follow each other in `tokens`; never for an empty phrase."""
    if not phrase:
        return False
    first, last = phrase[0], phrase[-1]
    if len(phrase) == 1:
        if is_unspaced(first[0]):
            return any(_is_inside(token, first) for token in tokens)
        return first in tokens and any(
            token == first and not _is_scaled(tokens, place) for place, token in enumerate(tokens)
        )
    return any(
        _ends_with(tokens[start], first)
        and tokens[start + 1 : start + len(phrase) - 1] == phrase[1:-1]
        and _starts_with(tokens[start + len(phrase) - 1], last)
        and not _is_scaled(tokens, start + len(phrase) - 1)
        for start in range(len(tokens) - len(phrase) + 1)
    )


def _is_inside(token: str, wanted: str) -> bool:
    start = token.find(wanted)
    while start >= 0:
        if not _cuts_number(token, start) and not _cuts_number(token, start + len(wanted)):
            return True
        start = token.find(wanted, start + 1)
    return False


def _starts_with(token: str, wanted: str) -> bool:
    if not is_unspaced(wanted[0]):
        return token == wanted
    return token.startswith(wanted) and not _cuts_number(token, len(wanted))


def _ends_with(token: str, wanted: str) -> bool:
    if not is_unspaced(wanted[0]):
        return token == wanted
    return token.endswith(wanted) and not _cuts_number(token, len(token) - len(wanted))


def _cuts_number(token: str, place: int) -> bool:
    """Return whether the characters before and after a place of a token are of one Han number."""
    return 0 < place < len(token) and token[place - 1] in _HAN_NUMERALS and token[place] in _HAN_NUMERALS


def _is_scaled(tokens: tuple[str, ...], place: int) -> bool:
    """Return whether a token ends in digits and the next one multiplies them."""
    following = tokens[place + 1 : place + 2]
    return bool(following) and tokens[place][-1].isdecimal() and _SCALED.match(following[0]) is not None


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
