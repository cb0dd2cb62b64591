"""`suite.lock`: a fingerprint of every part of every item, of the header, the sets and the openings.

Two locks say what changed between two states of a suite (`misheard.suite.changes`) without its recordings and
without its text. Recordings are hashed as the bytes of their files: nothing is decoded.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misheard.audio.files import open_regular
from misheard.canonical import sha256_json, write_atomic
from misheard.errors import InputError
from misheard.suite.item_reader import ID
from misheard.suite.items import Item, Suite
from misheard.suite.manifest import load_whole
from misheard.suite.openings import read_openings
from misheard.suite.problems import Problems
from misheard.suite.selection import SetName
from misheard.suite.sidecars import sidecars
from misheard.suite.sources import parse_json, read_json
from misheard.suite.split import read_split

FORMAT, FORMAT_VERSION = "misheard-lock", 1

ASPECTS = ("audio", "reference", "answer", "entities", "conditions", "session", "labels")
"""The parts of every item that are fingerprinted apart."""

PLAN = "plan"
"""A part that only items with a golden plan have: items without one have the fingerprints of older locks."""

_ASPECT_OF_FIELD = {
    "reference": "reference",
    "reference_answer": "answer",
    "fact": "answer",
    "entities": "entities",
    "plan": PLAN,
    "conditions": "conditions",
    "session": "session",
}
"""Where the fields of an item's truth belong; all others are labels: kind, language, scripts, source."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Lock:
    """The state of a suite.

    Attributes:
        name, version: as the header gives them.
        header: what else of the header decides about scores, as JSON values; abstentions and glossary as
            hashes.
        split: seed, shares and rotation of the split; None where there is none.
        openings: the hashes of the entries of the log of openings.
        items: per item, the sha256 of each of `ASPECTS`, of `PLAN` where it has one, and its `set`. `audio`
            is None where the recording is not there, `set` where there is no split.
    """

    name: str
    version: str
    header: Mapping[str, Any]
    split: Mapping[str, Any] | None
    openings: tuple[str, ...]
    items: Mapping[str, Mapping[str, str | None]]

    def document(self) -> dict[str, Any]:
        """Return the lock as JSON values."""
        content = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "name": self.name,
            "version": self.version,
            "header": dict(self.header),
            "split": None if self.split is None else dict(self.split),
            "openings": list(self.openings),
            "items": {name: dict(item) for name, item in self.items.items()},
        }
        return {**content, "sha256": sha256_json(content)}

    def sha256(self) -> str:
        """Return the sha256 of all of it, which the file ends with."""
        return str(self.document()["sha256"])

    def content_sha256(self) -> str:
        """Return the sha256 of what is measured: all but the openings, of which every use adds one."""
        return sha256_json({**self.document(), "openings": None, "sha256": None})


def make_lock(path: Path, require_audio: bool = True) -> Lock:
    """Return the lock of a suite as it is.

    With `require_audio` False a recording that is not there has no hash. Raises SuiteError where the suite
    cannot be used, and InputError where its log of openings was edited.
    """
    suite, sets = load_whole(path, require_audio)
    beside = sidecars(path)
    items = {
        item.id: {
            **_aspects(item),
            "audio": _audio_sha256(suite, item),
            "set": None if sets is None else str(sets[item.id]),
        }
        for item in suite.items
    }
    return Lock(
        suite.name,
        suite.version,
        _header(suite),
        None if sets is None else _split(beside.split),
        tuple(entry.sha256 for entry in read_openings(beside.openings)),
        items,
    )


def _audio_sha256(suite: Suite, item: Item) -> str | None:
    try:
        with open_regular(suite.audio_path(item)) as file:
            digest = hashlib.sha256()
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            return digest.hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"item {item.id}: {item.audio} cannot be read: {error.strerror}") from error


def _aspects(item: Item) -> dict[str, str]:
    """Return the hash of each aspect of an item's truth; the id goes in, and sets equal texts apart."""
    parts: dict[str, dict[str, Any]] = {aspect: {} for aspect in ASPECTS if aspect != "audio"}
    for name, value in item.truth().items():
        if name != "id":
            parts.setdefault(_ASPECT_OF_FIELD.get(name, "labels"), {})[name] = value
    return {aspect: sha256_json([item.id, aspect, fields]) for aspect, fields in parts.items()}


