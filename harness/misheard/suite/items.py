"""Items and suites as immutable values, already validated (see `misheard.suite.manifest`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_json


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
        language: BCP-47 tag such as `en`, or None where the suite does not say.
        scripts: ISO 15924 codes that a transcript may use, e.g. `("Latn",)`; empty where not declared.
        session: recordings that share a speaker, microphone and room; None where not given.
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
        """Return everything of the item but its audio path as JSON values: what a fingerprint covers."""
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
    """

    name: str
    version: str
    root: Path
    axes: Mapping[str, tuple[str, ...]]
    items: tuple[Item, ...]
    primary_metrics: Mapping[str, str] = field(default_factory=dict)
    abstentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gate_axes: tuple[str, ...] = ()

    def audio_path(self, item: Item) -> Path:
        """Return where the item's recording lies."""
        return self.root / item.audio

    def header(self) -> dict[str, Any]:
        """Return everything of the suite but its items and place as JSON values, for fingerprints."""
        return {
            "name": self.name,
            "version": self.version,
            "axes": {axis: list(values) for axis, values in self.axes.items()},
            "primary_metrics": dict(self.primary_metrics),
            "abstentions": {language: list(phrases) for language, phrases in self.abstentions.items()},
            "gate_axes": list(self.gate_axes),
        }
