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

from misheard.transcripts.formats import read_transcripts


def main(folder: str, times: str | None = None) -> None:
    """Print a line per recording."""
    seconds: dict[str, float] = {}
    if times is not None:
        with Path(times).open(encoding="utf-8", newline="") as file:
            seconds = {row["id"]: float(row["seconds"]) for row in csv.DictReader(file)}
    heard = read_transcripts(folder, role="hypothesis")
    for identifier, text in zip(heard.ids or (), heard.texts, strict=True):
        line: dict[str, object] = {"id": identifier, "transcript": text}
        if identifier in seconds:
            line["recognize_seconds"] = seconds[identifier]
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:3])
