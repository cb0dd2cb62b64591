"""The formats of sources, and which one a source has."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from misheard.command_lines import path_argument
from misheard.errors import InputError
from misheard.suite.importers.files import peek
from misheard.suite.importers.rows import Found, Request
from misheard.transcripts.source import refuse_spreadsheet

_READERS = {
    "json": ("tables:read_document", '{"items": [{"id", "wav", "reference"}]}'),
    "csv": ("tables:read_csv", "a header and a row per utterance"),
    "tsv": ("tables:read_tsv", "the same with tabs, such as Common Voice"),
    "nemo": ("tables:read_json_lines", "a NeMo manifest"),
    "jsonl": ("tables:read_json_lines", "any object a line"),
    "kaldi": ("kaldi:read", "a data folder with wav.scp and text"),
    "trn": ("trn:read", "sclite's trn beside the recordings"),
    "audiofolder": ("audiofolder:read", "Hugging Face: metadata.csv or .jsonl beside the recordings"),
    "dataset": ("dataset:read", "Hugging Face: save_to_disk, .arrow or .parquet"),
    "lhotse": ("lhotse:read", "cuts, or recordings and supervisions"),
}
"""Module and function, and what it is, per format; modules are imported when a source needs them."""

FORMATS = tuple(_READERS)

_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".trn": "trn", ".arrow": "dataset", ".parquet": "dataset"}
_TEXT_SUFFIXES = (".json", ".csv", ".tsv", ".trn", ".jsonl", ".jsonl.gz", ".ndjson", ".parquet", ".arrow")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".7z", ".rar")
_PEEK_BYTES = 1 << 20
_MAX_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Guess:
    """A format that a source may have, the path to read it from, and why."""

    format: str
    path: Path
    why: str


def read_source(guess: Guess, request: Request) -> Found:
    """Read a source. Raises InputError for what cannot be read as its format."""
    module, _, function = _READERS[guess.format][0].partition(":")
    reader: Callable[[Path, Request], Found] = getattr(
        import_module(f"misheard.suite.importers.{module}"), function
    )
    return reader(guess.path, request)


def guess_format(path: Path) -> Guess:
    """Return the one format that a source can have.

    Raises InputError where it can have none, or several, listing them.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    refuse_spreadsheet(path)
    if path.name.lower().endswith(_ARCHIVES):
        raise InputError(f"{path}: is an archive; unpack it and name the folder")
    candidates = _folder_guesses(path) if path.is_dir() else _file_guesses(path)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        for file in sorted(path.iterdir()) if path.is_dir() else ():
            refuse_spreadsheet(file)
        known = "; ".join(f"{name}: {what}" for name, (_, what) in _READERS.items())
        raise InputError(f"{path}: its format cannot be told; say --format ({known})")
    listed = [f"\n  --format {c.format} {c.path}: {c.why}" for c in candidates[:_MAX_CANDIDATES]]
    more = len(candidates) - len(listed)
    rest = f"\n  and {more} more" if more > 0 else ""
    raise InputError(f"{path}: may be read in several ways; say which:{''.join(listed)}{rest}")


def _folder_guesses(path: Path) -> list[Guess]:
    if (path / "suite.yaml").is_file():
        raise InputError(
            f"{path}: is a suite already; check it with: misheard suite validate {path_argument(path)}"
        )
    has_manifests: Callable[[Path], bool] = import_module("misheard.suite.importers.lhotse").has_manifests
    signs = {
        "dataset": [n for n in ("state.json", "dataset_dict.json") if (path / n).is_file()],
        "kaldi": ["wav.scp"] if (path / "wav.scp").is_file() else [],
        "audiofolder": [n for n in ("metadata.csv", "metadata.jsonl") if (path / n).is_file()],
        "lhotse": ["cuts, or recordings and supervisions"] if has_manifests(path) else [],
    }
    found = [
        Guess(name, path, f"the folder holds {present[0]}") for name, present in signs.items() if present
    ]
    if found:
        return found
    splits = [*path.glob("*/metadata.csv"), *path.glob("*/metadata.jsonl")]
    if splits:
        return [Guess("audiofolder", s.parent, f"the folder holds {s.name}") for s in sorted(splits)]
    files = sorted(f for f in path.iterdir() if f.name.lower().endswith(_TEXT_SUFFIXES) and f.is_file())
    return [guess for file in files for guess in _file_guesses(file)]


def _file_guesses(path: Path) -> list[Guess]:
    name = path.name.lower()
    named = _SUFFIXES.get(path.suffix.lower())
    if named is not None:
        return [Guess(named, path, f"its name ends in {path.suffix}")]
    if name == "wav.scp":
        return [Guess("kaldi", path.parent, "its folder holds wav.scp")]
    start = peek(path, _PEEK_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    first, _, rest = start.partition(b"\n")
    keys = _keys(first)
    if keys is not None and (rest.strip() or "items" not in keys):
        return [_lines_guess(path, keys)]
    if keys is not None or (name.endswith(".json") and start[:1] in (b"{", b"[")):
        return [Guess("json", path, "it is one JSON document")]
    return []


def _lines_guess(path: Path, keys: set[str]) -> Guess:
    if "audio_filepath" in keys:
        return Guess("nemo", path, "its lines have audio_filepath")
    if "recording" in keys or ("supervisions" in keys and "start" in keys):
        return Guess("lhotse", path, "its lines are cuts with a recording or supervisions")
    return Guess("jsonl", path, "its lines are objects")


def _keys(line: bytes) -> set[str] | None:
    """Return the keys of a line that is a JSON object, None for other lines."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return set(value) if isinstance(value, dict) else None
