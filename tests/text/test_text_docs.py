"""The tables of docs/text.md."""

import re
from pathlib import Path

import pytest

from misheard.text.profiles import PROFILES, normalise
from misheard.text.scripts import DENSITIES
from misheard.text.tokenisers import TOKENISERS, mixed, tokeniser_named

PAGE = (Path(__file__).parents[2] / "docs" / "text.md").read_text(encoding="utf-8")


def table(*columns: str) -> list[list[str]]:
    """The rows of the tables with these columns."""
    head = "| " + " | ".join(columns) + " |\n| " + " | ".join("---" for _ in columns) + " |\n"
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for part in PAGE.split(head)[1:]
        for line in part.split("\n\n")[0].splitlines()
    ]
    assert found, columns
    return found


def code(cell: str) -> str:
    return cell[1:-1] if cell else ""


@pytest.mark.parametrize("row", table("text", "under `plain`"), ids=lambda row: row[0])
def test_plain(row):
    text, expected = map(code, row)
    assert normalise(text, "plain") == expected


@pytest.mark.parametrize("row", table("rule", "language", "text", "under `spoken`"), ids=lambda row: row[2])
def test_spoken(row):
    language, text, expected = map(code, row[1:])
    assert normalise(text, "spoken", language or None) == expected


@pytest.mark.parametrize("row", table("option", "text", "under `plain`"), ids=lambda row: row[1])
def test_annotations(row):
    option, text, expected = map(code, row)
    assert normalise(text, "plain", annotations=option) == expected


@pytest.mark.parametrize(
    "row", table("tokeniser", "scripts by character", "text", "tokens"), ids=lambda row: row[2]
)
def test_tokens(row):
    name, scripts, text = map(code, row[:3])
    tokens = mixed(text, [scripts]) if scripts else tokeniser_named(name).split(text)
    assert tokens == re.findall(r"`([^`]+)`", row[3])


def test_all_are_listed():
    assert [code(row[0]) for row in table("profile", "what it does")] == list(PROFILES)
    assert [code(row[0]) for row in table("tokeniser", "a token is")] == list(TOKENISERS)
    assert [code(row[0]) for row in table("density", "code-mixing index")] == list(DENSITIES)
