"""Comparisons of several runs and of slices, as they read on a terminal and in their document."""

import io
import re
from importlib.resources import files
from json import loads
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table
from misheard.canonical import canonical_json
from misheard.metrics.base import Arm
from misheard.report.comparison import ComparedPair, build_comparison
from misheard.report.terminal import render_comparison
from misheard.stats.compare import Selection, adjust_together, compare_tables
from misheard.stats.selection import parse_where

A, B, C = make_table(12, 12), make_table(12, 12, seed=2, error=0.04), make_table(12, 12, seed=3)


def document(*others: Any, primary: dict[str, str] | None = None, **selected: Any) -> dict[str, Any]:
    selection = Selection(**selected)
    found = [
        compare_tables(A, other, FAMILIES, axes=AXES, selection=selection, resamples=300) for other in others
    ]
    if selection.metrics:
        found = list(adjust_together(found, (Arm.AUDIO, Arm.TRANSCRIPT)))
    return build_comparison(
        [ComparedPair(one, {"run": "base"}, {"run": f"run-{n}"}) for n, one in enumerate(found)],
        suite={"name": "made-up"},
        scorer={},
        primary_metrics=primary,
        selection=selection,
    )


def shown(comparison: dict[str, Any], width: int, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    Console(file=out, width=width, highlight=False).print(render_comparison(comparison))
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


SELECTED: dict[str, Any] = {
    "metrics": ("wer", "correct_rate"),
    "by": (("noise", "mic"), ("language",)),
    "where": parse_where("kind=speech"),
    "margins": {"wer": 0.3},
}


@pytest.mark.parametrize("width", [80, 160])
def test_slice_tables_fit_and_are_whole(width: int) -> None:
    text = shown(document(B, C, **SELECTED), width)
    assert max(map(len, text.splitlines())) <= width
    assert not re.search(r"\d…$|…\s|[ ·]$", text, re.MULTILINE)


@pytest.mark.parametrize("width", [80, 160])
def test_a_slice_stands_with_all_that_its_verdict_rests_on(width: int) -> None:
    comparison = document(B, primary={"en": "wer"})
    text = shown(comparison, width)
    text = text[text.index("slice by slice") :]
    (cell,) = [c for c in comparison["comparisons"][0]["cells"] if c["value"] == "15dB"]
    (wer,) = [d for d in cell["differences"] if d["metric"] == "wer"]
    row = text[text.index("  15dB") :]
    row = "".join(row.splitlines(keepends=True)[: 1 if width == 160 else 2])
    for name in ("bootstrap", "jackknife"):
        low, high = wer["intervals"][name]
        assert f"{100 * low:+.1f}…{100 * high:+.1f}".replace("-", "−") in row
    for expected in (
        wer["verdict"], str(wer["n"]), str(wer["units"]), f"{100 * wer['smallest_detectable']:.1f}",
        f"{100 * wer['a']:.1f}%", f"{100 * wer['b']:.1f}%", "<0.001",
    ):  # fmt: skip
        assert expected in row
    assert "  5dB      no pairs" in text


@pytest.mark.parametrize(("width", "has_two_lines"), [(80, True), (200, False)])
def test_the_two_lines_of_a_slice_are_explained_where_there_are_two(width: int, has_two_lines: bool) -> None:
    text = " ".join(shown(document(B, **SELECTED), width).split())
    above = "above: pairs, A, B − A with its bootstrap interval, p below: sessions, B, smallest difference"
    assert (above in text) == has_two_lines
    assert "smallest: difference that these pairs would show" in text and "least:" not in text


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ({"recognizer": {"kind": "imported", "name": "service B"}}, "B  run-0  service B"),
        ({"recognizer": {"kind": "imported", "name": "run-0"}}, "B  run-0"),
        ({"recognizer": {"kind": "fake"}}, "B  run-0"),
        ({}, "B  run-0"),
    ],
)
def test_a_system_is_called_by_its_name_too(system: dict[str, Any], line: str) -> None:
    comparison = document(B)
    comparison["comparisons"][0]["b"]["system"] = system
    assert line in shown(comparison, 80).splitlines()


def test_what_hangs_on_one_session_is_told() -> None:
    comparison = document(B, metrics=("wer",), where=parse_where("kind=speech"))
    text = shown(comparison, 160)
    assert "the largest session has 8% of the pairs" in text
    assert "the sign is the same whichever session is left out" in text
    difference = comparison["comparisons"][0]["differences"][0]
    difference["keeps_sign"] = False
    assert "the sign is not the same" in shown(comparison, 160)
    difference["difference"] = 0.0
    assert "the sign" not in shown(comparison, 160)


def test_the_worst_slice_is_marked() -> None:
    comparison = document(B, primary={"en": "wer"})
    (worst,) = [cell for cell in comparison["comparisons"][0]["worst_cells"] if cell["metric"] == "wer"]
    text = shown(comparison, 160)
    assert f"  {worst['value']} ▲" in text and "where B loses most or gains least" in text
    assert text[text.index("slice by slice") :].count(" ▲") == 2


def test_without_primary_metrics_the_legend_says_how_to_see_slices() -> None:
    text = shown(document(B), 160)
    assert "slice by slice" not in text and "--metric NAME" in text


def test_every_run_has_its_own_block_and_holm_is_told() -> None:
    comparison = document(B, C, metrics=("wer", "correct_rate"))
    text = shown(comparison, 160)
    assert text.count("Every item that both have") == 2
    assert text.index("B  run-0") < text.index("B  run-1")
    assert "of all items: for 6 tests (Holm)" in text
    assert "control arm" not in text and text.count("correct  transcript arm") == 2


def test_a_filter_and_margins_are_told() -> None:
    text = shown(document(B, where=parse_where("noise=15dB"), margins={"wer": 0.3}), 160)
    assert "only items with noise=15dB" in text and "wer differs by less than 0.3" in text
    assert "72 items" in text.splitlines()[0]


def test_nothing_to_compare_is_told() -> None:
    text = shown(document(B, metrics=("wer",), arms=(Arm.TRANSCRIPT,)), 80)
    assert "no pairs of these metrics and arms" in text


def test_a_terminal_without_unicode_gets_ascii() -> None:
    shown(document(B, C, **SELECTED), 80, "ascii").encode("ascii")


def test_selected_comparisons_follow_the_schema_and_are_the_same_every_time() -> None:
    schema = loads((files("misheard.report") / "comparison.schema.json").read_text())
    one = document(B, C, **SELECTED)
    jsonschema.Draft202012Validator(schema).validate(one)
    assert canonical_json(one) == canonical_json(document(B, C, **SELECTED))
