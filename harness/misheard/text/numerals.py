"""Numbers in one form, so that `fifty` and `50` are the same token.

Decimal digits of every script become ASCII. Number words become digits in English, by the library text2num;
what it leaves apart, or reads where there is no number, is put right here:

* a scale word after a number multiplies it: `8 million`, `7.9 billion`;
* two two-digit numbers that read as a year join: `nineteen eighty four`;
* `minus forty` is `-40`, and `1,000` is `1000`;
* `no one` and `one of` hold no number, and the `second` of `per second` is a unit, not a place.

Numbers in a row stay apart: `one two three 4` are four numbers, not 1234.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from text_to_num import find_numbers

from misheard.text.languages import primary_subtag

TEXT2NUM_VERSION = version("text2num")

_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")  # 1,000 and the Indian 1,00,000
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_YEAR_START = re.compile(r"1\d|20")
_YEAR_END = re.compile(r"[1-9]\d")
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_BEFORE_PRONOUN = frozenset({"no", "any", "every", "some", "each", "the", "this", "that", "which", "another"})
_AFTER_PRONOUN = frozenset({"of", "another"})
_BEFORE_UNIT = frozenset({"a", "per", "each", "every", "one"})


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a text as it is now and as it was written; the methods are what text2num asks of a token."""

    value: str
    source: str

    def text(self) -> str:
        # text2num panics on lone surrogates
        return self.source.encode("utf-8", "replace").decode("utf-8")

    def nt_separated(self, _previous: "_Piece") -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False

    @property
    def is_written_out(self) -> bool:
        return self.value != self.source


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as 0 to 9."""
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def unify_numbers(pieces: Sequence[str], language: str | None) -> list[str]:
    """Return the pieces of a text with numbers as digits; pieces of other languages than English unchanged.

    Args:
        pieces: words, numbers, runs of white space and single other characters, in lower case, which joined
            give the text.
        language: BCP-47 tag of the text, or None where it is not known.
    """
    if primary_subtag(language) != "en":
        return list(pieces)
    written = [_Piece(part, part) for piece in pieces for part in _without_commas(piece)]
    united: list[_Piece] = []
    for piece in _read_number_words(written):
        united.append(piece)
        while len(united) > 2 and (joined := _joined(*united[-3:])) is not None:
            united[-3:] = [joined]
    return [piece.value for piece in united]


def _without_commas(piece: str) -> list[str]:
    if "," not in piece or len(piece) == 1:
        return [piece]
    if _GROUPED.fullmatch(piece):
        return [piece.replace(",", "")]
    return re.split("(,)", piece)


def _read_number_words(pieces: Sequence[_Piece]) -> list[_Piece]:
    read: list[_Piece] = []
    position = 0
    for number in find_numbers(list(pieces), "en", 0.0):
        if number.end - number.start == 1 and _is_no_number(pieces, number.start):
            continue
        read.extend(pieces[position : number.start])
        source = "".join(piece.source for piece in pieces[number.start : number.end])
        read.append(_Piece(number.text, source))
        position = number.end
    return [*read, *pieces[position:]]


def _is_no_number(pieces: Sequence[_Piece], index: int) -> bool:
    word = pieces[index].source
    before = _word_across_space(pieces, index, -1)
    if word == "one":
        return before in _BEFORE_PRONOUN or _word_across_space(pieces, index, 1) in _AFTER_PRONOUN
    return word == "second" and (before in _BEFORE_UNIT or before.isdecimal())


def _word_across_space(pieces: Sequence[_Piece], index: int, step: int) -> str:
    space, word = index + step, index + 2 * step
    if 0 <= word < len(pieces) and pieces[space].source.isspace():
        return pieces[word].source
    return ""


def _joined(first: _Piece, between: _Piece, second: _Piece) -> _Piece | None:
    """Return the one number that two pieces with white space between them make, or None."""
    if not between.source.isspace():
        return None
    source = first.source + between.source + second.source
    if second.source in _SCALES and _PLAIN.fullmatch(first.value):
        return _Piece(_times_power_of_ten(first.value, _SCALES[second.source]), source)
    if first.source == "minus" and _PLAIN.fullmatch(second.value):
        return _Piece(f"-{second.value}", source)
    written_out = first.is_written_out and second.is_written_out
    if written_out and _YEAR_START.fullmatch(first.value) and _YEAR_END.fullmatch(second.value):
        return _Piece(first.value + second.value, source)
    return None


def _times_power_of_ten(number: str, power: int) -> str:
    whole, _, fraction = number.partition(".")
    digits = whole + fraction[:power].ljust(power, "0")
    rest = fraction[power:]
    return (digits.lstrip("0") or "0") + (f".{rest}" if rest else "")
