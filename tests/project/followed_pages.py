"""Pages as a reader follows them: their commands run in a copy of what a checkout has."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = f'PYTHONPATH="{ROOT}/harness:{ROOT}/kernels:$PYTHONPATH"'
SCLITE = Path("/usr/lib/sctk/bin")

FAKE = """\
recognizer: {kind: fake, batch_size: 16}
language_model: {kind: fake}
scoring: {resamples: 200}
"""
"""Stands in for configs/cpu.yaml: the same commands over the same files, without a model."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and the `text` block that follows it directly."""

    language: str
    text: str
    printed: str | None


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of docs/PAGE.md in order."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    found = list(re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL))
    shown = []
    for number, block in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        between = text[block.end() : following.start()] if following else "-"
        printed = following[3] if following and following[2] == "text" and not between.strip() else None
        shown.append(Block(block[2], block[3], printed))
    return shown


def commands(block: Block) -> Iterator[str]:
    """Yield the lines of a block that are commands of this project, without comments."""
    for line in block.text.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#.*", "", line).strip()
        if re.match(r"(misheard|scripts/\w+|python3? \S+\.py|pip) ?", command):
            yield " ".join(command.split())


def workspace(folder: Path) -> Path:
    """Fill a folder with what the pages name: the examples, the demo suite, configs that need no model."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "configs").mkdir()
    (folder / "configs" / "demo").symlink_to(ROOT / "configs" / "demo")
    (folder / "configs" / "cpu.yaml").write_text(FAKE)
    programs = folder / ".bin"
    programs.mkdir()
    for name, call in (("misheard", "-m misheard"), ("python3", ""), ("jiwer", "-m jiwer.cli")):
        (programs / name).write_text(f'#!/bin/sh\n{SOURCES} exec "{sys.executable}" {call} "$@"\n')
        (programs / name).chmod(0o755)
    return folder


def bash(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a reader would type it in a terminal of 100 columns."""
    path = f"{folder / '.bin'}:{os.environ['PATH']}:{SCLITE}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
