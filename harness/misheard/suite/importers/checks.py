"""From rows to what can become an item, with a reason for every row that cannot."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from misheard.suite.fields import LANGUAGE
from misheard.suite.importers.locate import Folders
from misheard.suite.importers.rows import Clip, Row
from misheard.suite.item_reader import MAX_REFERENCE_WORDS
from misheard.suite.problems import shown
from misheard.text.annotations import has_annotations, with_annotations

_MAX_LABEL = 80
_MAX_CHARACTERS = 80_000
"""Of a reference or an answer: both fit into a line of items.jsonl, however they are escaped."""

_DIGEST_DIGITS = 32
_NO_TEXT = "holds half of a surrogate pair, which is no character"


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that makes no item: its place, its id in the source, and why."""

    where: str
    source_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Usable:
    """A row whose fields are in order; `path` is its recording, None where its bytes lie in the source."""

    row: Row
    path: Path | None
    reference: str = field(repr=False)
    session: str | None
    language: str | None
    conditions: Mapping[str, str]

    @property
    def is_speech(self) -> bool:
        """Whether the reference has words."""
        return bool(self.reference.strip())


class RowChecker:
    """Checks rows one by one and remembers the ids it saw."""

    def __init__(
        self, folders: Folders, language: str | None, empty_is_non_speech: bool, without_annotations: bool
    ) -> None:
        self._folders, self._language, self._empty = folders, language, empty_is_non_speech
        self._without_annotations = without_annotations
        self._places: dict[str, str] = {}
        self._recordings: dict[tuple[Path | None, Clip | None, str | None], str] = {}
        self.renamed_sessions: set[str] = set()

    def check(self, rows: Sequence[Row]) -> tuple[list[Usable], list[Broken]]:
        """Return what can be used, and what cannot with all its reasons in one."""
        usable, broken = [], []
        for row in rows:
            text = self._reference(row.text)
            path, reasons = self._problems(row, text)
            if reasons:
                broken.append(Broken(row.where, row.name, "; ".join(reasons)))
                continue
            usable.append(
                Usable(
                    row=row,
                    path=path,
                    reference=text if text is not None and text.strip() else "",
                    session=self._session(row.session),
                    language=_tag(row.language) or self._language,
                    conditions={
                        axis: value.strip() for axis, value in row.conditions.items() if value.strip()
                    },
                )
            )
        return usable, broken

    def _reference(self, text: str | None) -> str | None:
        if text is None or not self._without_annotations or not has_annotations(text):
            return text
        return " ".join(with_annotations(text, str, "remove").split())

    def _problems(self, row: Row, text: str | None) -> tuple[Path | None, list[str]]:
        if row.wrong is not None:
            return None, [row.wrong]
        reasons = [*self._id_problems(row), *self._reference_problems(text)]
        if row.answer is not None:
            reasons += _text_problems("the reference_answer", row.answer)
        path = None
        if row.audio is None:
            reasons.append("there is no recording")
        elif row.content is None:
            path, wrong = self._folders.find(row.audio)
            if wrong is not None:
                reasons.append(f"the recording {shown(row.audio)} {wrong}")
            elif not row.named and (twin := self._twin(row, path, text)) is not None:
                reasons.append(f"its recording and its reference are those of {twin}")
        tag = _tag(row.language)
        if tag is not None and not LANGUAGE.fullmatch(tag):
            reasons.append(f"the language {shown(tag)} is no tag such as en")
        for axis, value in row.conditions.items():
            if value.strip() and not _is_label(value.strip()):
                reasons.append(f"the condition {axis} is not one line of at most {_MAX_LABEL} characters")
        return path, reasons

    def _id_problems(self, row: Row) -> list[str]:
        if not row.named:
            return []
        if row.name in self._places:
            return [f"its id {shown(row.name)} is that of {self._places[row.name]}"]
        self._places[row.name] = row.where
        return []

    def _twin(self, row: Row, path: Path | None, text: str | None) -> str | None:
        """Return the place of an earlier row of the same recording and reference.

        Rows without ids are named after their recordings, so that nothing else tells a row that stands twice.
        """
        place = self._recordings.setdefault((path, row.clip, text), row.where)
        return None if place == row.where else place

    def _reference_problems(self, text: str | None) -> list[str]:
        if text is None:
            return ["there is no reference"]
        words = len(text.split())
        if not words and not self._empty:
            return ["the reference is empty"]
        if words > MAX_REFERENCE_WORDS:
            return [f"the reference has {words} words, more than {MAX_REFERENCE_WORDS}; split the recording"]
        return _text_problems("the reference", text)

    def _session(self, name: str | None) -> str | None:
        """Return a session's name, or part of its sha256 where it is no label (Common Voice's client_id)."""
        if name is None or not name.strip():
            return None
        if _is_label(name.strip()):
            return name.strip()
        short = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
        self.renamed_sessions.add(short)
        return short


def _text_problems(name: str, value: str) -> list[str]:
    if len(value) > _MAX_CHARACTERS:
        return [f"{name} has {len(value)} characters, more than {_MAX_CHARACTERS}"]
    return [] if _is_text(value) else [f"{name} {_NO_TEXT}"]


def _is_label(value: str) -> bool:
    return 0 < len(value) <= _MAX_LABEL and value.isprintable() and _is_text(value)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tag(language: str | None) -> str | None:
    return None if language is None or not language.strip() else language.strip().replace("_", "-")
