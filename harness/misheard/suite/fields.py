"""Reading the fields of one record of a manifest, noting every problem and repeating none of their text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from misheard.suite.problems import Problems, shown, suggestion

LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,6}")
"""A BCP-47 tag such as `en` or `zh-Hant-TW` (shape only)."""

SCRIPT = re.compile(r"[A-Z][a-z]{3}")
"""An ISO 15924 code such as `Latn` (shape only)."""

_MAX_LABEL = 80
_TYPE_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class Fields:
    """One record. An absent or null field is not given; a wrong one is noted and counts as not given."""

    def __init__(
        self, record: Mapping[str, Any], known: Sequence[str], where: str, problems: Problems
    ) -> None:
        self.where = where
        self._record = record
        self._problems = problems
        for name in record:
            if name not in known:
                self.problem(f"unknown field {shown(name)}{self.suggestion(name, known)}")

    def problem(self, what: str) -> None:
        """Note a problem of this record."""
        self._problems.add(self.where, what)

    def suggestion(self, name: str, known: Sequence[str]) -> str:
        """Return what a name may have meant, as `misheard.suite.problems.suggestion` does.

        Nothing where no further problem is listed: finding close names takes longer than all other checks.
        """
        return "" if self._problems.full else suggestion(name, known)

    def given(self, name: str) -> bool:
        """Whether the record has this field, right or wrong."""
        return self._record.get(name) is not None

    def value(self, name: str) -> Any:
        """Return a field as it is, for a form that is checked elsewhere; None where not given."""
        return self._record.get(name)

    def text(self, name: str) -> str | None:
        """Return a field of text."""
        value = self._record.get(name)
        return None if value is None else self._as_text(value, name)

    def label(self, name: str) -> str | None:
        """Return a field that names something: nonempty text on one line, at most 80 characters."""
        value = self.text(name)
        return value if value is None or self._is_label(value, name) else None

    def code(self, name: str, pattern: re.Pattern[str], example: str) -> str | None:
        """Return a field of text of a given form."""
        value = self.text(name)
        if value is not None and not pattern.fullmatch(value):
            self.problem(f"{name} is not {example}")
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a field that is a list of nonempty texts."""
        value = self._record.get(name)
        return None if value is None else self._as_texts(value, name)

    def codes(self, name: str, pattern: re.Pattern[str], example: str) -> tuple[str, ...] | None:
        """Return a field that is a list of texts of a given form."""
        values = self.texts(name)
        if values is not None and not all(pattern.fullmatch(value) for value in values):
            self.problem(f"{name} holds something that is not {example}")
            return None
        return values

    def labels_by_name(self, name: str) -> dict[str, str]:
        """Return a field that maps names to names; empty where not given."""
        out = {}
        for key, value in self._mapping(name).items():
            text = self._as_text(value, f"{name}.{_short(key)}")
            if text is not None and self._is_label(text, f"{name}.{_short(key)}"):
                out[key] = text
        return out

    def texts_by_name(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return a field that maps names to lists of texts; empty where not given."""
        out = {}
        for key, value in self._mapping(name).items():
            texts = self._as_texts(value, f"{name}.{_short(key)}")
            if texts is not None:
                out[key] = texts
        return out

    def _mapping(self, name: str) -> Mapping[str, Any]:
        value = self._record.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._wrong_type(name, "an object", value)
            return {}
        return value

    def _as_text(self, value: Any, name: str) -> str | None:
        if not isinstance(value, str):
            self._wrong_type(name, "text", value)
            return None
        try:
            value.encode()
        except UnicodeEncodeError:
            self.problem(f"{name} holds half of a surrogate pair, which is no character")
            return None
        return value

    def _as_texts(self, value: Any, name: str) -> tuple[str, ...] | None:
        if not isinstance(value, list):
            self._wrong_type(name, "a list of texts", value)
            return None
        texts = [self._as_text(entry, name) for entry in value]
        if any(text is not None and not text.strip() for text in texts):
            self.problem(f"{name} holds an empty text")
            return None
        return tuple(text for text in texts if text is not None) if None not in texts else None

    def _is_label(self, value: str, name: str) -> bool:
        if not value.strip() or len(value) > _MAX_LABEL or not value.isprintable():
            self.problem(f"{name} must be one line of 1 to {_MAX_LABEL} characters")
            return False
        return True

    def _wrong_type(self, name: str, wanted: str, value: Any) -> None:
        self.problem(f"{name} must be {wanted}, not {_TYPE_NAMES.get(type(value), 'null')}")


def _short(name: str) -> str:
    return shown(name)[1:-1]
