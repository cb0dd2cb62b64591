"""Calling `misheard suite import` from tests, and reading what it made."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from misheard.errors import SuiteError
from misheard.suite.importers.importing import Imported, ImportOptions, import_suite
from misheard.suite.items import Suite


class Silent:
    """A progress that shows nothing."""

    def begin(self, phase: str, total: int | None) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass


def run_import(source: Path, destination: Path, **options: Any) -> Imported:
    return import_suite(ImportOptions(source, destination, **options), Silent())


def refusals(source: Path, destination: Path, **options: Any) -> list[str]:
    """Return the lines that an import is refused with: what may be done, then every problem.

    It must leave nothing behind.
    """
    with pytest.raises(SuiteError) as caught:
        run_import(source, destination, **options)
    assert not destination.exists()
    assert not list(destination.parent.glob(f".{destination.name}*"))
    return [caught.value.source, *(str(problem) for problem in caught.value.problems)]


def write_clip(path: Path, seconds: float = 0.1, seed: int = 0, rate: int = 8_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    samples = (rng.standard_normal(int(seconds * rate)) * 3_000).astype(np.int16)
    soundfile.write(path, samples, rate)
    return path


def samples_of(suite: Suite, identifier: str) -> list[int]:
    """Return the 16-bit samples of an item."""
    item = next(item for item in suite.items if item.id == identifier)
    samples, _ = soundfile.read(suite.root / item.audio, dtype="int16")
    return list(map(int, samples))


def id_map(folder: Path) -> Mapping[str, str]:
    with (folder / "ids.csv").open(encoding="utf-8", newline="") as file:
        return {row["source_id"]: row["id"] for row in csv.DictReader(file)}


def record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "import.json").read_text())
    return found
