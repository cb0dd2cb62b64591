"""Tokenisers: what is counted.

| name | a token is |
| --- | --- |
| `words` | a run of characters between white space |
| `chars` | a code point that is not white space |
| `graphemes` | an extended grapheme cluster (UAX #29): what a reader takes for one character |
| `mixed` | a code point in the scripts that are scored by character, a word elsewhere |

White space is Unicode's, as `str.split` and `str.isspace` see it, in every tokeniser. That includes the
separator controls U+001C to U+001F, so that `a<U+001F>b` is two words, and the no-break spaces; it does not
include U+200B, the zero-width space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from misheard.errors import InputError
from misheard.text.scripts import expanded_scripts

if TYPE_CHECKING:
    import regex

# those that set no spaces between words
DEFAULT_CHAR_SCRIPTS = ("Hani", "Hira", "Kana", "Bopo", "Thai", "Laoo", "Khmr", "Mymr")
INDIC_SCRIPTS = ("Beng", "Deva", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Sinh", "Taml", "Telu")

MIXED_VERSION = 1


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


def graphemes(text: str) -> list[str]:
    """Return the extended grapheme clusters of a text; white space ends a cluster and is none."""
    if text.isascii():
        return chars(text)
    clusters = _cluster_pattern()
    return [cluster for word in text.split() for cluster in clusters.findall(word)]


def mixed(text: str, char_scripts: Collection[str] = DEFAULT_CHAR_SCRIPTS) -> list[str]:
    """Return a token per code point in some scripts and a token per word elsewhere.

    A word ends at white space and where a character of those scripts stands, so that `我想喝latte` is
    `我 想 喝 latte`. Characters of no one script follow what stands before them. After a character of those
    scripts, marks that any script may use (Inherited) and signs whose Script_Extensions name one of those
    scripts, such as `ー` and `。`, are tokens of their own; elsewhere they are part of a word. Digits and
    other punctuation and symbols are always parts of words: `2024年` is `2024 年`.

    Args:
        text: any text.
        char_scripts: ISO 15924 codes; also those of writing systems such as `Jpan`.

    Raises InputError for a code that is not known.
    """
    scripts = expanded_scripts(char_scripts)
    if not scripts or (text.isascii() and "Latn" not in scripts):
        return text.split()
    pattern = _mixed_pattern(scripts)
    tokens: list[str] = []
    for word in text.split():
        for run, other in pattern.findall(word):
            if run:
                tokens.extend(run)
            else:
                tokens.append(other)
    return tokens


def mixed_tokeniser(char_scripts: Collection[str] = DEFAULT_CHAR_SCRIPTS) -> Tokeniser:
    """Return the `mixed` tokeniser for some scripts; other scripts than the usual ones are part of its name.

    Raises InputError for a code that is not known.
    """
    scripts = expanded_scripts(char_scripts)
    usual = scripts == expanded_scripts(DEFAULT_CHAR_SCRIPTS)
    name = "mixed" if usual else f"mixed[{','.join(scripts)}]"
    return Tokeniser(name, MIXED_VERSION, lambda text: mixed(text, scripts))


WORDS = Tokeniser("words", 1, words)
CHARS = Tokeniser("chars", 1, chars)
GRAPHEMES = Tokeniser("graphemes", 1, graphemes)
MIXED = Tokeniser("mixed", MIXED_VERSION, mixed)

TOKENISERS = {tokeniser.name: tokeniser for tokeniser in (WORDS, CHARS, GRAPHEMES, MIXED)}


def tokeniser_named(name: str) -> Tokeniser:
    """Return the tokeniser of that name. Raises InputError, naming those there are, where there is none."""
    try:
        return TOKENISERS[name]
    except KeyError:
        known = ", ".join(TOKENISERS)
        raise InputError(f"tokeniser {name!r} is not known; use one of: {known}") from None


@lru_cache(maxsize=1)
def _cluster_pattern() -> regex.Pattern[str]:
    import regex  # only where it is needed: it takes longer to load than the rest of this package

    return regex.compile(r"\X")


@lru_cache(maxsize=256)
def _mixed_pattern(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    import regex

    own = "".join(rf"\p{{Script={code}}}" for code in scripts)
    shared = "".join(rf"\p{{Script_Extensions={code}}}" for code in scripts) + r"\p{Script=Zinh}"
    return regex.compile(rf"([{own}][{own}{shared}]*)|([^{own}]+)")
