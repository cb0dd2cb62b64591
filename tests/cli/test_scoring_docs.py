"""The pages about files and imported outputs: commands print what they say, tables name what there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from misheard.run import imported_rows
from misheard.transcripts.fields import ID_FIELDS, TEXT_FIELDS
from misheard.transcripts.formats import FORMATS

DOCS = Path(__file__).parents[2] / "docs"
FILES = (DOCS / "scoring-files.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", FILES, re.MULTILINE | re.DOTALL)


def test_commands_print_what_the_page_says(tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "misheard"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m misheard "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    commands, outputs = blocks("sh"), blocks("text")
    assert len(commands) == len(outputs) > 0
    for command, expected in zip(commands, outputs, strict=True):
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected


@pytest.mark.parametrize("code", blocks("python"))
def test_python_does_what_the_page_says(code: str) -> None:
    exec(compile(code, "scoring-files.md", "exec"), {})  # noqa: S102


def test_the_page_names_every_format_and_only_known_fields() -> None:
    table = FILES.split("## Formats")[1].split("## Pairing")[0]
    assert set(FORMATS) <= set(re.findall(r"`(\w+)`", table))
    known = {*ID_FIELDS, *(name for names in TEXT_FIELDS.values() for name in names)}
    assert set(re.findall(r"`(\w+)`", table.split("Columns and keys:")[1])) <= known


def test_the_page_on_imports_names_every_field() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (DOCS / "bring-your-own.md").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(imported_rows._FIELDS)
