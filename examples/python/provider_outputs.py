#!/usr/bin/env python3
"""Make the lines that `misheard import` reads of a folder with a provider's replies, one file per recording.

    python3 examples/python/provider_outputs.py FOLDER [SECONDS.csv] > outputs.jsonl

Files are what a service, a subtitle tool or whisper.cpp wrote; the file's stem is the item's id. SECONDS.csv
has the columns `id` and `seconds`: how long each request took, as your client measured it.
"""

import csv
import json
import sys
from pathlib import Path

from misheard.errors import InputError
from misheard.transcripts.formats import read_transcripts


def main(folder: str, times: str | None = None) -> None:
    """Print a line per recording."""
    seconds = {} if times is None else read_seconds(Path(times))
    heard = read_transcripts(folder, role="hypothesis")
    if heard.ids is None:
        raise InputError(f"{folder}: gives no ids; name the folder that holds a file per recording")
    for identifier, text in zip(heard.ids, heard.texts, strict=True):
        line: dict[str, object] = {"id": identifier, "transcript": text}
        if identifier in seconds:
            line["recognize_seconds"] = seconds[identifier]
        print(json.dumps(line, ensure_ascii=False))


def read_seconds(path: Path) -> dict[str, float]:
    """Return the seconds of each id. Raises InputError, naming the row, for a file of something else."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV in UTF-8: {error}; it may be left out") from error
    seconds = {}
    for number, row in enumerate(rows, 2):
        try:
            seconds[row["id"]] = float(row["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: row {number} needs the columns id and seconds, a number") from error
    return seconds


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except InputError as error:
        sys.exit(f"provider_outputs: {error}")
