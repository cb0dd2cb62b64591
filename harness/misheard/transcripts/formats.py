"""Which format a file has, and reading it.

The format is guessed from the name and, where that says nothing, from signs in the content that no plain text
has; `format` overrides the guess. To add a format, write a reader of a `Source` and add a line to `_READERS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from misheard.errors import InputError
from misheard.transcripts.source import STDIN, Role, Source, Utterances, display_name, read_text

DATASET = "dataset"
FOLDER = "folder"

_READERS = {
    "lines": "plain:read_lines",
    "trn": "plain:read_trn",
    "kaldi": "plain:read_kaldi",
    "csv": "delimited:read_csv",
    "tsv": "delimited:read_tsv",
    "jsonl": "jsonl:read_jsonl",
    "json": "json_document:read_json",
    "recording": "json_document:read_recording",
    "stm": "segments:read_stm",
    "ctm": "segments:read_ctm",
    "srt": "subtitles:read_srt",
    "vtt": "subtitles:read_vtt",
}
"""Module and function per format; modules are imported when a file needs them."""

FORMATS = (*_READERS, DATASET, FOLDER)

_SUFFIXES = {
    ".trn": "trn", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".stm": "stm", ".ctm": "ctm", ".srt": "srt", ".vtt": "vtt", ".arrow": DATASET, ".parquet": DATASET,
    ".kaldi": "kaldi",
}  # fmt: skip
_RECORDING_SUFFIXES = {".txt": "lines", ".json": "recording", ".srt": "srt", ".vtt": "vtt"}
_SIGN_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The transcripts of one file or folder.

    Attributes:
        name: the file as it was given.
        format: one of FORMATS.
        texts, ids, sessions, has_alternatives: as in `Utterances`.
    """

    name: str
    format: str
    texts: tuple[str, ...] = field(repr=False)
    ids: tuple[str, ...] | None = None
    sessions: tuple[str | None, ...] | None = None
    has_alternatives: bool = False


def read_transcripts(
    place: str, role: Role = "reference", format: str | None = None, fields: Mapping[str, str] | None = None
) -> Transcripts:
    """Return the transcripts of a file, a folder, or standard input (`-`).

    Args:
        place: the path, or `-`.
        role: whether it holds references or hypotheses; decides which of several text fields is read.
        format: one of FORMATS; guessed where None.
        fields: names of the fields `text` and `id`, for formats with columns or keys.

    Raises:
        InputError: naming file, line and what is wrong; never with text of a transcript.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format {format!r} is not known; use one of: {', '.join(FORMATS)}")
    path, given = Path(place), fields or {}
    if place != STDIN and (path.is_dir() or format in (DATASET, FOLDER) or _named(path) == DATASET):
        chosen, found = _read_folder(path, role, format, given)
    else:
        text = read_text(place)
        chosen = format or (_named(path) if place != STDIN else None) or _signed(text)
        found = _reader(chosen)(Source(display_name(place), text, role, given))
    return Transcripts(
        name=display_name(place),
        format=chosen,
        texts=tuple(found.texts),
        ids=None if found.ids is None else tuple(found.ids),
        sessions=None if found.sessions is None else tuple(found.sessions),
        has_alternatives=found.has_alternatives,
    )


def _reader(format: str) -> Callable[[Source], Utterances]:
    module, _, function = _READERS[format].partition(":")
    reader: Callable[[Source], Utterances] = getattr(
        import_module(f"misheard.transcripts.{module}"), function
    )
    return reader


def _named(path: Path) -> str | None:
    """Return the format that a file's name says; Kaldi's file is called `text`."""
    return "kaldi" if path.name == "text" else _SUFFIXES.get(path.suffix.lower())


def _signed(text: str) -> str:
    """Return the format that the content shows, `lines` where it shows none."""
    start = text[:_SIGN_BYTES].lstrip()
    if start.startswith("WEBVTT"):
        return "vtt"
    if start.startswith(("{", "[")):
        return _json_format(text, start)
    if " --> " in start and import_module("misheard.transcripts.subtitles").looks_like_srt(text):
        return "srt"
    first = start.partition("\n")[0].rstrip()
    if first.endswith(")") and import_module("misheard.transcripts.plain").looks_like_trn(text):
        return "trn"
    return "lines"


def _json_format(text: str, start: str) -> str:
    """Tell JSON from JSON Lines and from a line of text that begins with a brace."""
    from json import JSONDecodeError, loads

    first = start.partition("\n")[0]
    for candidate, format in ((first, "jsonl"), (text, "json")):
        try:
            value = loads(candidate)
        except (JSONDecodeError, RecursionError, ValueError):
            continue
        if isinstance(value, dict) and (format == "json" or text.strip() != first.strip()):
            return format
        if isinstance(value, dict | list) and value:
            return "json"
    return "lines"


def _read_folder(
    path: Path, role: Role, format: str | None, fields: Mapping[str, str]
) -> tuple[str, Utterances]:
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    arrow = import_module("misheard.transcripts.arrow")
    if format == DATASET or (format is None and (path.is_file() or arrow.is_dataset(path))):
        return DATASET, arrow.read_dataset(path, role, fields)
    if format in ("kaldi", None) and (path / "text").is_file():
        return "kaldi", _reader("kaldi")(
            Source(str(path / "text"), read_text(str(path / "text")), role, fields)
        )
    if format not in (FOLDER, None) or not path.is_dir():
        raise InputError(f"{path}: cannot be read as {format}")
    return FOLDER, _recordings(path, role, fields)


def _recordings(path: Path, role: Role, fields: Mapping[str, str]) -> Utterances:
    """Read a folder with one file per recording; the file's stem is the id."""
    files = sorted(f for f in path.iterdir() if f.suffix.lower() in _RECORDING_SUFFIXES and f.is_file())
    if not files:
        raise InputError(f"{path}: holds no file of transcripts ({', '.join(_RECORDING_SUFFIXES)})")
    ids = [file.stem for file in files]
    Source(str(path), "").check_unique(ids)
    texts = []
    for file in files:
        source = Source(str(file), read_text(str(file)), role, fields)
        texts.append(" ".join(_reader(_RECORDING_SUFFIXES[file.suffix.lower()])(source).texts))
    return Utterances(texts, ids)
