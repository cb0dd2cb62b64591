"""The reference pages name what there is: commands and options, schemas, the attributes of a score."""

import inspect
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import misheard
from misheard.commands import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def options_of_commands() -> dict[str, set[str]]:
    """Return the options of each command by the page that is made of the command line's own help."""
    found: dict[str, set[str]] = {}
    for section in re.split(r"^##+ ", (DOCS / "cli.md").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        cells = re.findall(r"^\| `(-[^`]*)`", section, re.MULTILINE)
        found[section.split("\n")[0]] = {option for cell in cells for option in re.findall(r"--[\w-]+", cell)}
    return found


COMMANDS = options_of_commands()
SHORT = {"misheard soak": "misheard soak play"}
"""Commands that stand for another one where no command of theirs follows."""


def calls(page: Path) -> list[str]:
    """Return the calls of the command in code blocks and code spans of a page, each on one line."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(?:    )?(?:scripts/)?(misheard .*)$", text, re.MULTILINE)
    return [re.sub(r"\s+#.*", "", line) for line in [*lines, *re.findall(r"`(misheard [^`\n]+)`", text)]]


@pytest.mark.parametrize("page", [page for page in PAGES if calls(page)], ids=lambda page: page.name)
def test_commands_and_options_exist(page: Path) -> None:
    for call in calls(page):
        words = call.split()
        name = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
        name = SHORT.get(name, name)
        assert name in COMMANDS or words[1].startswith(("-", "COMMAND", "…")), call
        options = {word.split("=")[0] for word in words if re.fullmatch(r"--[a-z][\w-]*(=.*)?", word)}
        assert options <= COMMANDS.get(name, set()) | {"--help", "--version"}, call


def test_the_page_of_commands_has_all_of_them() -> None:
    assert {
        "misheard run",
        "misheard score",
        "misheard suite import",
        "misheard soak check",
    } <= COMMANDS.keys()
    assert {"--ref", "--hyp", "--costs", "--set"} <= COMMANDS["misheard score"]


@pytest.mark.parametrize("group", ["", "baseline", "judge", "soak", "suite"])
def test_lists_of_commands_say_whole_sentences(group: str) -> None:
    done = CliRunner().invoke(app, [*group.split(), "--help"], terminal_width=80)
    listed = done.stdout.split("Commands:\n")[1].splitlines()
    assert len(listed) >= 2
    assert [line for line in listed if not line.endswith(".")] == []
    assert "..." not in " ".join(listed)


def test_every_schema_is_named() -> None:
    package = ROOT / "harness"
    schemas = {str(path.relative_to(package)) for path in package.rglob("*.schema.json")}
    text = (DOCS / "formats.md").read_text("utf-8")
    assert set(re.findall(r"`(misheard/[\w/.-]+\.schema\.json)`", text)) == schemas


def test_the_page_on_python_names_every_attribute_and_argument() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    shown = re.search(r"^    misheard\.score\((.*?)\) -> Score$", text, re.MULTILINE | re.DOTALL)
    assert shown is not None
    arguments = [part.strip() for part in shown[1].split(",") if part.strip() != "*"]
    assert arguments == [
        name if parameter.default is parameter.empty else f"{name}={parameter.default!r}".replace("'", '"')
        for name, parameter in inspect.signature(misheard.score).parameters.items()
    ]
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", text.split("A `Score` is frozen")[1], re.MULTILINE))
    public = {name for name in dir(misheard.score("a", "b")) if not name.startswith("_")}
    assert public <= set(re.findall(r"`(\w+)`", rows))
