"""Making a suite of a source: read, check, take the recordings, write the canonical form whole or not at all.

The new folder holds `suite.yaml`, `items.jsonl`, `audio/`, `ids.csv` (the source's id and the suite's, per
item) and `import.json`, the record of what was done.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from misheard.canonical import write_atomic, write_json
from misheard.errors import InputError
from misheard.suite.fields import LANGUAGE
from misheard.suite.importers.checks import Broken, RowChecker, Usable
from misheard.suite.importers.files import SourceFiles
from misheard.suite.importers.formats import FORMATS, Guess, guess_format, read_source
from misheard.suite.importers.ids import distinct_names, suite_ids
from misheard.suite.importers.locate import Folders
from misheard.suite.importers.notes import IDS_NAME, import_notes
from misheard.suite.importers.record import RECORD_NAME
from misheard.suite.importers.recordings import AudioMode, Gathered, gather
from misheard.suite.importers.rows import Found, Request
from misheard.suite.items import Item, ItemKind, Suite
from misheard.suite.manifest import HEADER_NAME, ITEMS_NAME, Progress, load_suite
from misheard.suite.problems import Problems, shown
from misheard.suite.sidecars import refuse_divided
from misheard.suite.writing import items_jsonl, name_for, new_folder, suite_yaml

MAX_CONDITION_VALUES = 200

_AXIS = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What to import, and how.

    Attributes:
        source, destination: the file or folder of another tool, and the folder to make.
        format: one of `FORMATS`; guessed where None.
        columns: column per target; None for a target that must not be read.
        conditions: column per condition axis.
        audio: whether recordings that are taken whole are copied or hard-linked.
        audio_root: a folder outside the source that recordings may lie in.
        name, version: of the suite; the name is the destination's where None.
        language: of rows that give none.
        annotations: whether annotations such as `<s>` and `[noise]` stay in references.
        skip_broken: whether rows that make no item are left out and listed, instead of being an error.
        empty_is_non_speech: whether an empty reference makes a non-speech item in every format.
    """

    source: Path
    destination: Path
    format: str | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    audio: AudioMode = "copy"
    audio_root: Path | None = None
    name: str | None = None
    version: str = "1"
    language: str | None = None
    annotations: Literal["keep", "remove"] = "keep"
    skip_broken: bool = False
    empty_is_non_speech: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Attributes:
        suite: the new suite.
        guess: the format, the path it was read from, and why it was taken for that.
        found: what the reader found.
        broken: the rows that were left out.
        files, clips: recordings taken whole, and clips that were cut out of others.
        notes: what else the user should know.
    """

    suite: Suite
    guess: Guess
    found: Found
    broken: tuple[Broken, ...]
    files: int
    clips: int
    notes: tuple[str, ...]


def import_suite(options: ImportOptions, progress: Progress) -> Imported:
    """Make a suite of a source.

    Raises InputError for a source or options that cannot be used, SuiteError with every row that makes no
    item unless `skip_broken`, and BackendError where soundfile is not installed.
    """
    _check_options(options)
    guess = _guess(options)
    for place in (options.source, guess.path):
        refuse_divided(place)
    files = SourceFiles()
    progress.begin(f"reading {options.source.name}", None)
    found = read_source(guess, Request(files, options.columns, options.conditions, options.audio_root))
    checker = RowChecker(
        Folders(found.folders, options.audio_root),
        options.language,
        options.empty_is_non_speech or found.empty_is_non_speech,
        options.annotations == "remove",
    )
    usable, broken = checker.check(found.rows)
    _refuse(options, broken, len(usable))
    names = distinct_names([u.row.name for u in usable], [u.row.named for u in usable])
    ids = suite_ids(names)
    with new_folder(options.destination) as folder:
        progress.begin("checking and taking recordings", len(usable))
        gathered = gather(usable, ids, folder, options.audio, progress.advance)
        broken += gathered.broken
        _refuse(options, broken, len(gathered.audio))
        written = _suite(options, usable, ids, gathered)
        write_atomic(folder / HEADER_NAME, suite_yaml(written))
        write_atomic(folder / ITEMS_NAME, items_jsonl(written.items))
        suite = replace(load_suite(folder), root=options.destination)
        kept = [(names[place], ids[place]) for place in sorted(gathered.audio)]
        write_atomic(folder / IDS_NAME, _ids_csv(kept))
        taken = [usable[place] for place in sorted(gathered.audio)]
        notes = tuple(import_notes(found, options.columns, taken, kept, checker.renamed_sessions, suite))
        if options.audio == "link":
            notes += ("recordings are hard links: whoever edits the source's files edits the suite's",)
        imported = Imported(suite, guess, found, tuple(broken), gathered.files, gathered.clips, notes)
        write_json(folder / RECORD_NAME, _record(options, imported, files))
    return imported


def _check_options(options: ImportOptions) -> None:
    if options.format is not None and options.format not in FORMATS:
        raise InputError(f"--format {options.format!a} is not known; use one of: {', '.join(FORMATS)}")
    for axis in options.conditions:
        if not _AXIS.fullmatch(axis):
            raise InputError(f"--condition {shown(axis)}: use lower-case letters, digits and _ for the axis")
    if "language" in options.conditions:
        raise InputError("--condition language: items take it from their language; use --map language=COLUMN")
    if options.language is not None and not LANGUAGE.fullmatch(options.language):
        raise InputError(f"--language {shown(options.language)} is no tag such as en")
    if options.audio_root is not None and not options.audio_root.is_dir():
        raise InputError(f"--audio-root {options.audio_root}: is no folder")
    name_for(options.destination, options.name)
    if not options.version.strip() or len(options.version) > 80 or not options.version.isprintable():
        raise InputError("--version must be one line of 1 to 80 characters")


def _guess(options: ImportOptions) -> Guess:
    if options.format is None:
        return guess_format(options.source)
    if not options.source.exists():
        raise InputError(f"{options.source}: there is no such file or folder")
    return Guess(options.format, options.source, "--format says so")


def _refuse(options: ImportOptions, broken: Sequence[Broken], usable: int) -> None:
    """Raise SuiteError with all broken rows, unless they are to be skipped and others remain."""
    if not broken and not usable:
        raise InputError(f"{options.source}: holds no utterances")
    if not broken or (options.skip_broken and usable):
        return
    problems = Problems()
    for row in broken:
        problems.add(row.where, row.why)
    others = "row" if usable == 1 else f"{usable} rows"
    advice = f" (--skip-broken imports the other {others} and lists these)" if usable else ""
    raise problems.error(f"{options.source}{advice}")


def _suite(options: ImportOptions, usable: Sequence[Usable], ids: Sequence[str], gathered: Gathered) -> Suite:
    items = tuple(
        Item(
            id=ids[place],
            audio=gathered.audio[place],
            reference=usable[place].reference,
            kind=ItemKind.SPEECH if usable[place].is_speech else ItemKind.NON_SPEECH,
            reference_answer=usable[place].row.answer if usable[place].is_speech else None,
            language=usable[place].language,
            session=usable[place].session,
            conditions=usable[place].conditions,
        )
        for place in sorted(gathered.audio)
    )
    axes = {axis: {i.conditions[axis] for i in items if axis in i.conditions} for axis in options.conditions}
    languages = {item.language for item in items if item.language is not None}
    if languages and "language" not in axes:
        axes = {"language": languages, **axes}
    for axis, values in axes.items():
        if len(values) > MAX_CONDITION_VALUES:
            raise InputError(
                f"the condition {axis} has {len(values)} values, more than {MAX_CONDITION_VALUES}; "
                "choose a column with fewer"
            )
    return Suite(
        name=name_for(options.destination, options.name),
        version=options.version,
        root=options.destination,
        axes={axis: tuple(sorted(values, key=_natural)) for axis, values in axes.items() if values},
        items=items,
    )


def _natural(value: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort 5dB before 15dB."""
    parts = re.findall(r"[0-9]+|[^0-9]+", value)
    return [(0, int(p), "") if p.isascii() and p.isdigit() else (1, 0, p) for p in parts], value


def _ids_csv(kept: Sequence[tuple[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("source_id", "id"))
    writer.writerows(kept)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _record(options: ImportOptions, imported: Imported, files: SourceFiles) -> dict[str, Any]:
    import misheard

    items = imported.suite.items
    return {
        "misheard": misheard.__version__,
        "source": str(options.source),
        "format": imported.guess.format,
        "format_because": imported.guess.why,
        "source_sha256": files.sha256,
        "options": {
            "columns": dict(options.columns),
            "conditions": dict(options.conditions),
            "audio": options.audio,
            "audio_root": None if options.audio_root is None else str(options.audio_root),
            "language": options.language,
            "annotations": options.annotations,
            "skip_broken": options.skip_broken,
            "empty_is_non_speech": options.empty_is_non_speech,
        },
        "columns": dict(imported.found.columns),
        "unused_columns": list(imported.found.unused),
        "counts": {
            "rows": len(imported.found.rows),
            "items": len(items),
            "speech": sum(item.is_speech for item in items),
            "skipped": len(imported.broken),
            "recordings": imported.files,
            "clips": imported.clips,
        },
        "notes": list(imported.notes),
        "skipped": [{"where": b.where, "id": b.source_id, "why": b.why} for b in imported.broken],
    }