def _header(suite: Suite) -> dict[str, Any]:
    header = suite.header()
    for name in ("name", "version"):
        del header[name]
    # "glossary" is left out of a header without one, as older locks have none.
    for name in {"abstentions", "glossary"} & header.keys():
        header[name] = {language: sha256_json([language, texts]) for language, texts in header[name].items()}
    header["char_scripts"] = header.get("char_scripts")
    header["languages"] = sorted({item.language for item in suite.items if item.language is not None})
    return header


def _split(path: Path) -> dict[str, Any]:
    split = read_split(path, Problems())
    if split is None:
        raise InputError(f"{path}: changed while it was read; try again")
    return {"seed": split.seed, "shares": dict(split.shares), "rotation": split.rotation}


def write_lock(path: Path, lock: Lock) -> None:
    """Replace a lock file, an item a line."""
    document = lock.document()
    items = document.pop("items")
    head = json.dumps(document, sort_keys=True, indent=1).removesuffix("\n}")
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(items[name], sort_keys=True)}" for name in sorted(items)
    )
    write_atomic(path, f'{head},\n "items": {{\n{lines}\n }}\n}}\n')


def read_lock(path: Path) -> Lock:
    """Read a lock file. Raises SuiteError with what is wrong with it."""
    problems = Problems()
    return _checked(read_json(path, problems), str(path), problems)


def parse_lock(raw: bytes, source: str) -> Lock:
    """Read a lock from bytes that messages call `source`. Raises SuiteError with what is wrong with it."""
    problems = Problems()
    return _checked(parse_json(raw, source, problems), source, problems)


def _checked(document: Any, source: str, problems: Problems) -> Lock:
    wrong = None if problems else _wrong(document)
    if wrong is not None:
        problems.add(Path(source).name, wrong)
    if problems:
        raise problems.error(source)
    return Lock(
        document["name"],
        document["version"],
        document["header"],
        document["split"],
        tuple(document["openings"]),
        document["items"],
    )


def _wrong(document: Any) -> str | None:
    """Return why a document is no lock; None where it is one."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return "was not written by misheard suite lock"
    if document.get("format_version") != FORMAT_VERSION:
        return f"is not of the version {FORMAT_VERSION} that this misheard reads"
    content = {name: value for name, value in document.items() if name != "sha256"}
    if document.get("sha256") != sha256_json(content):
        return "was edited or damaged; write it again with misheard suite lock"
    return None if _is_lock(document) else "lacks what a lock holds; write it again with misheard suite lock"


def _is_lock(document: Mapping[str, Any]) -> bool:
    """Whether a document has the types of a lock, for one whose checksum someone made fit."""
    header, split, openings, items = (document.get(key) for key in ("header", "split", "openings", "items"))
    return (
        isinstance(document.get("name"), str)
        and isinstance(document.get("version"), str)
        and isinstance(header, dict)
        and _is_header(header)
        and (split is None or (isinstance(split, dict) and type(split.get("rotation")) is int))
        and isinstance(openings, list)
        and all(_is_sha256(entry) for entry in openings)
        and isinstance(items, dict)
        and all(ID.fullmatch(name) and _is_item(item) for name, item in items.items())
    )


def _is_header(header: Mapping[str, Any]) -> bool:
    axes, scripts = header.get("axes"), header.get("char_scripts")
    return (
        isinstance(axes, dict)
        and all(_are_texts(values) for values in axes.values())
        and _are_texts(header.get("gate_axes"))
        and _are_texts(header.get("languages"))
        and (scripts is None or _are_texts(scripts))
        and all(
            isinstance(texts, dict) and _are_texts(list(texts.values()))
            for texts in (
                header.get("primary_metrics"),
                header.get("abstentions"),
                header.get("glossary", {}),
            )
        )
    )


def _is_item(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and set(item) - {PLAN} == {*ASPECTS, "set"}
        and (item["set"] is None or item["set"] in list(SetName))
        and all(
            _is_sha256(value) or (name == "audio" and value is None)
            for name, value in item.items()
            if name != "set"
        )
    )


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None
