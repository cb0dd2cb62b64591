"""Where one number ends and the next starts in a row of number words: `five thousand five thousand`."""

from collections.abc import Sequence
from dataclasses import replace

from text_to_num import find_numbers

from misheard.text.number_pieces import Piece, is_number_word
from misheard.text.numeral_words import NumberWords

_INSIDE_NUMBER = frozenset({"-", "and", "et", "und", "y", "e", "en", "og"})
# powers of ten
_HUNDRED, _THOUSAND = 2, 3


class Multipliers:
    """Follows the multipliers of each run of number words and finds where another number starts."""

    def __init__(self, language: str, words: NumberWords) -> None:
        self._language = language
        self._words = words
        # powers of ten used in the number so far, falling, each with the piece at which its count starts
        self._levels: list[tuple[int, int]] = []

    def with_starts(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        """Return the pieces, those marked at which a multiplier says that a number starts."""
        powers = [self._words.power_of(piece.source) for piece in pieces]
        if len(powers) - powers.count(None) < 2:
            return pieces
        marked = list(pieces)
        after_last = 0
        for index, (piece, power) in enumerate(zip(pieces, powers, strict=True)):
            if power is not None:
                start = self._take(power, index, pieces, after_last)
                if start is not None:
                    marked[start] = replace(marked[start], starts_number=True)
                after_last = index + 1
                if piece.source in self._words.ordinals:
                    self._levels = []
            elif not self._continues(piece):
                self._levels = []
                after_last = index + 1
        return marked

    def _continues(self, piece: Piece) -> bool:
        return (
            piece.source.isspace()
            or piece.is_number
            or piece.source in _INSIDE_NUMBER
            or piece.source in self._words.articles
            or is_number_word(piece.source, self._language)
        )

    def _take(self, power: int, index: int, pieces: Sequence[Piece], after_last: int) -> int | None:
        """Take up a multiplier; return where its number starts if that is not the number before."""
        start, digits = self._count(index, pieces, after_last)
        is_counted = start < index
        if power == _HUNDRED:
            is_new = bool(self._levels) and digits + _HUNDRED > self._levels[-1][0]
        else:
            start = self._start_of_group(power, start, is_counted)
            is_new = bool(self._levels) and power >= self._levels[-1][0]
        if is_new:
            self._levels = []
        self._levels.append((power, start))
        return start if is_new else None

    def _start_of_group(self, power: int, start: int, is_counted: bool) -> int:
        """Close the multipliers that a scale multiplies; return where the first of their counts starts."""
        before = self._levels[-1][0] if self._levels else None
        is_english = self._language == "en"
        stacks = not is_counted and before is not None and power >= before
        if before == _HUNDRED or (stacks and (is_english or power > _THOUSAND)):
            start = self._levels.pop()[1]
        if not is_english and self._levels and self._levels[-1][0] == _THOUSAND < power:
            start = self._levels.pop()[1]
        return start

    def _count(self, index: int, pieces: Sequence[Piece], after_last: int) -> tuple[int, int]:
        """Return where the number right before a multiplier starts, `index` without one, and its digits."""
        between = pieces[after_last:index]
        if len(between) > 1 and between[-2].is_number:
            return index - 2, 1
        numbers = find_numbers(between, self._language, 0.0)
        if not numbers:
            return index, 1
        if len(numbers) > 1:
            self._levels = []
        last = numbers[-1]
        return after_last + last.start, len(last.text) if last.text.isdecimal() else 1
