"""docs/importing.md names every format, every column and every target that the code knows."""

import re
from pathlib import Path

from misheard.suite.importers.columns import TARGETS
from misheard.suite.importers.formats import FORMATS

PAGE = (Path(__file__).parents[3] / "docs" / "importing.md").read_text("utf-8")


def rows(title: str) -> dict[str, list[str]]:
    """Return the code words of each row of the table under a heading, by those of its first cell."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {name: words(row[1]) for row in cells for name in words(row[0])}


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_formats() -> None:
    assert sorted(rows("Formats")) == sorted([*FORMATS, "--format"])


def test_columns() -> None:
    documented = rows("Columns")
    assert documented.keys() == TARGETS.keys()
    for target, names in TARGETS.items():
        wanted = ["offset", "duration"] if target in ("offset", "duration") else list(names)
        assert documented[target] == wanted
