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

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from misheard.failures import ItemFailedError
from misheard.suite.fields import Fields
from misheard.suite.header import Header, read_header
from misheard.suite.item_reader import ItemReader
from misheard.suite.items import Item, Suite
from misheard.suite.paths import SuiteFolder
from misheard.suite.primary import check_primary
from misheard.suite.problems import Problems
from misheard.suite.sources import read_json, read_json_lines, read_yaml

HEADER_NAME, ITEMS_NAME = "suite.yaml", "items.jsonl"

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
    reader = ItemReader(header, SuiteFolder(root), require_audio, single_file, problems)
    for where, record in records:
        reader.read(where, record)
    if not reader.seen and not problems:
        problems.add(path.name, "the suite has no items")
    check_primary(header, reader.items, HEADER_NAME, problems)
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
