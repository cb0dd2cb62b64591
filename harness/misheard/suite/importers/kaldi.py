"""Kaldi data folders: `wav.scp`, `text`, and where they are there `segments`, `utt2spk`, `utt2lang`.

Every file has an id first on each line (https://kaldi-asr.org/doc/data_prep.html). Nothing is ever run: a
`wav.scp` entry that is a command is refused by name.
"""

import math
from collections.abc import Mapping
from pathlib import Path

from misheard.errors import InputError
from misheard.suite.importers.rows import Clip, Found, Request, Row
from misheard.suite.problems import shown
from misheard.transcripts.plain import read_kaldi
from misheard.transcripts.source import Source

_COMMAND = "its recording is a command in wav.scp, and none is run; write its output to a file and name that"


def read(path: Path, request: Request) -> Found:
    """Read a data folder. Utterances without a recording, and recordings without a text, are rows too."""
    if request.columns or request.conditions:
        raise InputError(f"{path}: a Kaldi folder has no columns for --map and --condition")
    for name in ("wav.scp", "text"):
        if not (path / name).is_file():
            raise InputError(f"{path}: is no Kaldi data folder, because it has no file {name}")
    recordings, texts = _table(path / "wav.scp", request), _table(path / "text", request)
    segments = _optional(path, "segments", request)
    speakers, languages = _optional(path, "utt2spk", request), _optional(path, "utt2lang", request)
    spoken = recordings if segments is None else segments
    rows = []
    for utterance in [*texts, *(name for name in spoken if name not in texts)]:
        audio, clip, wrong = _recording(utterance, recordings, segments)
        rows.append(
            Row(
                where=f"utterance {shown(utterance)}",
                name=utterance,
                audio=audio,
                text=texts.get(utterance),
                clip=clip,
                session=(speakers or {}).get(utterance),
                language=(languages or {}).get(utterance),
                wrong=wrong,
            )
        )
    notes = [] if speakers is not None else ["no utt2spk, so no sessions: statistics resample items"]
    return Found(rows=rows, folders=[path], notes=notes)


def _table(path: Path, request: Request) -> dict[str, str]:
    """Return the rest of each line by the id that it begins with."""
    source = request.files.text(path)
    lines = "".join(f"{line}\n" for line in source.lines() if line.strip())
    found = read_kaldi(Source(source.name, lines))
    return {name: text.rstrip() for name, text in zip(found.ids or (), found.texts, strict=True)}


def _optional(path: Path, name: str, request: Request) -> dict[str, str] | None:
    return _table(path / name, request) if (path / name).is_file() else None


def _recording(
    utterance: str, recordings: Mapping[str, str], segments: Mapping[str, str] | None
) -> tuple[str | None, Clip | None, str | None]:
    """Return (path, clip, what is wrong) of an utterance."""
    name, clip = utterance, None
    if segments is not None:
        if utterance not in segments:
            return None, None, "is in text and not in segments"
        parsed = _segment(segments[utterance])
        if parsed is None:
            return None, None, "its line in segments is not: utterance recording start end"
        name, clip = parsed
    if name not in recordings:
        return None, None, f"its recording {name!a} is not in wav.scp" if segments else None
    path = recordings[name]
    if path.endswith("|") or path.startswith("|"):
        return None, None, _COMMAND
    return path, clip, None


def _segment(line: str) -> tuple[str, Clip] | None:
    fields = line.rsplit(None, 2)
    if len(fields) != 3:
        return None
    try:
        start, end = float(fields[1]), float(fields[2])
    except ValueError:
        return None
    if not (0 <= start < 1e7 and math.isfinite(end)):
        return None
    # -1 stands for the end of the recording
    return fields[0], Clip(start, end if end > 0 else None)
