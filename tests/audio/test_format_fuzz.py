"""Damaged recordings in every format: each gives samples or a typed failure, and none is lost on the way.

MISHEARD_FUZZ_FILES=500 pytest tests/audio/test_format_fuzz.py     # more than the 100 of a test run
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_audio import FORMS, wave

pytest.importorskip("av", reason="needs the extra run")

FILES = int(os.environ.get("MISHEARD_FUZZ_FILES", "100"))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    return {
        name: form.write(folder / f"{name}.{form.suffix}", wave(1.5, form.rate)).read_bytes()
        for name, form in FORMS.items()
    }


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """Cut, overwrite, insert, remove, repeat or join up to three parts; headers are hit most."""
    data = bytearray(raw)
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(120) if chance.random() < 0.5 else chance.randrange(len(data) + 1)
        length = chance.choice((1, 2, 4, 8, 64, 1_000))
        match chance.randrange(6):
            case 0:
                del data[start:]
            case 1:
                data[start : start + length] = chance.randbytes(length)
            case 2:
                data[start:start] = chance.randbytes(length)
            case 3:
                del data[start : start + length]
            case 4:
                data[start:start] = data[start : start + length]
            case _:
                data[start : start + length] = chance.choice((b"\0", b"\xff")) * length
    return bytes(data)


@pytest.fixture
def suite(tmp_path: Path, originals: dict[str, bytes]) -> Path:
    root = tmp_path / "suite"
    root.mkdir()
    chance = random.Random(20)
    rows = []
    for index in range(FILES):
        name = list(FORMS)[index % len(FORMS)]
        audio = f"{index:03d}-{name}.{FORMS[name].suffix}"
        (root / audio).write_bytes(mutated(originals[name], chance))
        rows.append({"id": f"{index:03d}-{name}", "audio": audio, "reference": "something said"})
    (root / "suite.yaml").write_text("name: damaged\nversion: 1\n")
    (root / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


def misheard(*arguments: object) -> subprocess.CompletedProcess[str]:
    # Decoders may print what they please, in any encoding.
    return subprocess.run(
        [sys.executable, "-m", "misheard", *map(str, arguments)],
        capture_output=True, text=True, errors="replace", check=False, timeout=500,
    )  # fmt: skip


def test_a_run_over_damaged_files_accounts_for_every_item(
    suite: Path, tmp_path: Path, make_config: Callable[..., Path]
) -> None:
    done = misheard(
        "run", make_config(language_model=None), "--cpu", "--suite", suite, "--out", tmp_path / "out"
    )
    assert done.returncode in (0, 1), done.stderr[-2_000:]
    assert "Traceback" not in done.stderr
    rows = [
        json.loads(line)
        for line in (tmp_path / "out/journal/recognize.jsonl").read_text("ascii").splitlines()
    ]
    heard = {row["item"] for row in rows if row.get("failure") is None and "item" in row}
    failures = (tmp_path / "out" / "failures.csv").read_text().splitlines()[1:]
    failed = {line.split(",")[0] for line in failures}
    ids = {json.loads(line)["id"] for line in (suite / "items.jsonl").read_text().splitlines()}
    assert failed | heard == ids
    kinds = {line.split(",")[3] for line in failures if "audio_" in line}
    assert kinds <= {"audio_undecodable", "audio_empty", "audio_truncated"}
    assert len(failed) > FILES // 4


def test_validation_names_every_damaged_file_once(suite: Path) -> None:
    done = misheard("suite", "validate", suite)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    named = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("  item ")]
    assert len(named) == len(set(named)) > FILES // 4
