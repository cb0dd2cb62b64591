"""Faults of other scorers' text handling, each as a row of text_cases.jsonl."""

import json
from pathlib import Path
from typing import Any

import pytest

from misheard.text.alternatives import parse_alternatives
from misheard.text.profiles import normalise
from misheard.text.tokenisers import tokeniser_named

LINES = Path(__file__).with_name("text_cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


def tokens_of(case: dict[str, Any], text: str) -> list[str]:
    normal = normalise(text, case.get("profile", "nfc"), case.get("language"))
    return tokeniser_named(case.get("unit", "words")).split(normal)


def paths(case: dict[str, Any], reference: str) -> list[list[str]]:
    if not case.get("options", {}).get("alternatives"):
        return [tokens_of(case, reference)]
    found: list[list[str]] = [[]]
    for slot in parse_alternatives(reference, item=case["id"], split=lambda text: tokens_of(case, text)):
        found = [[*path, *spelling] for path in found for spelling in slot]
    return found


def edits(reference: list[str], hypothesis: list[str]) -> dict[str, int]:
    """Fewest errors, then fewest substitutions, by the textbook table."""
    table = [[(0, 0, 0, 0)] * (len(hypothesis) + 1) for _ in range(len(reference) + 1)]
    for i in range(len(reference) + 1):
        for j in range(len(hypothesis) + 1):
            ways = []
            if i:
                errors, s, d, ins = table[i - 1][j]
                ways.append((errors + 1, s, d + 1, ins))
            if j:
                errors, s, d, ins = table[i][j - 1]
                ways.append((errors + 1, s, d, ins + 1))
            if i and j:
                errors, s, d, ins = table[i - 1][j - 1]
                wrong = reference[i - 1] != hypothesis[j - 1]
                ways.append((errors + wrong, s + wrong, d, ins))
            if ways:
                table[i][j] = min(ways)
    errors, s, d, ins = table[-1][-1]
    return {"errors": errors, "S": s, "D": d, "I": ins, "N": len(reference)}


@pytest.mark.parametrize("case", [case for case in CASES if "pairs" in case], ids=lambda case: case["id"])
def test_pairs(case):
    total = dict.fromkeys(("errors", "S", "D", "I", "N"), 0)
    for reference, hypothesis in case["pairs"]:
        best = min(
            (edits(path, tokens_of(case, hypothesis)) for path in paths(case, reference)),
            key=lambda counts: (counts["errors"], counts["S"]),
        )
        total = {name: total[name] + count for name, count in best.items()}
    accepted = case.get("expect_any", [case.get("expect")])
    assert any(wanted.items() <= total.items() for wanted in accepted), total


@pytest.mark.parametrize("case", [case for case in CASES if "text" in case], ids=lambda case: case["id"])
def test_texts(case):
    wanted = case["expect"]
    assert set(wanted) <= {"text", "tokens"}
    tokens = tokens_of(case, case["text"])
    assert " ".join(tokens) == wanted.get("text", " ".join(tokens))
    assert len(tokens) == wanted.get("tokens", len(tokens))
