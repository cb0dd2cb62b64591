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
    glossary: {en: [Kubernetes]}       # optional: terms that a corrector may be told of, per language

`items.jsonl`, one object a line:

    {"id": "q01", "audio": "clips/q01.flac", "reference": "what is two plus two",
     "reference_answer": "Four.", "fact": ["4", "four"], "entities": ["two"], "session": "anna-kitchen"}
    {"id": "b01", "audio": "clips/b01.flac", "reference": "draw login and connect it to database",
     "plan": {"shapes": [{"id": "a", "kind": "box", "label": "login"},
                         {"id": "b", "kind": "box", "label": "database"}],
              "connections": [{"from": "a", "to": "b"}]}}
    {"id": "n01", "audio": "clips/hum.flac", "kind": "non_speech", "conditions": {"noise": "15dB"}}

`id` and `audio` are required, `reference` too for speech (the kind that is meant where none is given).
`kind`, `language`, `scripts`, `session` and `conditions` override the defaults, conditions axis by axis. An
item takes the condition `language` from its language where that axis is declared and it gives none itself.

The other form is one JSON file, `{"items": [{"id", "wav", "reference"}]}`: paths are relative to it, an empty
reference makes a non-speech item, its name is the suite's, and the version is 1.

Every rule that is broken is listed, in one SuiteError. Messages never repeat references, answers, facts or
labels.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from misheard.failures import ItemFailedError
from misheard.suite.fields import Fields
from misheard.suite.header import Header, read_header
from misheard.suite.item_reader import ItemReader, Recording
from misheard.suite.items import Item, Suite
from misheard.suite.paths import SuiteFolder
from misheard.suite.primary import check_primary
from misheard.suite.problems import Problems
from misheard.suite.selection import SETS_OF_SUBSET, OpenSubset, Selection, SetName
from misheard.suite.sidecars import is_there, sidecars
from misheard.suite.sources import read_json, read_json_lines, read_yaml
from misheard.suite.split import Split, assign, note_misfits, read_split

HEADER_NAME, ITEMS_NAME = "suite.yaml", "items.jsonl"

_NOT_SPLIT = "it is not split (misheard suite split)"

Records = Iterable[tuple[str, Any]]


def load_suite(path: Path, require_audio: bool = True, subset: OpenSubset = "open") -> Suite:
    """Load a suite from its folder, its `suite.yaml` or a single JSON file; no recording is decoded.

    Of a suite that is split only the sets of `subset` are loaded, never the sealed holdout
    (`misheard.suite.holdout` opens it); `Suite.selection` counts what is left out. With `require_audio` False
    a recording that does not exist is no problem (a path that leaves the folder is).

    Raises SuiteError with every problem.
    """
    return _read(path, require_audio).suite(subset)


def load_sealed(path: Path, require_audio: bool = True) -> Suite:
    """Load the holdout alone, for `misheard.suite.holdout`, which asks for an opening first."""
    return _read(path, require_audio).suite("holdout")


def load_whole(path: Path, require_audio: bool = True) -> tuple[Suite, Mapping[str, SetName] | None]:
    """Load every item, sealed ones too, with its set: for the modules that split and lock suites.

    They read ids, sessions, conditions and hashes, and decode nothing. There is no mapping where there is no
    split. Raises SuiteError with every problem.
    """
    draft = _read(path, require_audio)
    return draft.whole(), draft.sets


def load_undivided(path: Path) -> tuple[Suite, Split | None]:
    """Load every item and the split, whether they fit together or not: for the module that mends splits.

    Raises SuiteError with every other problem.
    """
    draft = _read(path, require_audio=True, fit=False)
    return draft.whole(), draft.split


class Progress(Protocol):
    """Is told how far checking is: `begin` opens a phase of `total` steps, `advance` counts them."""

    def begin(self, phase: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


def validate_suite(path: Path, progress: Progress | None = None) -> Suite:
    """Load a suite and decode every recording to its end, but those of sealed items.

    Raises SuiteError with every problem of manifest and recordings, and BackendError where soundfile is not
    installed.
    """
    from misheard.audio.decode import check

    draft = _read(path, require_audio=True)
    recordings = [recording for recording in draft.recordings if not draft.is_sealed(recording.item)]
    if progress is not None:
        progress.begin("checking recordings", len(recordings))
    for recording in recordings:
        try:
            check(draft.root / recording.audio)
        except ItemFailedError as error:
            draft.problems.add(recording.where, f"{error.kind}: {error.detail}")
        if progress is not None:
            progress.advance()
    return draft.suite("unsealed")


@dataclass(frozen=True, slots=True)
class _Draft:
    """What could be read of a suite: all items, their sets where it is split, and every problem.

    `sets` is None for a suite without a split. It lacks items of which the split does not say where they
    belong, and is empty where the split cannot be read.
    """

    source: str
    root: Path
    header: Header
    items: list[Item]
    recordings: list[Recording]
    split: Split | None
    sets: Mapping[str, SetName] | None
    problems: Problems

    def is_sealed(self, item: str) -> bool:
        """Whether an item is sealed. One that is in no known set may be."""
        return self.sets is not None and self.sets.get(item, SetName.HOLDOUT) is SetName.HOLDOUT

    def whole(self) -> Suite:
        """Return the suite with all items. Raises SuiteError where there are problems."""
        if self.problems:
            raise self.problems.error(self.source)
        return self.everything()

    def everything(self) -> Suite:
        """Return all items as far as they could be read, problems or not."""
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
            glossary=self.header.glossary,
        )

    def suite(self, subset: str) -> Suite:
        """Return the suite with the items of a subset. Raises SuiteError where there are problems."""
        whole = self.whole()
        if self.split is None or self.sets is None:
            if subset not in ("open", "unsealed"):
                self.problems.add(Path(self.source).name, f"has no {subset} set: {_NOT_SPLIT}")
                raise self.problems.error(self.source)
            return whole
        sets = self.sets
        kept = [item for item in whole.items if sets[item.id] in SETS_OF_SUBSET[subset]]
        if not kept:
            self.problems.add(Path(self.source).name, f"no item of the suite is in the subset {subset}")
            raise self.problems.error(self.source)
        counts = Counter(sets.values())
        selection = Selection(
            subset,
            self.split.rotation,
            {name: counts[name] for name in SetName},
            {i.id: sets[i.id] for i in whole.items if sets[i.id] not in SETS_OF_SUBSET[subset]},
        )
        return dataclasses.replace(whole, items=tuple(kept), selection=selection)


def _read(path: Path, require_audio: bool, *, fit: bool = True) -> _Draft:
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
    split, sets = _read_split(path, reader.items, problems, fit=fit)
    check_primary(header, reader.items, HEADER_NAME, problems)
    return _Draft(str(path), root, header, reader.items, reader.recordings, split, sets, problems)


def _read_split(
    path: Path, items: Sequence[Item], problems: Problems, *, fit: bool
) -> tuple[Split | None, Mapping[str, SetName] | None]:
    """Return the suite's split, where it has one, and the set of every item (see `_Draft`)."""
    beside = sidecars(path)
    if not is_there(beside.split):
        if is_there(beside.openings):
            problems.add(beside.openings.name, f"is here, but {beside.split.name} is gone; bring it back")
            return None, {}
        return None, None
    split = read_split(beside.split, problems)
    if split is None:
        return None, {}
    assignment = assign(split, items)
    if fit and not problems:
        note_misfits(assignment, beside.split.name, problems)
    return split, assignment.sets


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
