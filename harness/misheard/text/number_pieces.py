"""The pieces of a text that numbers are read from."""

import re
from dataclasses import dataclass
from functools import lru_cache

from text_to_num import alpha2digit, find_numbers

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


def starts_number(word: str, language: str | None) -> bool:
    """Return whether a word of a language can start a number written out; articles alone do not."""
    primary = primary_subtag(language) or ""
    words = NUMBER_WORDS.get(primary)
    if words is None or word in words.articles:
        return False
    if word in words.scales:
        return True
    # several times quicker, and sure for a word of letters alone (but for one letter: `o` is a zero only
    # beside others): what is no number is not changed
    if len(word) > 1 and word.isalpha() and alpha2digit(word, primary, 0.0) == word:
        return False
    return bool(find_numbers([Piece(word, word)], primary, 0.0))


is_number_word = lru_cache(maxsize=65_536)(starts_number)
"""`starts_number`, for the words near numbers, which come again and again."""
