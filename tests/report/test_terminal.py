import io
import re
from typing import Any

import pytest
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table
from misheard.report.build import build_report
from misheard.report.comparison import build_comparison
from misheard.report.terminal import render_comparison, render_report
from misheard.stats.compare import compare_tables

TIMINGS = {"audio_seconds": 212.4, "clean_llm_seconds": 3.25, "rtf_end_to_end": 0.161, "rtf_inference": None}


def report_of(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "table": make_table(),
        "families": FAMILIES,
        "suite": {"name": "made-up", "version": "7"},
        "system": {},
        "scorer": {},
        "timings": TIMINGS,
        "axes": AXES,
        "primary_metrics": {"en": "wer"},
        "resamples": 200,
        **changes,
    }
    return build_report(arguments.pop("table"), arguments.pop("families"), **arguments)


def comparison_of(per_session: int = 12) -> dict[str, Any]:
    a, b = make_table(6, per_session), make_table(6, per_session, seed=2, error=0.04)
    return build_comparison(
        compare_tables(a, b, FAMILIES, axes=AXES, resamples=500),
        suite={"name": "made-up"},
        scorer={},
        a={"run": "run-with-whisper-base"},
        b={"run": "run-with-whisper-tiny"},
    )


def shown(renderable: Any, width: int = 80, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    Console(file=out, width=width, highlight=False).print(renderable)
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_nothing_is_wider_than_the_terminal_or_cut(width: int) -> None:
    for renderable in (render_report(report_of()), render_comparison(comparison_of())):
        text = shown(renderable, width)
        assert max(len(line) for line in text.splitlines()) <= width
        assert "..." not in text


def test_output_that_is_no_terminal_has_no_escape_codes() -> None:
    assert "\x1b" not in shown(render_report(report_of())) + shown(render_comparison(comparison_of()))


def test_what_is_lost_comes_before_where_and_what_failed() -> None:
    text = shown(render_report(report_of()))
    titles = [
        "What mishearing costs",
        "Answer by answer",
        "By condition",
        "Errors of recognition",
        "Failures",
        "Time",
    ]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)


def test_every_number_stands_beside_its_n() -> None:
    text = shown(render_report(report_of()))
    for expected in (
        "54 items",
        "48 with speech",
        "n 23*",
        "n 24*",
        "n 47*",
        "n 6*",
        "47*",
        "48*",
        "1 failed",
    ):
        assert expected in text


def test_values_are_the_reports_own() -> None:
    report = report_of()
    text = shown(render_report(report), 200)
    (noisy,) = [cell for cell in report["matrix"] if cell["value"] == "15dB"]
    (wer,) = [e for e in noisy["estimates"] if e["metric"] == "wer"]
    assert f"▲ {100 * wer['value']:.1f}%" in text
    low, high = wer["intervals"]["deciding"]
    assert f"{100 * low:.1f}…{100 * high:.1f}" in text
    lost = report["propagation"]["lost_to_recognition"]["response_quality"]["difference"]
    assert f"{lost:+.3f}".replace("-", "−") in text


def test_every_mark_in_use_is_explained() -> None:
    text = shown(render_report(report_of()), 200)
    legend = text.splitlines()[-1]
    assert "* under 50 items" in legend and "◆ primary metric" in legend and "– no value" in legend
    assert "▲ worst cell" in text


def test_empty_condition_is_shown_as_empty() -> None:
    lines = shown(render_report(report_of()), 200).splitlines()
    assert any("no items" in line for line in lines)
    assert any("5dB" in line for line in lines)


def test_axes_with_the_same_items_share_a_column() -> None:
    axes = {"language": ("en",), "noise": ("clean",), "mic": ("laptop",)}
    table = make_table(1, 3, 0)
    for item in table.items:
        item.conditions["noise"] = "clean"  # type: ignore[index]
    text = shown(render_report(report_of(table=table, axes=axes)), 120)
    assert text.count("3 items") == 2
    for axis, value in (("language", "en"), ("noise", "clean"), ("mic", "laptop")):
        assert re.search(rf"^ +{axis}\s*\n +{value}\s*$", text, re.MULTILINE)


def test_long_condition_names_are_folded_and_complete() -> None:
    name = "a-very-long-room-name-that-does-not-fit"
    table = make_table(2, 4, 0)
    for item in table.items:
        item.conditions["mic"] = name  # type: ignore[index]
    text = shown(render_report(report_of(table=table, axes={"mic": (name, "other")})), 60)
    assert name in re.sub(r"\s+", "", text)


def test_escape_sequences_of_a_suite_are_shown_not_sent() -> None:
    axes = {"mic\x1b[2J": ("x\x1b]0;title\x07",)}
    report = report_of(axes=axes, suite={"name": "\x1b[31mred", "version": "[bold]1"})
    text = shown(render_report(report))
    assert "\x1b" not in text and "\x07" not in text
    assert r"\x1b[31mred [bold]1" in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminal_without_unicode_gets_stand_ins(encoding: str) -> None:
    for renderable in (render_report(report_of()), render_comparison(comparison_of())):
        assert shown(renderable, 80, encoding).isascii()


def test_run_without_failures_says_so() -> None:
    assert "No item failed." in shown(render_report(report_of(table=make_table(1, 3, 0))))


def test_recognition_alone_shows_no_answers() -> None:
    text = shown(render_report(report_of(families=FAMILIES[:2])))
    assert "word error rate" in text and "mishearing costs" not in text and "Answer" not in text


def test_timings_without_a_value_are_left_out() -> None:
    text = shown(render_report(report_of()))
    assert re.search(r"clean llm +3\.25 s", text) and "rtf end to end" in text and "rtf inference" not in text
    assert "Time" not in shown(render_report(report_of(timings=None)))


def test_comparison_shows_both_sides_the_difference_and_the_verdict() -> None:
    comparison = comparison_of()
    text = shown(render_comparison(comparison), 120)
    (wer,) = [d for d in comparison["differences"] if d["metric"] == "wer"]
    assert wer["verdict"] == "better"
    pattern = (
        rf"word error rate +{100 * wer['a']:.1f}% +{100 * wer['b']:.1f}% +−{-100 * wer['difference']:.1f} "
    )
    (line,) = [line for line in text.splitlines() if re.search(pattern, line)]
    assert line.rstrip().endswith("better")
    assert "run-with-whisper-base" in text and "run-with-whisper-tiny" in text
    assert "n 71" in text and "1 failed" in text and "too few items" in text


def test_comparison_warns_of_chance_where_it_gives_verdicts() -> None:
    assert "about 1 in 20" in shown(render_comparison(comparison_of()), 200)
    assert "about 1 in 20" not in shown(render_comparison(comparison_of(per_session=4)), 200)
