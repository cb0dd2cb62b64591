"""Labels broken into lines, for a viewer whose fonts are not known."""

import unicodedata

import regex

_CLUSTERS = regex.compile(r"\X")
_WIDE, _NARROW = 1.0, 0.58
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def text_width(text: str) -> float:
    """Return an estimate of a text's width, in ems."""
    return sum(map(_char_width, text))


def wrap(label: str, width: float) -> list[str]:
    """Return the lines of a label, each about `width` ems at most; none for an empty label.

    Lines break at white space, and inside a word only where the word is longer than a line. What a reader
    takes for one character is never broken.
    """
    lines: list[str] = []
    for word in label.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined) <= width:
            lines[-1] = joined
        else:
            lines.extend(_pieces(word, width))
    return lines


def is_right_to_left(label: str) -> bool:
    """Return whether the first character with a direction runs to the left (rule P2 of UAX 9)."""
    directions = (unicodedata.bidirectional(char) for char in label)
    return next((found for found in directions if found in {"L", "R", "AL"}), "L") != "L"


def _pieces(word: str, width: float) -> list[str]:
    pieces = [""]
    filled = 0.0
    for cluster in _CLUSTERS.findall(word):
        own = text_width(cluster)
        if pieces[-1] and filled + own > width:
            pieces.append("")
            filled = 0.0
        pieces[-1] += cluster
        filled += own
    return pieces


def _char_width(char: str) -> float:
    if unicodedata.category(char) in _NO_WIDTH:
        return 0.0
    return _WIDE if unicodedata.east_asian_width(char) in {"W", "F"} else _NARROW
