"""The pieces of a text that numbers are read from."""

import re
from dataclasses import dataclass
from functools import lru_cache

from text_to_num import find_numbers

from misheard.text.languages import primary_subtag
from misheard.text.numeral_words import NUMBER_WORDS

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text as it is now and as it was written; the methods are what text2num asks of a token."""

    value: str
    source: str
    is_no_number: bool = False
    starts_number: bool = False

    def text(self) -> str:
        if self.source.isascii():
            return self.source
        # text2num panics on lone surrogates
        return self.source.encode("utf-8", "replace").decode("utf-8")

    def nt_separated(self, _previous: "Piece") -> bool:
        return self.starts_number

    def not_a_number_part(self) -> bool:
        return self.is_no_number

    @property
    def is_written_out(self) -> bool:
        return self.value != self.source

    @property
    def is_number(self) -> bool:
        return _NUMBER.fullmatch(self.value) is not None


@lru_cache(maxsize=65_536)
def is_number_word(word: str, language: str | None) -> bool:
    """Return whether a word of a language can start a number written out; articles alone do not."""
    primary = primary_subtag(language) or ""
    words = NUMBER_WORDS.get(primary)
    if words is None or word in words.articles:
        return False
    return word in words.scales or bool(find_numbers([Piece(word, word)], primary, 0.0))
