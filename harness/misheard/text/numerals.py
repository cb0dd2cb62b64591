"""Numbers in one form, so that `fifty` and `50` are the same token.

Decimal digits of every script become ASCII. Number words become digits in the languages of text2num: English,
French, Spanish, Portuguese, German, Italian, Dutch and Danish. What the library leaves apart, or reads where
there is no number, is put right here:

* a scale word after a number multiplies it: `8 million`, `7.9 billion`, `5 lakh`; `a hundred` is 100;
* two two-digit numbers that read as a year join: `nineteen eighty four`; so does `nineteen oh five`;
* `minus forty` is `-40`, unless it takes forty from a number;
* digits are not grouped: `1,000` and `1,00,000`, or `1.000` where the language has a decimal comma, are
  `1000` and `100000`; a fraction has the language's mark: `3,5` in German, where `3.5` becomes the same;
* words that are numbers only beside others stay words alone: `no one`, `one of`, `un homme`; so do plurals
  such as `thousands of`; the `second` of `per second` is a unit, not a place;
* ordinals are written as the language writes them: `21st`, `1er`, `2e`, `1o`; in German and Danish, which
  write a full stop, they stay words.

Numbers in a row stay apart, also with zeros: `one two three 4` are four numbers, not 1234, and `zero zero
seven` are three, not 007. Written digits keep their leading zeros. Fractions in words, such as `half`, stay.
A counted multiplier that is not smaller than the one before it starts a number with its count: `five
thousand five thousand` is `5000 5000`. A hundred and what follows it count a larger scale: `two hundred three
thousand` is 203000. So do thousands in other languages than English: `two thousand five million` is
`2000 5000000`, but `dos mil cinco millones` is 2005000000. Multipliers in a row are one: `a million million`;
but a word that is a thousand by itself starts a number after another: `mil mil` is `1000 1000`. The ordinal
of a multiplier is one too and ends its number: `five thousand two thousandth` is `5000 2000th`.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from text_to_num import find_numbers

from misheard.text.digits import times_power_of_ten, ungrouped
from misheard.text.languages import primary_subtag
from misheard.text.number_pieces import Piece
from misheard.text.number_runs import Multipliers
from misheard.text.numeral_words import NUMBER_WORDS, NumberWords, decimal_mark

TEXT2NUM_VERSION = version("text2num")

_PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
_LEADING_ZERO = re.compile(r"0\d+")
# nobody says a longer number, but a hallucinated `million million million …` may go on
_LONGEST_SCALED = 30
_YEAR_START = re.compile(r"1\d|20")
_YEAR_END = re.compile(r"[1-9]\d")
_CRORES = frozenset({"crore", "crores"})
_YEAR_OH = frozenset({"oh", "o"})
_ORDINAL_ENDINGS = {
    "fr": (re.compile(r"(\d+)(?:i?[eè]me|è)"), r"\1e"),
    "nl": (re.compile(r"(\d+)(?:st|d)e"), r"\1e"),
}

_BEFORE_PRONOUN = frozenset({"no", "any", "every", "some", "each", "the", "this", "that", "which", "another"})
_AFTER_PRONOUN = frozenset({"of", "another"})
_BEFORE_UNIT = frozenset({"a", "per", "each", "every", "one"})


def unify_numbers(pieces: Sequence[str], language: str | None) -> list[str]:
    """Return the pieces of a text with numbers as digits.

    Args:
        pieces: words, numbers, runs of white space and single other characters, in lower case and with ASCII
            digits, which joined give the text.
        language: BCP-47 tag of the text, or None where it is not known; number words of languages that
            text2num does not read stay.
    """
    return [piece.value for piece in read_numbers(as_written(pieces, language), language)]


def as_written(pieces: Sequence[str], language: str | None) -> list[Piece]:
    """Return the pieces that `read_numbers` takes, numbers in digits without their grouping."""
    mark = decimal_mark(language)
    return [Piece(part, part) for piece in pieces for part in ungrouped(piece, mark)]


def read_numbers(pieces: Sequence[Piece], language: str | None) -> Sequence[Piece]:
    """Return what `unify_numbers` does, each piece with the words it was made of."""
    primary = primary_subtag(language) or ""
    words = NUMBER_WORDS.get(primary)
    if words is None:
        return pieces
    return _Reader(primary, words, decimal_mark(language) or ".").read(pieces)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the number words of one language."""

    language: str
    words: NumberWords
    mark: str

    def read(self, pieces: Sequence[Piece]) -> list[Piece]:
        if self.words.before_percent:
            pieces = self._without_percent(pieces)
        pieces = Multipliers(self.language, self.words).with_starts(pieces)
        united: list[Piece] = []
        for piece in self._read_words(pieces):
            united.append(piece)
            while (joined := self._joined(united)) is not None:
                length, whole = joined
                united[-length:] = [whole]
        return united

    def _without_percent(self, pieces: Sequence[Piece]) -> list[Piece]:
        return [
            Piece(piece.value, piece.source, is_no_number=True)
            if piece.value in ("cent", "cento", "ciento")
            and _word_across_space(pieces, index, -1) in self.words.before_percent
            else piece
            for index, piece in enumerate(pieces)
        ]

    def _read_words(self, pieces: Sequence[Piece]) -> list[Piece]:
        read: list[Piece] = []
        position = 0
        for number in self._numbers(pieces):
            start, end, text = number
            read.extend(pieces[position:start])
            if _LEADING_ZERO.fullmatch(text) and end - start > 1:
                read.extend(self._read_zeros_apart(pieces[start:end], len(text) - len(text.lstrip("0"))))
            else:
                source = "".join(piece.source for piece in pieces[start:end])
                read.append(Piece(self._value(text), source, starts_number=pieces[start].starts_number))
            position = end
        read.extend(pieces[position:])
        return [self._with_one_ending(piece) for piece in read]

    def _read_zeros_apart(self, pieces: Sequence[Piece], zeros: int) -> list[Piece]:
        """Read so many leading zeros one by one, then what follows them."""
        words = [index for index, piece in enumerate(pieces) if piece.source[0].isalnum()]
        rest = words[zeros] if zeros < len(words) else len(pieces)
        apart = [read for piece in pieces[:rest] for read in self._read_words([piece])]
        return [*apart, *self._read_words(pieces[rest:])]

    def _numbers(self, pieces: Sequence[Piece]) -> list[tuple[int, int, str]]:
        found = [
            (number.start, number.end, number.text)
            for number in find_numbers(pieces, self.language, 0.0)
            # ordinals with a full stop cannot be told from the end of a sentence
            if not number.text.endswith(".") and not self._is_plural(pieces[number.start : number.end])
        ]
        sure = [
            (start, end) for start, end, _ in found if end - start > 1 or not self._is_article(pieces[start])
        ]
        starts, ends = {start for start, _ in sure}, {end for _, end in sure}
        return [
            (start, end, text)
            for start, end, text in found
            if end - start > 1
            or (
                not (self._is_article(pieces[start]) and not _is_beside_number(pieces, start, starts, ends))
                and not (self.language == "en" and _is_english_word(pieces, start))
            )
        ]

    def _is_article(self, piece: Piece) -> bool:
        return piece.source in self.words.articles

    def _is_plural(self, pieces: Sequence[Piece]) -> bool:
        return all(piece.source in self.words.plurals for piece in pieces[::2])

    def _value(self, text: str) -> str:
        text = unicodedata.normalize("NFKC", text).casefold()
        return text.replace(",", self.mark) if _PLAIN.fullmatch(text) else text

    def _with_one_ending(self, piece: Piece) -> Piece:
        ending = _ORDINAL_ENDINGS.get(self.language)
        if ending is None or not piece.value[0].isdecimal():
            return piece
        pattern, replacement = ending
        if not pattern.fullmatch(piece.value):
            return piece
        return Piece(pattern.sub(replacement, piece.value), piece.source)

    def _joined(self, pieces: Sequence[Piece]) -> tuple[int, Piece] | None:
        """Return how many of the last pieces make one number, and that number; None where they make none."""
        if len(pieces) < 3 or not pieces[-2].source.isspace() or pieces[-1].starts_number:
            return None
        value = self._value_of_two(pieces)
        if value is not None:
            return 3, _united(value, pieces[-3:])
        if len(pieces) >= 5 and _is_year_with_oh(pieces[-5:]):
            value = f"{pieces[-5].value}0{pieces[-1].value}"
            return 5, _united(value, pieces[-5:])
        return None

    def _value_of_two(self, pieces: Sequence[Piece]) -> str | None:
        first, second = pieces[-3], pieces[-1]
        scale = self.words.scales.get(second.source)
        is_short = len(first.value) <= _LONGEST_SCALED
        if scale is not None and is_short and _PLAIN.fullmatch(first.value.removeprefix("-")):
            return _multiplied_after_crore(first, scale) or times_power_of_ten(first.value, scale, self.mark)
        power = self.words.ordinals.get(second.source)
        if (
            power is not None
            and second.is_written_out
            and first.source == first.value
            and first.value.isdecimal()
        ):
            return times_power_of_ten(first.value, power, self.mark) + second.value.lstrip("0123456789")
        if not _PLAIN.fullmatch(second.value):
            return None
        if first.source in self.words.minus:
            before = pieces[-5] if len(pieces) >= 5 and pieces[-4].source.isspace() else None
            if before is None or not (before.is_number or before.source in self.words.not_minus_after):
                return f"-{second.value}"
        if not second.is_written_out:
            return None
        if first.source in ("a", "an") and second.source.split()[0] in self.words.scales:
            return second.value
        if not first.is_written_out:
            return None
        if self.language == "en" and _YEAR_START.fullmatch(first.value) and _YEAR_END.fullmatch(second.value):
            return first.value + second.value
        return _sum_after_lakh(first, second)


