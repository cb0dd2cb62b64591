"""Items and suites as immutable values, already validated (see `misheard.suite.manifest`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_json
from misheard.scenes.scene import Scene
from misheard.suite.selection import Selection


class ItemKind(StrEnum):
    """Whether an item's recording holds speech."""

    SPEECH = "speech"
    NON_SPEECH = "non_speech"


@dataclass(frozen=True, slots=True)
class Item:
    """One recording with its truth.

    Attributes:
        id: unique in the suite, `[A-Za-z0-9_-]{1,80}`.
        audio: path of the recording, relative to the manifest's folder, with `/` separators.
        reference: the human transcript; empty exactly for non-speech items.
        kind: speech or non-speech.
        reference_answer: the human answer to the spoken question, where the suite has questions.
        fact: accepted forms of the one fact that a correct answer states; empty where there is none.
        entities: names, numbers and terms of the reference that a transcript must keep; empty where none are
            listed.
        language: BCP-47 tag such as `en`, or None where the suite does not say.
        scripts: ISO 15924 codes that a transcript may use, e.g. `("Latn",)`; empty where not declared.
        session: recordings that share a speaker, microphone and room; None where not given.
        plan: the golden scene plan: what the board should show; None where the suite has none.
        source: the id of the item that this one was derived from (`misheard suite mix`); None for recordings.
        conditions: value per declared axis, `language` among them where it is known.
    """

    id: str
    audio: str
    reference: str
    kind: ItemKind = ItemKind.SPEECH
    reference_answer: str | None = None
    fact: tuple[str, ...] = ()
    language: str | None = None
    scripts: tuple[str, ...] = ()
    session: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    source: str | None = None
    plan: Scene | None = None

    @property
    def is_speech(self) -> bool:
        """Whether the recording holds speech."""
        return self.kind is ItemKind.SPEECH

    @property
    def resampling_unit(self) -> str:
        """The unit that statistics resample: the session, or the item itself where none is given.

        The two are kept in namespaces of their own, so that an item called like a session does not join it.
        """
        return f"session:{self.session}" if self.session is not None else f"item:{self.id}"

    def truth(self) -> dict[str, Any]:
        """Return everything of the item but its audio path as JSON values: what a fingerprint covers.

        Fields that came later are left out where they are empty, so that older fingerprints hold.
        """
        later: dict[str, Any] = {"entities": list(self.entities)} if self.entities else {}
        if self.source is not None:
            later["source"] = self.source
        if self.plan is not None:
            later["plan"] = self.plan.as_json()
        return {
            "id": self.id,
            "reference": self.reference,
            "kind": str(self.kind),
            "reference_answer": self.reference_answer,
            "fact": list(self.fact),
            "language": self.language,
            "scripts": list(self.scripts),
            "session": self.session,
            "conditions": dict(self.conditions),
            **later,
        }

    def truth_sha256(self) -> str:
        """Return the sha256 of the item's truth."""
        return sha256_json(self.truth())


@dataclass(frozen=True, slots=True)
class Suite:
    """An immutable list of items with what they share.

    Attributes:
        name, version: as the manifest gives them.
        root: the manifest's folder; every audio path is relative to it.
        axes: the declared values of each condition axis, in declared order; cells are shown for all of them.
        items: in manifest order.
        primary_metrics: the metric that decides, per language.
        abstentions: phrases by which an answer says that it does not know, per language.
        gate_axes: the axes whose every slice a release decision looks at.
        char_scripts: ISO 15924 codes of the scripts that mixed tokens count by character; None for the usual
            ones (see `misheard.text.tokenisers`).
        glossary: terms that a corrector may be told of, per language; not taken from the references.
        selection: which part of a split suite the items are; None for a suite without a split. It is no part
            of what is true, and suites with the same items are equal.
    """

    name: str
    version: str
    root: Path
    axes: Mapping[str, tuple[str, ...]]
    items: tuple[Item, ...]
    primary_metrics: Mapping[str, str] = field(default_factory=dict)
    abstentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gate_axes: tuple[str, ...] = ()
    char_scripts: tuple[str, ...] | None = None
    glossary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    selection: Selection | None = field(default=None, compare=False)

    def audio_path(self, item: Item) -> Path:
        """Return where the item's recording lies."""
        return self.root / item.audio

    def header(self) -> dict[str, Any]:
        """Return everything of the suite but its items and place as JSON values, for fingerprints.

        A field that came later is left out where it is not given, so that older fingerprints hold.
        """
        later: dict[str, Any] = {}
        if self.char_scripts is not None:
            later["char_scripts"] = list(self.char_scripts)
        if self.glossary:
            later["glossary"] = {language: list(terms) for language, terms in self.glossary.items()}
        return {
            "name": self.name,
            "version": self.version,
            "axes": {axis: list(values) for axis, values in self.axes.items()},
            "primary_metrics": dict(self.primary_metrics),
            "abstentions": {language: list(phrases) for language, phrases in self.abstentions.items()},
            "gate_axes": list(self.gate_axes),
            **later,
        }
