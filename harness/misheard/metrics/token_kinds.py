"""What a token is: of which script, a number, bare punctuation, part of an entity."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache

from misheard.text.phrases import phrase_tokens
from misheard.text.scripts import COMMON, INHERITED, script_of

_NUMBER = re.compile(r"-?\d")


@lru_cache(maxsize=65_536)
def token_script(token: str) -> str | None:
    """Return the ISO 15924 code of the first character that has a script; None for digits and punctuation."""
    return next((code for code in map(script_of, token) if code not in (COMMON, INHERITED)), None)


def script_mask(tokens: Sequence[str], scripts: Collection[str]) -> list[bool]:
    """Return which tokens are of one of the scripts."""
    return [token_script(token) in scripts for token in tokens]


@lru_cache(maxsize=65_536)
def is_number(token: str, language: str | None) -> bool:
    """Return whether a token is a number: in digits, or in words where the language is known.

    The token stands for itself here: `one` is a number whatever is around it. Number words are known in the
    languages of `misheard.text.numerals`; characters such as 五 are numbers in every language.
    """
    if token and all(character.isnumeric() for character in token):
        return True
    return any(_NUMBER.match(part) for part in phrase_tokens(token, language))


@lru_cache(maxsize=65_536)
def is_punctuation(token: str) -> bool:
    """Return whether a token holds no letter, mark or number."""
    return not any(unicodedata.category(character)[0] in "LMN" for character in token)


def without_punctuation(token: str) -> str:
    """Return the letters, marks and numbers of a token."""
    return "".join(character for character in token if unicodedata.category(character)[0] in "LMN")


def entity_mask(tokens: Sequence[str], entities: Sequence[str], language: str | None) -> list[bool]:
    """Return which tokens belong to an occurrence of an entity, compared as `misheard.text.phrases` does.

    Tokens and entities are folded word by word, so an occurrence is made of whole tokens.
    """
    folded: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(tokens):
        parts = _folded(token, language)
        folded.extend(parts)
        owners.extend([place] * len(parts))
    mask = [False] * len(tokens)
    for entity in entities:
        wanted = [part for word in entity.split() for part in _folded(word, language)]
        for start in range(len(folded) - len(wanted) + 1 if wanted else 0):
            if folded[start : start + len(wanted)] == wanted:
                for owner in owners[start : start + len(wanted)]:
                    mask[owner] = True
    return mask


_folded = lru_cache(maxsize=65_536)(phrase_tokens)