def _united(value: str, pieces: Sequence[Piece]) -> Piece:
    source = "".join(piece.source for piece in pieces)
    return Piece(value, source, starts_number=pieces[0].starts_number)


def _is_space(pieces: Sequence[Piece], index: int) -> bool:
    return 0 <= index < len(pieces) and pieces[index].source.isspace()


def _is_beside_number(
    pieces: Sequence[Piece], index: int, starts: Collection[int], ends: Collection[int]
) -> bool:
    """Return whether digits, or number words that start and end at these places, are a space away."""
    before = _is_space(pieces, index - 1) and (index - 1 in ends or _is_number(pieces, index - 2))
    after = _is_space(pieces, index + 1) and (index + 2 in starts or _is_number(pieces, index + 2))
    return before or after


def _is_number(pieces: Sequence[Piece], index: int) -> bool:
    return 0 <= index < len(pieces) and pieces[index].is_number


def _is_english_word(pieces: Sequence[Piece], index: int) -> bool:
    word = pieces[index].source
    before = _word_across_space(pieces, index, -1)
    if word == "one":
        return before in _BEFORE_PRONOUN or _word_across_space(pieces, index, 1) in _AFTER_PRONOUN
    return word == "second" and (before in _BEFORE_UNIT or before.isdecimal())


