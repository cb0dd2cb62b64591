"""Suites for tests, written by hand: recordings are a few bytes, because nothing here decodes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEADER: dict[str, Any] = {
    "name": "kitchen",
    "version": "1",
    "defaults": {"language": "en"},
    "conditions": {"language": ["en", "ta"], "noise": ["clean", "5dB"]},
    "gate_axes": ["noise"],
    "primary": {"en": "wer"},
    "abstentions": {"en": ["no idea"]},
}


def rows_of(sessions: int, per_session: int = 2) -> list[dict[str, Any]]:
    """Return rows of items in sessions of equal size; the noise alternates from session to session."""
    return [
        {
            "id": f"q{session:02d}-{index}",
            "audio": f"audio/q{session:02d}-{index}.wav",
            "reference": f"canary {session} {index}",
            "session": f"s{session:02d}",
            "conditions": {"noise": "clean" if session % 2 else "5dB"},
        }
        for session in range(sessions)
        for index in range(per_session)
    ]


def write_suite(root: Path, rows: Sequence[dict[str, Any]], header: dict[str, Any] = HEADER) -> Path:
    """Write a suite folder; recordings that are there already are left alone."""
    (root / "audio").mkdir(parents=True, exist_ok=True)
    # JSON is YAML
    (root / "suite.yaml").write_text(json.dumps(header))
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows:
        path = root / row["audio"]
        if not path.exists():
            path.write_bytes(row["id"].encode())
    return root


def read_rows(root: Path) -> list[dict[str, Any]]:
    """Return the rows of items.jsonl."""
    return [json.loads(line) for line in (root / "items.jsonl").read_text().splitlines()]


def sets_of(root: Path) -> dict[str, str]:
    """Return the set of every item that split.json lists."""
    units = json.loads((root / "split.json").read_text())["units"]
    return {item: unit["set"] for unit in units.values() for item in unit["items"]}
