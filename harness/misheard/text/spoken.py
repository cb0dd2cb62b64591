"""The profile `spoken`: `plain`, and numerals in one form per language.

Numbers are read as `misheard.text.numerals` says, in digits of every script. On top of that:

* a minus sign before a number and after no word belongs to it (`-40`); `.5` becomes `0.5`;
* a no-break or thin space between groups of three digits is no separator; an ordinary space is one;
* an amount is the number, then its symbol as a word: `$5`, `5 dollars` and `five dollars` become `5 $`, `50%`
  and `fifty percent` become `50 %`; `$5.00` is `5 $`, and in English `five dollars and fifty cents` is
  `5.50 $`. The words are those of `misheard.text.numeral_words`; currency codes count in every language.

Where words and digits say the same number, both have the same form. Where it is not sure that they do
(`three o'clock` and `3:00`, `a third` and `1/3`), they keep different forms and count as errors.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from misheard.text.digits import ascii_digits
from misheard.text.folding import folded, is_word_part, plain_words, signed_pieces
from misheard.text.languages import primary_subtag
from misheard.text.number_pieces import Piece, starts_number
from misheard.text.numeral_words import (
    AMOUNT_WORDS,
    BEFORE_AMOUNT,
    CURRENCY_CODES,
    NO_AMOUNT_WORDS,
    AmountWords,
)
from misheard.text.numerals import as_written, read_numbers
from misheard.text.word_cache import WordCache

# a form that changes once more, such as a year made of two amounts, settles in the next round
_ROUNDS = 4

_DIGIT = re.compile(r"\d")
_SPACE_IN_NUMBER = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_SIGN_BEFORE_SYMBOL = re.compile(r"^-([$€£¥₹])(?=[.\d])")
_WHOLE_AMOUNT = re.compile(r"(-?\d+)[.,]00")
_HUNDREDTHS = re.compile(r"[1-9]\d?")
_NEEDS_READING = "\0"
_SPACE = Piece(" ", " ")
# words on either side of one that may be part of a number on which its reading can depend
_REACH = 4

_caches: dict[str | None, WordCache] = {}


def spoken(text: str, language: str | None = None) -> str:
    """Return `text` under the profile, in the language of a BCP-47 tag, None where that is not known."""
    cache = _caches.get(language)
    if cache is None:
        cache = _caches[language] = WordCache(lambda word: _without_numbers(word, language))
    words = text.split()
    values = list(map(cache.__getitem__, words))
    if _NEEDS_READING not in values:
        return " ".join(filter(None, values))
    joined = _SPACE_IN_NUMBER.sub("", text)
    if joined != text:
        words = joined.split()
        values = list(map(cache.__getitem__, words))
    for _ in range(_ROUNDS):
        before = words
        words, values = _read(words, values, language, cache)
        if words == before:
            break
    return " ".join(words)


def _without_numbers(word: str, language: str | None) -> str:
    """Return a word under `plain`, or `_NEEDS_READING` where it may be part of a number."""
    found = plain_words(folded(word))
    for part in found:
        if (not part.isalpha() and _DIGIT.search(part) is not None) or starts_number(part, language):
            return _NEEDS_READING
    return " ".join(found)


@lru_cache(maxsize=65_536)
def _pieces_of_word(word: str, language: str | None) -> tuple[Piece, ...]:
    pieces = signed_pieces(_SIGN_BEFORE_SYMBOL.sub(r"\1-", ascii_digits(folded(word))))
    return tuple(as_written(pieces, language))


def _read(
    words: Sequence[str], values: Sequence[str], language: str | None, cache: WordCache
) -> tuple[list[str], list[str]]:
    """Return the words of a text with its numbers in one form, and the value of each in the cache.

    Words that no number is near become their values, which stand for themselves and are not looked at again.
    """
    out: list[str] = []
    out_values: list[str] = []
    position = 0
    for start, stop in _windows(values):
        plain = " ".join(values[position:start]).split()
        read = " ".join(_read_window(words[start:stop], language)).split()
        out += plain
        out += read
        out_values += plain
        out_values += map(cache.__getitem__, read)
        position = stop
    plain = " ".join(values[position:]).split()
    return out + plain, out_values + plain


def _windows(values: Sequence[str]) -> list[tuple[int, int]]:
    """Return the stretches of words around those that may be part of a number."""
    windows: list[tuple[int, int]] = []
    for index, value in enumerate(values):
        if value != _NEEDS_READING:
            continue
        start, stop = max(index - _REACH, 0), min(index + _REACH + 1, len(values))
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], stop)
        else:
            windows.append((start, stop))
    return windows


def _read_window(words: Sequence[str], language: str | None) -> list[str]:
    pieces: list[Piece] = []
    for word in words:
        if pieces:
            pieces.append(_SPACE)
        pieces.extend(_pieces_of_word(word, language))
    amount_words = AMOUNT_WORDS.get(primary_subtag(language) or "", NO_AMOUNT_WORDS)
    return _Amounts(read_numbers(pieces, language), amount_words).words()


class _Amounts:
    """Puts numbers and what they count into one order."""

    def __init__(self, pieces: Sequence[Piece], amount_words: AmountWords) -> None:
        self._pieces = pieces
        self._amount_words = amount_words
        self._saying = amount_words.first_words
        self._out: list[str] = []
        # whether the last word is a number that still has no symbol, with nothing but white space after it
        self._takes_symbol = False

    def words(self) -> list[str]:
        index = 0
        while index < len(self._pieces):
            index += self._take(index)
        return self._with_hundredths()

    def _take(self, index: int) -> int:
        """Take up the piece at `index` and return how many pieces have been used."""
        piece = self._pieces[index]
        if piece.source.isspace():
            return 1
        if piece.is_number:
            self._out.append(piece.value)
            self._takes_symbol = True
            return 1
        is_word = is_word_part(piece.value[-1])
        if is_word and piece.value not in self._saying:
            self._out.append(piece.value)
            self._takes_symbol = False
            return 1
        symbol, used = self._symbol_at(index)
        if symbol and self._takes_symbol and not self._belongs_to_next(index):
            self._append_symbol(symbol)
            return used
        if symbol != "%" and (length := self._length_to_number(index)):
            symbol = symbol or BEFORE_AMOUNT.get(piece.value, "")
            if symbol:
                self._out.append(self._pieces[index + length].value)
                self._append_symbol(symbol)
                return length + 1
        self._takes_symbol = False
        if is_word:
            self._out.append(piece.value)
        return 1

    def _symbol_at(self, index: int) -> tuple[str, int]:
        """Return the symbol that a piece is or says, empty where it says none, and how many pieces say it."""
        value = self._pieces[index].value
        if value == "%" or unicodedata.category(value[0]) == "Sc":
            return value, 1
        if value in self._amount_words.percent:
            return "%", 1
        three = self._pieces[index : index + 3]
        if (
            len(three) == 3
            and three[1].value == " "
            and f"{value} {three[2].value}" in self._amount_words.percent
        ):
            return "%", 3
        return self._amount_words.currencies.get(value) or CURRENCY_CODES.get(value, ""), 1

    def _belongs_to_next(self, index: int) -> bool:
        """Return whether a symbol touches the number after it and not the one before: `5 $10`."""
        touches_next = index + 1 < len(self._pieces) and self._pieces[index + 1].is_number
        return touches_next and self._pieces[index - 1].source.isspace()

    def _length_to_number(self, index: int) -> int:
        """Return how far behind a symbol its number is; 0 where there is none."""
        for length in (1, 2, 3):
            if index + length >= len(self._pieces):
                break
            piece = self._pieces[index + length]
            if piece.is_number:
                return length
            # as in `rs. 500`
            if not (piece.source.isspace() or (length == 1 and piece.value == ".")):
                break
        return 0

    def _append_symbol(self, symbol: str) -> None:
        if symbol != "%" and (whole := _WHOLE_AMOUNT.fullmatch(self._out[-1])):
            self._out[-1] = whole[1]
        self._out.append(symbol)
        self._takes_symbol = False

    def _with_hundredths(self) -> list[str]:
        """Return the words with `5 $ and 50 cents` as `5.50 $`."""
        words: list[str] = []
        for word in self._out:
            words.append(word)
            symbols = self._amount_words.minor.get(word)
            if symbols is None or len(words) < 4 or not _HUNDREDTHS.fullmatch(words[-2]):
                continue
            end = -3 if words[-3] not in self._amount_words.joins else -4
            if len(words) <= -end or words[end] not in symbols or not words[end - 1].lstrip("-").isdecimal():
                continue
            words[end - 1 :] = [f"{words[end - 1]}.{int(words[-2]):02d}", words[end]]
        return words
