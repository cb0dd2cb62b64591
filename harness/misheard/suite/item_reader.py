"""Turning the records of a manifest into items, with every rule about one item or about several."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from misheard.scenes.scene import Scene
from misheard.suite.fields import Fields
from misheard.suite.header import Header, Shared, read_shared
from misheard.suite.items import Item, ItemKind
from misheard.suite.paths import SuiteFolder
from misheard.suite.problems import Problems, shown

MAX_REFERENCE_WORDS = 2_000

ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
ID_EXAMPLE = "an id: 1 to 80 letters, digits, _ or -"
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
    "plan",
)
_SINGLE_FILE_ITEM_FIELDS = ("id", "wav", "reference")


@dataclass(frozen=True, slots=True)
class Recording:
    """A usable path: the id of its item, how messages call the item, and the path below the folder."""

    item: str
    where: str
    audio: str


class ItemReader:
    """Turns records into items and keeps what rules about several items need."""

    def __init__(
        self, header: Header, folder: SuiteFolder, require_audio: bool, single_file: bool, problems: Problems
    ) -> None:
        self.items: list[Item] = []
        self.recordings: list[Recording] = []
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
        valid = isinstance(identifier, str) and ID.fullmatch(identifier)
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
            self.recordings.append(Recording(str(identifier), where, audio))
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
            fact=self._fact(fields, language),
            entities=self._entities(fields, reference or "", kind, language),
            language=language,
            scripts=defaults.scripts or () if shared.scripts is None else shared.scripts,
            session=shared.session or defaults.session,
            source=fields.code("source", ID, ID_EXAMPLE),
            conditions=self._conditions(shared, language, fields),
            plan=self._plan(fields, kind),
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

    def _fact(self, fields: Fields, language: str | None) -> tuple[str, ...]:
        forms = fields.texts("fact") or ()
        if not forms:
            return ()
        # loads the numeral tables, which a suite without facts does without
        from misheard.text.phrases import phrase_tokens

        for place, form in enumerate(forms):
            if not phrase_tokens(form, language):
                fields.problem(f"fact[{place}] has no letter and no digit, so no answer can state it")
        return forms

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

    def _plan(self, fields: Fields, kind: ItemKind) -> Scene | None:
        value = fields.value("plan")
        if value is None:
            return None
        if kind is ItemKind.NON_SPEECH:
            fields.problem("plan must be left out for a non_speech item")
            return None
        # reads scenes, which a suite without plans does without
        from misheard.suite.golden_plan import read_golden_plan

        return read_golden_plan(value, fields)

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
                hint = fields.suggestion(language, values)
                fields.problem(f"language {shown(language)} is no declared value of the axis language{hint}")
        return {axis: conditions[axis] for axis in self._header.axes if axis in conditions}
