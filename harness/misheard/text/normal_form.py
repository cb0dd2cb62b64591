"""Unicode normal forms in time that grows with the length of a text.

CPython puts the combining marks of a character in canonical order one by one, in time that grows with the
square of their number where they are out of order: minutes for a letter with 200,000 of them. Long runs of
marks are sorted before here, which no normal form sees (The Unicode Standard, 3.11, Canonical Ordering
Algorithm).
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

Form = Literal["NFC", "NFKC"]

_LONG_TEXT = 1_000
"""Shorter texts take no noticeable time in any order."""

_PLANE_2 = 0x20000
"""Ideographs begin here, and no marks follow."""

_DECOMPOSED: dict[Form, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}

_MADE_OF_MARKS: dict[Form, str] = {
    "NFC": "\u0344\u0f73\u0f75\u0f81",
    "NFKC": "\u0344\u0f73\u0f75\u0f81\uff9e\uff9f",
}
"""Characters that a form replaces by other marks, most of which are no marks themselves."""


def normal_form(form: Form, text: str) -> str:
    """Return `unicodedata.normalize(form, text)`."""
    if len(text) > _LONG_TEXT and not text.isascii():
        pattern, decomposed = _marks(form)
        text = pattern.sub(
            lambda run: "".join(sorted(run[0].translate(decomposed), key=unicodedata.combining)), text
        )
    return unicodedata.normalize(form, text)


@lru_cache(maxsize=2)
def _marks(form: Form) -> tuple[re.Pattern[str], dict[int, str]]:
    """Return what matches a long run of marks, and what becomes of those that a form replaces."""
    decomposed = {ord(char): unicodedata.normalize(_DECOMPOSED[form], char) for char in _MADE_OF_MARKS[form]}
    marks = {chr(code) for code in range(0x300, _PLANE_2) if unicodedata.combining(chr(code))}
    run = "".join(sorted(marks.union(_MADE_OF_MARKS[form])))
    return re.compile(f"[{run}]{{100,}}"), decomposed
