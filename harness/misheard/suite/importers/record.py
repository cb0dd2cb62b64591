"""The record of an import: `import.json` beside the suite that it made."""

import json
from pathlib import Path

from misheard.audio.files import open_regular

RECORD_NAME = "import.json"

_MAX_BYTES = 256 << 20
"""250,000 rows left out, each with its reason, have some 50 MiB."""


def rows_left_out(suite: Path) -> int | None:
    """Return how many rows of the source a suite's import left out; None where no record says so."""
    try:
        with open_regular(suite / RECORD_NAME) as file:
            raw = file.read(_MAX_BYTES + 1)
        record = json.loads(raw) if len(raw) <= _MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    counts = record.get("counts") if isinstance(record, dict) else None
    skipped = counts.get("skipped") if isinstance(counts, dict) else None
    return skipped if type(skipped) is int and skipped >= 0 else None
