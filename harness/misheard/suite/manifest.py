"""Loading a suite from its manifest.

The canonical form is a folder with two files. `suite.yaml` (every value is text, quotes are not needed):

    name: kitchen                      # required
    version: 1.2                       # required
    defaults:                          # optional: kind, language, scripts, session, conditions of every item
      language: en
      scripts: [Latn]
      conditions: {noise: clean}
    conditions:                        # optional: the axes and all their values
      language: [en, de]
      noise: [clean, 15dB]
    gate_axes: [noise]                 # optional: the axes that a release decision looks at
    primary: {en: wer}                 # optional: the metric that decides, per language
    abstentions: {en: [I don't know]}  # optional: how an answer says that it does not know, per language
    char_scripts: [Hani]               # optional: the scripts that mixed tokens count by character

`items.jsonl`, one object a line:

    {"id": "q01", "audio": "clips/q01.flac", "reference": "what is two plus two",
     "reference_answer": "Four.", "fact": ["4", "four"], "entities": ["two"], "session": "anna-kitchen"}
    {"id": "n01", "audio": "clips/hum.flac", "kind": "non_speech", "conditions": {"noise": "15dB"}}

`id` and `audio` are required, `reference` too for speech (the kind that is meant where none is given).
`kind`, `language`, `scripts`, `session` and `conditions` override the defaults, conditions axis by axis. An
item takes the condition `language` from its language where that axis is declared and it gives none itself.

The other form is one JSON file, `{"items": [{"id", "wav", "reference"}]}`: paths are relative to it, an empty
reference makes a non-speech item, its name is the suite's, and the version is 1.

Every rule that is broken is listed, in one SuiteError. Messages never repeat references, answers or facts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from misheard.failures import ItemFailedError
from misheard.suite.fields import Fields
from misheard.suite.header import Header, Shared, read_header, read_shared
from misheard.suite.items import Item, ItemKind, Suite
from misheard.suite.paths import SuiteFolder
from misheard.suite.problems import Problems, shown, suggestion
from misheard.suite.sources import read_json, read_json_lines, read_yaml

MAX_REFERENCE_WORDS = 2_000
HEADER_NAME, ITEMS_NAME = "suite.yaml", "items.jsonl"

_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
_ID_EXAMPLE = "an id: 1 to 80 letters, digits, _ or -"
_ITEM_FIELDS = (
    "id",
    "audio",
    "reference",
    "kind",
    "reference_answer",
    "fact",
    "entities",
    "language",
    "scripts",
    "session",
    "source",
    "conditions",
)
_SINGLE_FILE_ITEM_FIELDS = ("id", "wav", "reference")

Records = Iterable[tuple[str, Any]]


def load_suite(path: Path, require_audio: bool = True) -> Suite:
    """Load a suite from its folder, its `suite.yaml` or a single JSON file; no recording is decoded.

    With `require_audio` False a recording that does not exist is no problem (a path that leaves the folder
    is). Raises SuiteError with every problem.
    """
    draft = _read(path, require_audio)
    if draft.problems:
        raise draft.problems.error(str(path))
    return draft.suite()


class Progress(Protocol):
    """Is told how far checking is: `begin` opens a phase of `total` steps, `advance` counts them."""

    def begin(self, phase: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


def validate_suite(path: Path, progress: Progress | None = None) -> Suite:
    """Load a suite and decode every recording to its end.

    Raises SuiteError with every problem of manifest and recordings, and BackendError where soundfile is not
    installed.
    """
    from misheard.audio.decode import check

    draft = _read(path, require_audio=True)
    if progress is not None:
        progress.begin("checking recordings", len(draft.recordings))
    for where, audio in draft.recordings:
        try:
            check(draft.root / audio)
        except ItemFailedError as error:
            draft.problems.add(where, f"{error.kind}: {error.detail}")
        if progress is not None:
            progress.advance()
    if draft.problems:
        raise draft.problems.error(str(path))
    return draft.suite()


@dataclass(frozen=True, slots=True)
class _Draft:
    """What could be read of a suite. `recordings` are (item, audio path) of every item with a usable path."""

    root: Path
    header: Header
    items: list[Item]
    recordings: list[tuple[str, str]]
    problems: Problems

    def suite(self) -> Suite:
        return Suite(
            name=self.header.name,
            version=self.header.version,
            root=self.root,
            axes=self.header.axes,
            items=tuple(self.items),
            primary_metrics=self.header.primary_metrics,
            abstentions=self.header.abstentions,
            gate_axes=self.header.gate_axes,
            char_scripts=self.header.char_scripts,
        )


def _read(path: Path, require_audio: bool) -> _Draft:
    problems = Problems()
    single_file = path.suffix.lower() == ".json" and not path.is_dir()
    if single_file:
        root, header = path.parent, Header(_printable(path.stem), "1")
        records: Records = _single_file_records(path, problems)
    else:
        header_path = path / HEADER_NAME if path.is_dir() else path
        root = header_path.parent
        header = _read_header(header_path, problems)
        records = read_json_lines(root / ITEMS_NAME, problems)
    reader = _ItemReader(header, SuiteFolder(root), require_audio, single_file, problems)
    for where, record in records:
        reader.read(where, record)
    if not reader.seen and not problems:
        problems.add(path.name, "the suite has no items")
    return _Draft(root, header, reader.items, reader.recordings, problems)


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _read_header(path: Path, problems: Problems) -> Header:
    if path.suffix.lower() not in (".yaml", ".yml"):
        problems.add(
            path.name, f"is no suite: name a folder with {HEADER_NAME}, that file, or a .json manifest"
        )
        return Header("", "")
    record = read_yaml(path, problems)
    if record is None:
        return Header("", "")
    if not isinstance(record, dict):
        problems.add(path.name, "must be a mapping of fields such as name and version")
        return Header("", "")
    return read_header(record, path.name, problems)


def _single_file_records(path: Path, problems: Problems) -> Records:
    document = read_json(path, problems)
    if document is None:
        return
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        problems.add(path.name, 'must be an object {"items": [...]}')
        return
    Fields(document, ("items",), path.name, problems)
    for index, record in enumerate(document["items"]):
        yield f"items[{index}]", record


class _ItemReader:
    """Turns records into items and keeps what rules about several items need."""

    def __init__(
        self, header: Header, folder: SuiteFolder, require_audio: bool, single_file: bool, problems: Problems
    ) -> None:
        self.items: list[Item] = []
        self.recordings: list[tuple[str, str]] = []
        self.seen = 0
        self._header, self._folder, self._require_audio = header, folder, require_audio
        self._single_file, self._problems = single_file, problems
        self._places: dict[str, str] = {}

    def read(self, place: str, record: Any) -> None:
        """Validate one record found at `place`."""
        self.seen += 1
        if not isinstance(record, dict):
            self._problems.add(place, "must be an object with the fields of one item")
            return
        identifier = record.get("id")
        valid = isinstance(identifier, str) and _ID.fullmatch(identifier)
        where = f"item {identifier} ({place})" if valid else place
        known = _SINGLE_FILE_ITEM_FIELDS if self._single_file else _ITEM_FIELDS
        fields = Fields(record, known, where, self._problems)
        if valid:
            self._check_unique(str(identifier), place, fields)
        else:
            fields.problem(
                "id must be 1 to 80 letters, digits, _ or -" if fields.given("id") else "id is missing"
            )
        audio = self._audio(fields)
        item = self._item(fields, str(identifier), audio or "")
        if audio is not None:
            self.recordings.append((where, audio))
        self.items.append(item)

    def _check_unique(self, identifier: str, place: str, fields: Fields) -> None:
        first = self._places.setdefault(identifier, place)
        if first != place:
            fields.problem(f"the id is taken by {first}; ids are unique")

    def _audio(self, fields: Fields) -> str | None:
        name = "wav" if self._single_file else "audio"
        path = fields.text(name)
        if path is None:
            if not fields.given(name):
                fields.problem(f"{name} is missing")
            return None
        normal, wrong = self._folder.check(path, self._require_audio)
        if wrong is not None:
            fields.problem(f"{name} {shown(path)} {wrong}")
        return normal

    def _item(self, fields: Fields, identifier: str, audio: str) -> Item:
        reference = fields.text("reference")
        if self._single_file:
            if not fields.given("reference"):
                fields.problem("reference is missing; give an empty one for a recording without speech")
            kind = ItemKind.SPEECH if (reference or "").strip() else ItemKind.NON_SPEECH
            shared = Shared(kind=kind)
        else:
            shared = read_shared(fields, self._header.axes)
        defaults = self._header.defaults
        kind = shared.kind or defaults.kind or ItemKind.SPEECH
        language = shared.language or defaults.language
        return Item(
            id=identifier,
            audio=audio,
            reference=self._reference(reference, kind, fields),
            kind=kind,
            reference_answer=self._answer(fields),
            fact=fields.texts("fact") or (),
            entities=self._entities(fields, reference or "", kind, language),
            language=language,
            scripts=defaults.scripts or () if shared.scripts is None else shared.scripts,
            session=shared.session or defaults.session,
            source=fields.code("source", _ID, _ID_EXAMPLE),
            conditions=self._conditions(shared, language, fields),
        )

    def _reference(self, reference: str | None, kind: ItemKind, fields: Fields) -> str:
        words = len((reference or "").split())
        if kind is ItemKind.NON_SPEECH:
            if words:
                fields.problem("reference must be empty for a non_speech item")
            return ""
        if not fields.given("reference"):
            fields.problem("reference is missing; an item without speech is of the kind non_speech")
        elif reference is not None and not words:
            fields.problem("reference is empty; an item without speech is of the kind non_speech")
        if words > MAX_REFERENCE_WORDS:
            fields.problem(
                f"reference has {words} words, more than {MAX_REFERENCE_WORDS}; split the recording"
            )
        return reference or ""

    def _entities(
        self, fields: Fields, reference: str, kind: ItemKind, language: str | None
    ) -> tuple[str, ...]:
        entities = fields.texts("entities") or ()
        if entities and kind is ItemKind.NON_SPEECH:
            fields.problem("entities must be left out for a non_speech item")
            return ()
        if not entities or not reference.strip():
            return entities
        # loads the numeral tables, which a suite without entities does without
        from misheard.text.phrases import contains_phrase, phrase_tokens

        said = phrase_tokens(reference, language)
        for place, entity in enumerate(entities):
            if not contains_phrase(said, phrase_tokens(entity, language)):
                fields.problem(f"entities[{place}] is not said in the reference; write it as it is there")
        return entities

    def _answer(self, fields: Fields) -> str | None:
        answer = fields.text("reference_answer")
        if answer is not None and not answer.strip():
            fields.problem("reference_answer is empty; leave it out where there is none")
        return answer

    def _conditions(self, shared: Shared, language: str | None, fields: Fields) -> Mapping[str, str]:
        conditions = {**self._header.defaults.conditions, **shared.conditions}
        values = self._header.axes.get("language")
        if values is not None and language is not None and "language" not in conditions:
            if language in values:
                conditions["language"] = language
            else:
                hint = suggestion(language, values)
                fields.problem(f"language {shown(language)} is no declared value of the axis language{hint}")
        return {axis: conditions[axis] for axis in self._header.axes if axis in conditions}
