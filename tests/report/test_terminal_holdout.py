"""What a report says of sealed items and openings."""

import io
from typing import Any

import pytest
from rich.console import Console

from misheard.report.labels import UNICODE
from misheard.report.terminal_holdout import holdout_block


def said(**suite: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=100, no_color=True)
    for block in holdout_block({"suite": suite}, 100, UNICODE):
        console.print(block)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def holdout(sealed: int = 4, *, opened: bool = False, log: int = 0) -> dict[str, Any]:
    entries = [{"number": n, "at": f"day {n}", "who": "ann", "reason": f"why {n}"} for n in range(1, log + 1)]
    return {"sealed": sealed, "opened": opened, "openings": log, "log": entries}


@pytest.mark.parametrize(
    ("suite", "lines"),
    [
        ({}, []),
        ({"lock": {"sha256": "f", "matches": True, "added_items": 0}}, []),
        ({"lock": {"sha256": "f", "matches": False, "added_items": 2}}, ["2 items not in the lock"]),
        (
            {"subset": "open", "holdout": holdout()},
            ["4 items sealed, not in this report · never opened"],
        ),
        (
            {"subset": "regression", "rotation": 2, "holdout": holdout(1)},
            [
                "Over the regression set alone · 1 item sealed, not in this report · never opened",
                "rotation 2 of the rolling set",
            ],
        ),
        (
            {"subset": "holdout", "holdout": holdout(opened=True, log=2)},
            ["Over the sealed holdout, 4 items · opened 2 times", "  day 1 ann: why 1", "  day 2 ann: why 2"],
        ),
        (
            {"subset": "open", "holdout": holdout(log=5)},
            [
                "4 items sealed, not in this report · opened 5 times",
                *(f"  day {n} ann: why {n}" for n in (3, 4, 5)),
                "  and 2 more before, in report.json",
            ],
        ),
    ],
)
def test_what_is_said(suite: dict[str, Any], lines: list[str]) -> None:
    assert said(**suite) == lines


def test_reasons_are_neither_markup_nor_control() -> None:
    hostile = holdout(log=1)
    hostile["log"][0]["reason"] = "[red]\x1b[2J"
    assert said(subset="open", holdout=hostile)[1] == "  day 1 ann: [red]\\x1b[2J"
