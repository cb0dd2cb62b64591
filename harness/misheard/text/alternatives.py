r"""References with several accepted spellings: `my {office / ऑफिस} is {near by / nearby}`.

A slot stands in braces, its spellings apart by slashes, each of any number of words; an empty one, as in
`{uh / }`, makes the slot optional. `\{`, `\}`, `\/` and `\\` are the characters themselves; a slash
outside braces and any other backslash need no escape. A slot is made of whole tokens: in `ab{c / d}` the word
`ab` ends before it. Slots do not nest.

Only what asks for this notation reads it; elsewhere a brace is a character like others.

sclite's notation in STM and trn is the same but for its null word: a word `@`, inside a slot or outside,
stands for nothing (`without_null_words`). Slots that nest, which sclite also reads, are an error here.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from misheard.errors import InputError

Spelling = tuple[str, ...]
Slot = tuple[Spelling, ...]
Lattice = tuple[Slot, ...]

_SIGN = re.compile(r"\\[{}/\\]|[{}/]")
_SLOT = re.compile(r"(?<!\\)\{[^{}]*\}")
_NULL_SLOT = re.compile(r"(?<!\\)\{\s*@(?:[\s/]+@)*\s*\}")
_NULL_WORD = re.compile(r"(?<![^\s{}/])(?<!\\[{}/])@(?![^\s{}/])")


def has_choice(text: str) -> bool:
    """Return whether a text holds what could be a slot with a choice."""
    return any("/" in slot[0] for slot in _SLOT.finditer(text))


def without_null_words(text: str) -> str:
    """Return a text of sclite's with nothing where its null word stands: `{um / @}` becomes `{um / }`."""
    if "@" not in text:
        return text
    return _NULL_WORD.sub("", _NULL_SLOT.sub(" ", text))


def parse_alternatives(text: str, *, item: str, split: Callable[[str], Sequence[str]]) -> Lattice:
    """Return the slots of a reference in order; text between braces is a slot with one spelling.

    Args:
        text: the reference as it is written, before any normalisation.
        item: what errors call the reference, such as its item's id.
        split: makes tokens of a part of the text: normalisation and tokeniser in one.

    Raises InputError, naming the item and the character's place but no text, where braces nest, do not close,
    close without having been opened, or hold nothing at all.
    """
    parser = _Parser(item, split)
    position = 0
    for match in _SIGN.finditer(text):
        parser.take_text(text[position : match.start()])
        parser.take_sign(match[0], match.start())
        position = match.end()
    parser.take_text(text[position:])
    return parser.finish()


class _Parser:
    def __init__(self, item: str, split: Callable[[str], Sequence[str]]) -> None:
        self._item, self._split = item, split
        self._slots: list[Slot] = []
        self._part: list[str] = []
        # of the slot that is open, and where it opened
        self._spellings: list[str] | None = None
        self._opened = 0

    def take_text(self, text: str) -> None:
        self._part.append(text)

    def take_sign(self, sign: str, place: int) -> None:
        if sign == "{":
            self._open(place)
        elif sign == "}":
            self._close(place)
        elif sign == "/" and self._spellings is not None:
            self._spellings.append(self._finished_part())
        else:
            self._part.append(sign[-1])

    def finish(self) -> Lattice:
        if self._spellings is not None:
            raise self._error(self._opened, "a brace opens that is not closed")
        self._add_slot([self._finished_part()])
        return tuple(self._slots)

    def _open(self, place: int) -> None:
        if self._spellings is not None:
            raise self._error(place, "a brace opens inside a slot; slots do not nest")
        self._add_slot([self._finished_part()])
        self._spellings, self._opened = [], place

    def _close(self, place: int) -> None:
        if self._spellings is None:
            raise self._error(place, "a brace closes that was not opened")
        spellings = [*self._spellings, self._finished_part()]
        if not any(map(str.strip, spellings)):
            raise self._error(self._opened, "a slot has no word in it")
        self._add_slot(spellings)
        self._spellings = None

    def _finished_part(self) -> str:
        finished = "".join(self._part)
        self._part.clear()
        return finished

    def _add_slot(self, texts: Sequence[str]) -> None:
        slot = tuple(tuple(self._split(text)) for text in texts)
        if any(slot):
            self._slots.append(slot)

    def _error(self, place: int, what: str) -> InputError:
        return InputError(
            f"{self._item}: {what} (character {place + 1} of the reference); "
            "write \\{ or \\} for a brace in the text"
        )


def with_spellings(tokens: Sequence[str], spellings: Mapping[Spelling, Sequence[Spelling]]) -> Lattice:
    """Return the slots of a reference whose phrases have other accepted spellings, given beside it.

    Args:
        tokens: the reference.
        spellings: phrase to the spellings accepted in its place. From left to right, the longest phrase that
            starts at a token becomes a slot, its own spelling first; phrases of no tokens are not looked for.
    """
    phrases = sorted((phrase for phrase in spellings if phrase), key=len, reverse=True)
    slots: list[Slot] = []
    fixed: list[str] = []
    position = 0
    while position < len(tokens):
        found = next(
            (phrase for phrase in phrases if tuple(tokens[position : position + len(phrase)]) == phrase), None
        )
        if found is None:
            fixed.append(tokens[position])
            position += 1
            continue
        if fixed:
            slots.append((tuple(fixed),))
            fixed = []
        slots.append((found, *(spelling for spelling in spellings[found] if spelling != found)))
        position += len(found)
    return (*slots, (tuple(fixed),)) if fixed else tuple(slots)
