"""One JSON object of a scene, read field by field; what is wrong is noted by its place and never quoted."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

LONGEST_ID = 80
LONGEST_LABEL = 200

_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LINE_SPACE = frozenset("\t\n\r")


class SceneError(Exception):
    """What was read is no scene, or no operations; `problems` name places and hold no text of a label."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Fields:
    """The fields of one object at `place`; problems are added to `problems`, and an empty text stands in."""

    def __init__(self, row: object, place: str, problems: list[str]) -> None:
        self._place = place
        self._problems = problems
        self._row: dict[str, Any] = row if isinstance(row, dict) else {}
        self._is_object = isinstance(row, dict)
        if not self._is_object:
            problems.append(f"{place}: must be an object")

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """Return one of a few texts, or None with a problem noted."""
        value = self._row.get(name)
        if isinstance(value, str) and value in choices:
            return value
        self._note(name, f"must be one of {', '.join(choices)}")
        return None

    def identifier(self, name: str) -> str:
        """Return an id: 1 to 80 characters, none of them a control character."""
        return self._text(name, _id_problem)

    def kind(self, name: str) -> str:
        """Return a kind such as `box`: a lower-case letter, then letters, digits and underscores."""
        return self._text(
            name,
            lambda value: (
                None if _KIND.fullmatch(value) else "must match [a-z][a-z0-9_]*, at most 40 characters"
            ),
        )

    def label(self, name: str, *, optional: bool = False) -> str:
        """Return a label of at most 200 characters; line breaks and runs of white space are one space."""
        if optional and self._row.get(name) is None:
            return ""
        return " ".join(self._text(name, _label_problem).split())

    def _text(self, name: str, problem: Callable[[str], str | None]) -> str:
        value = self._row.get(name)
        if not isinstance(value, str):
            self._note(name, "is missing" if value is None else "must be a text")
            return ""
        found = problem(value)
        if found is not None:
            self._note(name, found)
            return ""
        return value

    def _note(self, name: str, what: str) -> None:
        if self._is_object:
            self._problems.append(f"{self._place}.{name}: {what}")


def rows(
    value: dict[str, Any], name: str, most: int, problems: list[str], *, optional: bool = False
) -> list[Any]:
    """Return the list under `name`, at most `most` long, or an empty one with a problem noted."""
    found = value.get(name)
    if found is None and optional:
        return []
    if not isinstance(found, list):
        problems.append(f"{name}: is missing" if found is None else f"{name}: must be a list")
        return []
    if len(found) > most:
        problems.append(f"{name}: {len(found)} are more than {most}")
        return []
    return found


def _id_problem(value: str) -> str | None:
    if not 1 <= len(value) <= LONGEST_ID:
        return f"must have 1 to {LONGEST_ID} characters"
    return "holds a character that cannot be printed" if any(map(_unprintable, value)) else None


def _label_problem(value: str) -> str | None:
    if len(value) > LONGEST_LABEL:
        return f"is longer than {LONGEST_LABEL} characters"
    hidden = any(_unprintable(char) for char in value if char not in _LINE_SPACE)
    return "holds a character that cannot be printed" if hidden else None


def _unprintable(char: str) -> bool:
    """Return whether a character is a control, half a surrogate pair, or barred from XML.

    Format characters are printable here: joiners and directional marks are part of many scripts. So are
    characters without an assignment, which differ between versions of Unicode.
    """
    return unicodedata.category(char) in {"Cc", "Cs"} or char in "\ufffe\uffff"