def _word_across_space(pieces: Sequence[Piece], index: int, step: int) -> str:
    word = index + 2 * step
    return pieces[word].source if _is_space(pieces, index + step) and 0 <= word < len(pieces) else ""


def _is_year_with_oh(pieces: Sequence[Piece]) -> bool:
    century, space, zero, _, year = pieces
    return (
        space.source.isspace()
        and zero.source in _YEAR_OH
        and century.is_written_out
        and _YEAR_START.fullmatch(century.value) is not None
        and year.is_written_out
        and len(year.value) == 1
    )


def _multiplied_after_crore(first: Piece, scale: int) -> str | None:
    """Return `two crore five` times `lakh`, which multiplies only the five; None for other numbers."""
    if scale != 5 or not first.value.isdecimal() or not _CRORES.intersection(first.source.split()[:-1]):
        return None
    crores, count = divmod(int(first.value), 10**7)
    return str(crores * 10**7 + count * 10**scale)


def _sum_after_lakh(first: Piece, second: Piece) -> str | None:
    """Return the sum of `two lakh` and `fifty thousand`, which text2num does not know to be one number."""
    scale = {"lakh": 5, "lakhs": 5, "crore": 7, "crores": 7}.get(first.source.split()[-1])
    if (
        scale is None
        or not (first.value.isdecimal() and second.value.isdecimal())
        or len(second.value) > scale
    ):
        return None
    return str(int(first.value) + int(second.value))
