"""Hugging Face `audiofolder`: `metadata.csv` or `metadata.jsonl` beside the recordings that it names."""

import dataclasses
from pathlib import Path

from misheard.errors import InputError, counted
from misheard.suite.importers.rows import Found, Request
from misheard.suite.importers.tables import read_csv, read_json_lines
from misheard.suite.importers.trn import recordings_below

METADATA = ("metadata.csv", "metadata.jsonl")


def read(path: Path, request: Request) -> Found:
    """Read the folder of one split."""
    if not path.is_dir():
        raise InputError(f"{path}: is no folder; an audiofolder is one with {' or '.join(METADATA)}")
    present = [name for name in METADATA if (path / name).is_file()]
    if len(present) != 1:
        splits = sorted(child.parent.name for name in METADATA for child in path.glob(f"*/{name}"))
        hint = f"; name the folder of one split: {', '.join(splits[:20])}" if splits else ""
        both = "both" if present else "neither"
        raise InputError(
            f"{path}: has {both} {METADATA[0]} {'and' if present else 'nor'} {METADATA[1]}{hint}"
        )
    reader = read_csv if present[0].endswith(".csv") else read_json_lines
    # `file_name` is the column that an audiofolder must have
    chosen = {"audio": "file_name", **request.columns}
    found = reader(path / present[0], dataclasses.replace(request, columns=chosen))
    named = {str(Path(row.audio).as_posix()) for row in found.rows if row.audio is not None}
    extra = sum(relative not in named for relative in recordings_below(path))
    lie = counted(extra, "recording of the folder is", "recordings of the folder are")
    notes = [f"{lie} in no row of {present[0]}"] if extra else []
    return dataclasses.replace(found, notes=[*found.notes, *notes])
