"""Calibration sets: pairs of texts with the score that people gave them, an object a line.

    {"id": "hi-01", "language": "hi", "question": "meaning", "reference": "…", "candidate": "…",
     "human_score": 100, "scored_by": "two of us", "note": "script"}

`question` is `meaning` or `answer`; an `answer` also has `asked`, the question that both texts answer.
`scored_by` and `note` may be left out.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from misheard.canonical import sha256_json
from misheard.config import JudgeQuestion
from misheard.errors import InputError
from misheard.stages.judge import BEST, JudgedTexts
from misheard.suite.fields import LANGUAGE, Fields
from misheard.suite.item_reader import ID, ID_EXAMPLE
from misheard.suite.problems import Problems
from misheard.text.languages import primary_subtag

TEMPLATE = "calibration-template.jsonl"

_MAX_BYTES = 16 * 1024 * 1024
_MAX_ITEMS = 10_000
_MAX_CHARACTERS = 20_000
_FIELDS = (
    "id", "language", "question", "asked", "reference", "candidate", "human_score", "scored_by", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """One pair of texts.

    Attributes:
        id: unique in the set, `[A-Za-z0-9_-]{1,80}`.
        language: BCP-47 tag.
        question: what the judge is asked about the texts.
        texts: what is judged.
        human_score: of people, from 0 to 100.
        scored_by: who they are; empty where the set does not say.
    """

    id: str
    language: str
    question: JudgeQuestion
    texts: JudgedTexts
    human_score: float
    scored_by: str = ""

    @property
    def language_code(self) -> str:
        """The language without region or script: what agreement is told by."""
        return primary_subtag(self.language) or self.language


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """A set of at least one item.

    Attributes:
        items: in the order of the file.
        sha256: of the file.
        texts_sha256: of what the judge is asked: two sets that differ in human scores alone share it, so
            that their judge scores can be compared.
    """

    items: tuple[CalibrationItem, ...]
    sha256: str
    texts_sha256: str


def template_bytes() -> bytes:
    """Return the set that ships with misheard: 50 items in seven languages, scored by its authors."""
    return resources.files(__package__).joinpath(TEMPLATE).read_bytes()


def read_calibration_set(path: Path | None) -> CalibrationSet:
    """Read a set; None is the shipped one.

    Raises SuiteError with every problem, InputError for a file that cannot be read.
    """
    name = TEMPLATE if path is None else str(path)
    raw = template_bytes() if path is None else _read(path)
    problems = Problems()
    reader = _Reader(problems)
    read = [reader.read(number, row) for number, row in _rows(raw, problems)]
    items = tuple(item for item in read if item is not None)
    if not items and not problems:
        problems.add(name, "no item; write the shipped set with misheard judge template FILE")
    if problems:
        raise problems.error(name)
    asked = {
        i.id: [i.language, i.question, i.texts.asked, i.texts.reference, i.texts.candidate] for i in items
    }
    return CalibrationSet(items, hashlib.sha256(raw).hexdigest(), sha256_json(asked))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: larger than {_MAX_BYTES} bytes")
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise InputError(f"{path}: larger than {_MAX_BYTES} bytes")
    return raw


def _rows(raw: bytes, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers and objects; what is no object, or one too many, becomes a problem."""
    found = 0
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        found += 1
        if found > _MAX_ITEMS:
            problems.add(f"line {number}", f"more than {_MAX_ITEMS} items")
            return
        try:
            value = json.loads(line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse)
        except (ValueError, RecursionError):
            problems.add(f"line {number}", "not a JSON object in UTF-8, each key once")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(f"line {number}", "not a JSON object")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse(name: str) -> Any:
    raise ValueError(name)


class _Reader:
    """Turns the objects of a set into items; a problem never repeats the text that it is about."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._places: dict[str, int] = {}

    def read(self, number: int, row: dict[str, Any]) -> CalibrationItem | None:
        """Return the item of one object, None where something is wrong with it."""
        before = self._problems.count
        name = row.get("id")
        is_named = isinstance(name, str) and ID.fullmatch(name)
        fields = Fields(
            row, _FIELDS, f"item {name} (line {number})" if is_named else f"line {number}", self._problems
        )
        identifier = self._needed(fields, "id", fields.code("id", ID, ID_EXAMPLE))
        language = self._needed(
            fields, "language", fields.code("language", LANGUAGE, "a tag such as hi or en-IN")
        )
        question = self._question(fields)
        texts = {key: self._text(fields, key) for key in ("reference", "candidate")}
        asked = self._asked(fields, question)
        score = self._score(fields, row)
        scored_by = fields.label("scored_by") or ""
        fields.text("note")
        self._check_unique(fields, identifier, number)
        if self._problems.count > before:
            return None
        judged = JudgedTexts(texts["reference"], texts["candidate"], asked)
        return CalibrationItem(identifier, language, question, judged, score, scored_by)

    def _needed(self, fields: Fields, name: str, value: str | None) -> str:
        if not fields.given(name):
            fields.problem(f"{name} is missing")
        return value or ""

    def _question(self, fields: Fields) -> JudgeQuestion:
        known = get_args(JudgeQuestion)
        value = self._needed(fields, "question", fields.text("question"))
        if value and value not in known:
            fields.problem(f"question must be {' or '.join(known)}")
        return "answer" if value == "answer" else "meaning"

    def _text(self, fields: Fields, name: str) -> str:
        value = self._needed(fields, name, fields.text(name))
        if fields.given(name) and not 1 <= len(value.strip()) <= _MAX_CHARACTERS:
            fields.problem(f"{name} must have 1 to {_MAX_CHARACTERS} characters")
        return value

    def _asked(self, fields: Fields, question: JudgeQuestion) -> str | None:
        if question == "answer":
            return self._text(fields, "asked")
        if fields.given("asked"):
            fields.problem("asked, the question that both texts answer, belongs to the question answer alone")
        return None

    def _score(self, fields: Fields, row: dict[str, Any]) -> float:
        value = row.get("human_score")
        if value is None:
            fields.problem("human_score is missing")
        # the type itself: true is a number too
        elif type(value) not in (int, float) or not 0 <= value <= BEST:
            fields.problem(f"human_score must be a number from 0 to {BEST}")
        else:
            return float(value)
        return 0.0

    def _check_unique(self, fields: Fields, identifier: str, number: int) -> None:
        if identifier and identifier in self._places:
            fields.problem(f"the id stands in line {self._places[identifier]} too")
        self._places.setdefault(identifier, number)
