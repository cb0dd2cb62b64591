"""Pages as a reader follows them: their commands run in a copy of what a checkout has."""

import os
import re
import shlex
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

COMMAND = re.compile(r"(?:\w+=\S+ )?(?:misheard|jiwer|sclite|scripts/\w+|python3? \S+\.py|pip install) .*")


@dataclass(frozen=True)
class Block:
    """A fenced or indented block of a page: its language, its text, and the `text` block right behind it."""

    language: str
    text: str
    printed: str | None = None


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of docs/PAGE.md in order."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    found = list(re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    shown = []
    for number, block in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        behind = following is not None and not text[block.end() : following.start()].strip()
        printed = following[2] if following and behind and following[1] == "text" else None
        shown.append(Block(block[1], block[2], printed))
    return shown


def commands(page: str, run: bool) -> Iterator[str]:
    """Yield the commands of a page that are run here (in `sh` blocks), or that are only shown."""
    parts = [block for block in blocks(page) if (block.language == "sh") == run]
    if not run:
        text = (DOCS / f"{page}.md").read_text("utf-8")
        unfenced = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        parts += [Block("", line[4:]) for line in unfenced.splitlines() if line.startswith("    ")]
    for block in parts:
        for line in block.text.replace("\\\n", " ").splitlines():
            found = COMMAND.fullmatch(re.sub(r"\s+#.*", "", line).strip())
            if found:
                yield " ".join(found[0].split())


def workspace(folder: Path) -> Path:
    """Fill a folder with what the pages name: the examples, the demo suite, a config that needs no model."""
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


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a terminal of 100 columns in which the commands of the pages are there."""
    path = os.pathsep.join([str(folder / ".bin"), os.environ["PATH"], str(SCLITE)])
    return {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}


def steps(script: str) -> Iterator[str]:
    """Yield the commands of a block, each with its continuation lines and here-documents."""
    lines: list[str] = []
    end = None
    for line in script.splitlines():
        lines.append(line)
        here = re.search(r"<<'(\w+)'$", line)
        end = here[1] if here else end
        if line == end or (end is None and not line.endswith("\\")):
            yield "\n".join(lines)
            lines, end = [], None


def arguments(step: str) -> list[str] | None:
    """Return the arguments of a plain call of `misheard`, which needs no shell; None for all else.

    Scores of files are printed by the width of the terminal, and made at once: they are left to the shell.
    """
    step = step.replace("\\\n", " ")
    if not step.startswith("misheard ") or "--ref" in step or re.search(r"[|&;<>$]", step):
        return None
    return shlex.split(step)


def bash(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a reader would type it."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
