"""Sources that lhotse and Hugging Face datasets wrote, against what the tools themselves read there.

Where a tool is installed it writes the sample anew and is asked for its reading; the samples that are kept
beside this file were written by it too, and are imported always.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tool_samples
from importing_helpers import run_import, samples_of

from misheard.suite.manifest import validate_suite

HERE = Path(__file__).parent
TEXTS = [text for texts in tool_samples.TEXTS for text in texts]
UTTERANCES = [f"rec{index}-u{part}" for index in range(3) for part in range(2)]


@pytest.fixture(params=["kept", pytest.param("written now", marks=pytest.mark.slow)])
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a function that lays out a tool's sample and returns its folder."""

    def lay_out(tool: str, package: str) -> Path:
        folder = tmp_path / "sample"
        if request.param == "kept":
            shutil.copytree(HERE / "samples" / tool, folder)
            tool_samples.write_recordings(folder)
            return folder
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install {package}")
        folder.mkdir()
        call_tool("write", tool, folder)
        return folder

    return lay_out


def call_tool(action: str, tool: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, HERE / "tool_samples.py", action, tool, folder],
        capture_output=True, text=True, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / ".hf")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout else None


def check_against_tool(tool: str, package: str, folder: Path, suite: Any) -> None:
    """Compare ids, texts, sessions and every sample with the tool's own reading."""
    if importlib.util.find_spec(package) is None:
        return
    rows = call_tool("read", tool, folder)
    assert [(item.id, item.reference, item.session) for item in suite.items] == [
        (row["id"], row["text"], row["session"]) for row in rows
    ]
    for row in rows:
        assert samples_of(suite, row["id"]) == row["samples"]


def check_clips(suite: Any) -> None:
    """Compare every clip with the samples that it was cut from."""
    for index in range(3):
        whole = tool_samples.samples_of(index).tolist()
        assert samples_of(suite, f"rec{index}-u0") == whole[:2000]
        assert samples_of(suite, f"rec{index}-u1") == whole[2000:3000]


@pytest.mark.parametrize("name", ["trimmed_cuts.jsonl", "whole_cuts.jsonl.gz"])
def test_lhotse_cuts(sample: Any, tmp_path: Path, name: str) -> None:
    folder = sample("lhotse", "lhotse")
    imported = run_import(folder / name, tmp_path / "out")
    suite = validate_suite(tmp_path / "out")
    assert imported.guess.format == "lhotse"
    assert [item.id for item in suite.items] == UTTERANCES
    assert [item.reference for item in suite.items] == TEXTS
    assert [item.language for item in suite.items] == ["en", "en", "hi", "en", "en", "en"]
    check_clips(suite)
    check_against_tool("lhotse", "lhotse", folder, suite)


def test_lhotse_recordings_and_supervisions(sample: Any, tmp_path: Path) -> None:
    folder = sample("lhotse", "lhotse")
    for cuts in folder.glob("*cuts*"):
        cuts.unlink()
    imported = run_import(folder, tmp_path / "out")
    assert imported.guess.format == "lhotse"
    assert [item.reference for item in imported.suite.items] == TEXTS
    assert {item.session for item in imported.suite.items} == {"speaker 0", "speaker 1"}
    check_clips(validate_suite(tmp_path / "out"))


def test_kaldi_folder(sample: Any, tmp_path: Path) -> None:
    folder = sample("kaldi", "lhotse")
    imported = run_import(folder / "data", tmp_path / "out", audio_root=folder)
    suite = validate_suite(tmp_path / "out")
    assert (imported.guess.format, imported.clips) == ("kaldi", 6)
    assert [item.id for item in suite.items] == UTTERANCES
    assert [item.reference for item in suite.items] == TEXTS
    assert dict(suite.axes) == {"language": ("en", "hi")}
    check_clips(suite)
    check_against_tool("kaldi", "lhotse", folder, suite)


def test_saved_dataset(sample: Any, tmp_path: Path) -> None:
    folder = sample("dataset", "datasets")
    for recording in folder.glob("wav/*"):
        # their bytes lie in the dataset
        recording.unlink()
    imported = run_import(folder / "saved", tmp_path / "out", conditions={"noise": "noise"})
    suite = validate_suite(tmp_path / "out")
    assert imported.guess.format == "dataset"
    assert [item.id for item in suite.items] == ["rec0", "rec1", "rec2"]
    assert [item.reference for item in suite.items] == [texts[0] for texts in tool_samples.TEXTS]
    assert [item.session for item in suite.items] == ["4", "5", "4"]
    assert [item.conditions["noise"] for item in suite.items] == ["quiet", "street", "quiet"]
    if importlib.util.find_spec("datasets") is not None:
        for row, item in zip(call_tool("read", "dataset", folder), suite.items, strict=True):
            assert (row["id"], row["text"], row["session"]) == (item.id, item.reference, item.session)
            assert row["noise"] == item.conditions["noise"]
            assert bytes.fromhex(row["bytes"]) == (suite.root / item.audio).read_bytes()


def test_parquet_that_names_files(sample: Any, tmp_path: Path) -> None:
    folder = sample("dataset", "datasets")
    imported = run_import(folder / "one.parquet", tmp_path / "out")
    assert imported.guess.format == "dataset"
    suite = validate_suite(tmp_path / "out")
    for index in range(3):
        assert samples_of(suite, f"rec{index}") == tool_samples.samples_of(index).tolist()


def test_audiofolder(sample: Any, tmp_path: Path) -> None:
    folder = sample("audiofolder", "datasets")
    shutil.copy(folder / "wav" / "rec0.wav", folder / "wav" / "unnamed.wav")
    imported = run_import(folder, tmp_path / "out")
    assert imported.guess.format == "audiofolder"
    assert "1 recording of the folder is in no row of metadata.jsonl" in imported.notes
    suite = validate_suite(tmp_path / "out")
    assert [item.reference for item in suite.items] == [texts[0] for texts in tool_samples.TEXTS]
    if importlib.util.find_spec("datasets") and importlib.util.find_spec("torchcodec"):
        (folder / "wav" / "unnamed.wav").unlink()
        rows = call_tool("read", "audiofolder", folder)
        assert [(row["id"], row["text"]) for row in rows] == [
            (item.id, item.reference) for item in suite.items
        ]
