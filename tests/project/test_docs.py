"""The docs say what the code does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = ("README.md", "CONTRIBUTING.md", "examples/README.md")
PAGES = [*map(ROOT.joinpath, BESIDE), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("script", ["config_reference", "cli_reference", "figures_page"])
def test_a_page_that_is_made_is_current(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_named_files_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (page.parent / target).exists(), target
    for script in re.findall(r"(?:^|[\s`(\"])(scripts/[\w/]+(?:\.\w+)?|configs/[\w./-]+\.yaml)", text):
        assert (ROOT / script).exists(), script
