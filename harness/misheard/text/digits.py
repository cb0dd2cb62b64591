"""Numbers that are written in digits."""

import re
import unicodedata

_GROUPED = {
    ".": re.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?"),  # 1,000 and the Indian 1,00,000
    ",": re.compile(r"-?\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}
_APOSTROPHE_GROUPED = re.compile(r"-?\d{1,3}(?:'\d{3})+(?:[.,]\d+)?")
_POINT_FRACTION = re.compile(r"-?\d+\.\d+")
_WITH_SUFFIX = re.compile(r"(-?[\d.,']*\d)([^\d.,']*)")
_LEADING_MARK = re.compile(r"^(-?)\.(?=\d+$)")


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def ungrouped(piece: str, mark: str | None) -> list[str]:
    """Return a piece of text with its number not grouped, or apart where its commas only list numbers.

    Args:
        piece: a number in ASCII digits, with letters after it or not; any other piece is returned as it is.
        mark: what stands before a fraction, `.` or `,`; None, where that is not known, leaves the number so.
    """
    number = _WITH_SUFFIX.fullmatch(piece)
    if number is None or len(piece) < 2:
        return [piece]
    *listed, last = _ungrouped(number[1], mark)
    return [*listed, last + number[2]]


def _ungrouped(piece: str, mark: str | None) -> list[str]:
    piece = _LEADING_MARK.sub(r"\g<1>0.", piece)
    if "'" in piece and _APOSTROPHE_GROUPED.fullmatch(piece):
        return [piece.replace("'", "")]
    if mark is None:
        return [piece]
    if _GROUPED[mark].fullmatch(piece):
        return [piece.replace("," if mark == "." else ".", "")]
    if mark == "," and _POINT_FRACTION.fullmatch(piece):
        return [piece.replace(".", ",")]
    if piece.count(",") > (mark == ","):
        return re.split("(,)", piece)
    return [piece]


def times_power_of_ten(number: str, power: int, mark: str) -> str:
    """Return a number in digits times ten to the power of `power`, with the same mark before a fraction."""
    sign = "-" if number.startswith("-") else ""
    whole, _, fraction = number.removeprefix("-").partition(mark)
    digits = whole + fraction[:power].ljust(power, "0")
    rest = fraction[power:]
    return sign + (digits.lstrip("0") or "0") + (f"{mark}{rest}" if rest else "")
