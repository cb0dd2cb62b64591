"""`misheard suite init`: a template that our own reader accepts once the recordings are there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from misheard.errors import InputError, SuiteError
from misheard.suite.manifest import load_suite, validate_suite
from misheard.suite.template import init_suite


def test_only_the_recordings_are_missing(tmp_path: Path) -> None:
    init_suite(tmp_path / "new")
    with pytest.raises(SuiteError) as caught:
        validate_suite(tmp_path / "new")
    assert [problem.where for problem in caught.value.problems] == [
        "item q01 (items.jsonl:1)", "item n01 (items.jsonl:2)",
    ]  # fmt: skip
    assert all("names no file" in problem.what for problem in caught.value.problems)
    for name in ("q01", "n01"):
        soundfile.write(tmp_path / "new" / "audio" / f"{name}.wav", np.full(1600, 0.1), 16_000)
    suite = validate_suite(tmp_path / "new")
    assert (suite.name, suite.version, suite.gate_axes) == ("new", "1", ("noise",))
    assert [item.conditions["noise"] for item in suite.items] == ["quiet", "street"]
    assert (tmp_path / "new" / "RECORDING.md").read_text().startswith("# ")


@pytest.mark.parametrize(
    ("language", "metric"), [("ta", "cer"), ("zh-Hant", "cer"), ("no", "wer"), ("en-IN", "wer")]
)
def test_the_language(tmp_path: Path, language: str, metric: str) -> None:
    init_suite(tmp_path / "new", language=language)
    suite = load_suite(tmp_path / "new", require_audio=False)
    assert suite.axes["language"] == (language,)
    assert suite.primary_metrics == {language: metric}


@pytest.mark.parametrize("name", ['say "hi": {x}', "café #1", "1.10", "no", "- a", "'"])
def test_any_name_is_kept_as_it_is(tmp_path: Path, name: str) -> None:
    init_suite(tmp_path / "new", name=name)
    assert load_suite(tmp_path / "new", require_audio=False).name == name


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    for place in ("full", "full/file"):
        with pytest.raises(InputError):
            init_suite(tmp_path / place)
    with pytest.raises(InputError, match="no tag"):
        init_suite(tmp_path / "new", language="x: y")
    with pytest.raises(InputError, match="--name"):
        init_suite(tmp_path / "new", name="a\nb")
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "file"]


def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misheard", "suite", "init", str(tmp_path / "it")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"misheard suite validate {tmp_path / 'it'}" in done.stdout
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout) == (2, "")
    assert "the folder is not empty" in again.stderr
