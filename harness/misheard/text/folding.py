"""What `plain`, `spoken` and phrases share: folded characters, and the pieces of a folded text.

Folding is NFKC, full case folding and NFKC again, with these rules beside it:

* apostrophes of every shape (’ ‘ ‛ ʼ ʻ ՚ ׳ ` ´) become `'`, the minus sign becomes `-`, the Arabic decimal
  and thousands separators and percent sign become `.`, `,` and `%`;
* a superscript, subscript or fraction after a digit is a number of its own: `10²` is not 102;
* spacing accents such as ¨, which NFKC would turn into a mark without a letter, become a space;
* characters that Unicode calls default ignorable (joiners, soft hyphen, direction marks, variation selectors)
  and enclosing marks are removed; only the zero-width space, which marks the end of a word, becomes a space.
  Spellings in which a joiner makes another letter, the Malayalam chillus and the Bengali khanda ta, become
  that letter first (The Unicode Standard, 12.9 and 12.2).

No other combining mark is touched: a vowel sign, virama, nukta or haraka is part of the word.
"""

import re
import unicodedata

from misheard.text.normal_form import normal_form

_REWRITTEN = {
    **dict.fromkeys("’‘‛ʼʻ՚׳`´", "'"),
    "\u2212": "-",
    "\u066a": "%",
    "\u066b": ".",
    "\u066c": ",",
    "\u200b": " ",
}

_JOINED_LETTERS = {
    "ണ്\u200d": "ൺ",
    "ന്\u200d": "ൻ",
    "ര്\u200d": "ർ",
    "ല്\u200d": "ൽ",
    "ള്\u200d": "ൾ",
    "ക്\u200d": "ൿ",
    "ত্\u200d": "ৎ",
}
_ZWJ = "\u200d"

# Default_Ignorable_Code_Point in DerivedCoreProperties.txt, reserved code points included
_IGNORABLE = frozenset(
    map(
        chr,
        (
            *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0x200C, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFF9),
            *range(0x1BCA0, 0x1BCA4),
            *range(0x1D173, 0x1D17B),
            *range(0xE0000, 0xE1000),
        ),
    )
)

# folding settles after three rounds at most; the bound only keeps a fault from hanging
_ROUNDS = 8

_WORD = r"(?:(?<![ad'.,])\.(?=d))?[ad]+(?:(?:'|(?<=d)[.,](?=d))[ad]+)*"
_PLAIN_WORD = re.compile(_WORD)
_SIGNED_PIECE = re.compile(rf"(?:(?<![ad'.,-])-(?=\.?d))?{_WORD}|[ ]+|.", re.DOTALL)


class _Rewriting(dict[int, str]):
    """A table for `str.translate`, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = kept = _REWRITTEN.get(char) or _without_spacing_accent(char)
        return kept


class _Removal(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = kept = "" if char in _IGNORABLE or unicodedata.category(char) == "Me" else char
        return kept


class _Kinds(dict[int, str]):
    """One letter for each character: d digit, a other part of a word, x anything that separates."""

    def __missing__(self, code: int) -> str:
        self[code] = kind = _kind(chr(code))
        return kind


_REWRITING, _REMOVAL, _KINDS = _Rewriting(), _Removal(), _Kinds()


def folded(text: str) -> str:
    """Return `text` with its characters folded as this module says; white space is not touched.

    Idempotent, and the same for every part between white space as for the whole. Lone surrogates stay.
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    for _ in range(_ROUNDS):
        again = _folded_once(text)
        if again == text:
            break
        text = again
    return text


def plain_words(folded_text: str) -> list[str]:
    """Return the words of a folded text: letters, marks and numbers; everything else separates.

    An apostrophe inside a word stays, and so do a point or comma between digits and a point before a digit
    that starts a number.
    """
    if folded_text.isalnum():
        return [folded_text]
    kinds = folded_text.translate(_KINDS)
    return [folded_text[match.start() : match.end()] for match in _PLAIN_WORD.finditer(kinds)]


def signed_pieces(folded_text: str) -> list[str]:
    """Return words, runs of white space and single other characters, which joined give the folded text.

    Words are those of `plain_words`; a minus sign before a number that starts a word belongs to it.
    """
    if folded_text.isalnum():
        return [folded_text]
    kinds = folded_text.translate(_KINDS)
    return [folded_text[match.start() : match.end()] for match in _SIGNED_PIECE.finditer(kinds)]


def is_word_part(char: str) -> bool:
    """Return whether a character is part of a word: a letter, mark or number, or one of no known category."""
    return _KINDS[ord(char)] in "ad"


def _folded_once(text: str) -> str:
    text = _with_small_numbers_apart(text.translate(_REWRITING))
    text = normal_form("NFKC", normal_form("NFKC", text).casefold())
    if _ZWJ in text:
        for spelling, letter in _JOINED_LETTERS.items():
            text = text.replace(spelling, letter)
    return text.translate(_REMOVAL)


def _with_small_numbers_apart(text: str) -> str:
    """Keep NFKC from making 102 of 10² and 51⁄2 of 5½; letters keep theirs, as in H₂O."""
    if not any(map(_is_small_number, text)):
        return text
    return "".join(
        f" {char}" if index and text[index - 1].isdecimal() and _is_small_number(char) else char
        for index, char in enumerate(text)
    )


def _is_small_number(char: str) -> bool:
    return char >= "\x80" and unicodedata.category(char) == "No" and bool(unicodedata.decomposition(char))


def _without_spacing_accent(char: str) -> str:
    if unicodedata.category(char)[0] in "SP" and unicodedata.normalize("NFKC", char)[0] == " ":
        return " "
    return char


def _kind(char: str) -> str:
    if char in "'.,-":
        return char
    if char.isspace():
        return " "
    if char.isdecimal():
        return "d"
    # code points that this Python's Unicode does not know yet are letters more often than anything else
    return "a" if unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) in _UNKNOWN else "x"


_UNKNOWN = frozenset({"Cn", "Co", "Cs"})
