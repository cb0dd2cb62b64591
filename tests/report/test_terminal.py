import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table, with_counts
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, Counts
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.comparison import ComparedPair, build_comparison
from misheard.report.labels import difference_interval, rate_interval
from misheard.report.terminal import render_comparison, render_report
from misheard.stats.compare import compare_tables
from misheard.suite.items import ItemKind

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


def comparison_of(per_session: int = 12, sessions: int = 6, non_speech: int = 6) -> dict[str, Any]:
    sizes = (sessions, per_session, non_speech)
    a, b = make_table(*sizes), make_table(*sizes, seed=2, error=0.04)
    return build_comparison(
        [
            ComparedPair(
                compare_tables(a, b, FAMILIES, axes=AXES, resamples=500),
                {"run": "run-with-whisper-base"},
                {"run": "run-with-whisper-tiny"},
            )
        ],
        suite={"name": "made-up"},
        scorer={},
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
        assert "..." not in text and not re.search("\\d…$|…\\s", text, re.MULTILINE)
        assert not re.search(r"[ ·]$", text, re.MULTILINE)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_interval_is_whole_at_every_width(width: int) -> None:
    report = report_of(table=make_table(6, 12))
    text = shown(render_report(report), width)
    lost = report["propagation"]["lost_to_recognition"]
    for metric in ("response_quality", "correct_rate"):
        low, high = lost[metric]["intervals"]["deciding"]
        scale, digits = (1, 3) if metric == "response_quality" else (100, 1)
        assert f"{scale * low:+.{digits}f}…{scale * high:+.{digits}f}".replace("-", "−") in text
    assert "worse" in text and "same" in text


def test_output_that_is_no_terminal_has_no_escape_codes() -> None:
    assert "\x1b" not in shown(render_report(report_of())) + shown(render_comparison(comparison_of()))


def test_what_is_lost_comes_before_where_and_what_failed() -> None:
    text = shown(render_report(report_of()))
    titles = [
        "What mishearing costs  change",
        "Answer by answer",
        "What mishearing costs, by condition",
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
    legend = text[text.index("* under 50 items") :]
    assert "no interval either" in legend and "worst cell of a row, with all that equal it" in legend
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
    text = text[text.index("By condition") :]
    assert text.count("3 items") == 1
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
    assert "word error rate" in text and "What mishearing costs" not in text and "Answer" not in text


def test_timings_without_a_value_are_left_out() -> None:
    text = shown(render_report(report_of()))
    assert re.search(r"llm, by arm +transcript 3\.25 s$", text, re.MULTILINE)
    assert re.search(r"real-time factor +end to end 0\.161$", text, re.MULTILINE)
    assert re.search(r"audio +212\.40 s$", text, re.MULTILINE)
    assert "Time" not in shown(render_report(report_of(timings=None)))


def test_comparison_shows_both_sides_the_difference_and_the_verdict() -> None:
    comparison = comparison_of()
    text = shown(render_comparison(comparison), 120)
    (wer,) = [d for d in comparison["comparisons"][0]["differences"] if d["metric"] == "wer"]
    assert wer["verdict"] == "better"
    pattern = (
        rf"word error rate +{100 * wer['a']:.1f}% +{100 * wer['b']:.1f}% +−{-100 * wer['difference']:.1f} "
    )
    (line,) = [line for line in text.splitlines() if re.search(pattern, line)]
    assert line.rstrip().endswith("better")
    assert "run-with-whisper-base" in text and "run-with-whisper-tiny" in text
    assert "n 71" in text and "1 failed" in text and "too few" in text


def test_comparison_warns_of_chance_where_it_gives_verdicts() -> None:
    assert "about 1 in 20" in shown(render_comparison(comparison_of()), 200)
    assert "about 1 in 20" not in shown(render_comparison(comparison_of(per_session=4)), 200)


def test_times_take_five_lines_and_what_did_not_run_none() -> None:
    names = ("audio", "plan", "decode", "features", "inference", "recognizer_load", "recognizer_warm_up")
    recognition = {f"{name}_seconds": 10.0 for name in names}
    answers = ("llm", "clean_llm", "control_llm", "language_model_load", "language_model_warm_up")
    factors = {"rtf_inference": 0.25, "rtf_end_to_end": 0.5}
    both = {**recognition, **{f"{name}_seconds": 10.0 for name in answers}, **factors}
    alone = {**recognition, **{f"{name}_seconds": 0.0 for name in answers}, **factors}
    for timings, lines in ((both, 5), (alone, 3)):
        text = shown(render_report(report_of(timings=timings)))
        block = text[text.index("\nTime\n") + 6 :].split("\n\n")[0]
        assert len(block.splitlines()) == lines
        assert ("llm" in block) == (timings is both)


def test_conditions_whose_numbers_coincide_keep_their_own_columns() -> None:
    table = make_table(2, 2, 0)
    for arm in table.arms.values():
        for counts in arm.counts.values():
            counts.values[:] = counts.values[0]
    report = report_of(table=table, axes={"noise": ("clean", "15dB"), "mic": ("laptop", "phone")})
    text = shown(render_report(report), 200)
    assert text[text.index("By condition") :].count("2 items") == 4
    assert "the very same items" not in text
    comparison = build_comparison(
        [ComparedPair(compare_tables(table, table, FAMILIES, axes=report["axes"], resamples=200), {}, {})],
        suite={},
        scorer={},
    )
    assert shown(render_comparison(comparison), 200).count("2 items") == 4


def test_headings_above_each_other_are_explained() -> None:
    report = report_of(table=make_table(1, 3, 0), axes={"language": ("en",), "mic": ("laptop",)})
    assert "headings above each other: the very same items" in shown(render_report(report), 120)


def failing(table: CountTable, arm: Arm, places: Sequence[int]) -> CountTable:
    """Return the table with items whose answer failed in an arm."""
    failure = Failure("respond", FailureKind.TIMEOUT, "")
    old = table.arms[arm]
    lost = np.isin(np.arange(len(table.items)), places)
    failures = tuple(
        failure if is_lost else before for is_lost, before in zip(lost, old.failures, strict=True)
    )
    counts = {
        name: Counts(np.where(lost[:, None], 0.0, one.values), one.present & ~lost)
        for name, one in old.counts.items()
    }
    return replace(table, arms={**table.arms, arm: replace(old, failures=failures, counts=counts)})


def test_both_arms_stand_over_the_pairs_and_what_is_in_none_is_told() -> None:
    table = failing(make_table(6, 12), Arm.TRANSCRIPT, [5, 7, 9])
    report = report_of(table=table)
    text = shown(render_report(report), 120)
    lost = report["propagation"]["lost_to_recognition"]["correct_rate"]
    control = report["arms"]["control"]["correct_rate"]
    assert (lost["n"], control["n"]) == (69, 72)
    assert re.search(r"^n pairs +69 +69 +72$", text, re.MULTILINE)
    values = [f"{100 * one:.1f}%" for one in (lost["b"], lost["a"], control["value"])]
    change = f"{100 * (lost['b'] - lost['a']):+.1f}".replace("-", "−")
    assert re.search(rf"^correct +{' +'.join(values)} +{change} ", text, re.MULTILINE)
    assert (
        "not in the 69 pairs: 2 items that failed in the transcript arm · 1 item that failed in both" in text
    )


def test_number_of_pairs_is_given_again_only_where_it_changes() -> None:
    table = make_table(6, 12, 0)
    rows = np.arange(len(table.items)) < 62
    for arm in table.arms:
        counts = table.arms[arm].counts["answer_class"]
        table = with_counts(
            table,
            arm,
            "answer_class",
            Counts(np.where(rows[:, None], counts.values, 0.0), counts.present & rows),
        )
    text = shown(render_report(report_of(table=table)), 120)
    assert re.findall(r"^n pairs.*", text, re.MULTILINE)[:2] == [
        "n pairs            71          71       72",
        "n pairs below      61          61       62",
    ]


def test_under_six_sessions_there_is_no_interval_on_the_terminal() -> None:
    report = report_of(table=make_table(5, 12, 0))
    assert report["arms"]["audio"]["wer"]["intervals"]["deciding"] is not None
    text = shown(render_report(report), 120)
    assert not re.search(r"\d…", text)
    assert re.search(r"^correct .* –  +inconclusive$", text, re.MULTILINE)
    comparison = comparison_of(sessions=5, non_speech=0)
    assert not re.search(r"\d…", shown(render_comparison(comparison), 120))


def test_interval_of_a_difference_stays_within_what_a_difference_can_be() -> None:
    interval = {"units": 6, "flags": [], "intervals": {"deciding": [-2.324, 1.124]}}
    assert difference_interval("correct_rate", interval) == [-1.0, 1.0]
    assert difference_interval("wer", interval) == [-2.324, 1.124]
    assert rate_interval("wer", interval) == [0.0, 1.124]
    assert rate_interval("correct_rate", interval) == [0.0, 1.0]


def test_worst_cells_are_marked_with_all_their_equals_and_never_alone() -> None:
    table = make_table(3, 2, 0)
    wer = table.arms[Arm.AUDIO].counts["wer"]
    items = tuple(
        replace(item, conditions={"room": f"r{n // 2}", "hall": "one"}) for n, item in enumerate(table.items)
    )
    wer.values[:, :5] = [[wrong, 0, 0, 10 - wrong, 10] for wrong in (3, 3, 1, 1, 3, 3)]
    wer.present[:] = True
    axes = {"room": ("r0", "r1", "r2", "r3"), "hall": ("one",)}
    report = report_of(table=replace(table, items=items), families=FAMILIES[:1], axes=axes)
    (line,) = [line for line in shown(render_report(report), 120).splitlines() if "▲ 30" in line]
    assert line.split() == ["word", "error", "rate", "▲", "30.0%", "10.0%", "▲", "30.0%", "–", "23.3%"]
    alone = report_of(table=replace(table, items=items), families=FAMILIES[:1], axes={"hall": ("one",)})
    assert "▲" not in shown(render_report(alone), 120)


@pytest.mark.parametrize(("session", "noun"), [("s", "session"), (None, "unit")])
def test_units_are_sessions_where_every_item_has_one(session: str | None, noun: str) -> None:
    table = make_table(6, 12, 0)
    if session is None:
        odd = replace(table.items[0], session=None, resampling_unit="item:q000")
        table = replace(table, items=(odd, *table.items[1:]))
    count = 6 if session else 7
    comparison = build_comparison(
        [ComparedPair(compare_tables(table, table, FAMILIES, axes=AXES, resamples=200), {}, {})],
        suite={},
        scorer={},
    )
    for renderable in (render_report(report_of(table=table)), render_comparison(comparison)):
        text = shown(renderable, 120)
        assert f"{count} {noun}s" in text.splitlines()[0]
        assert f"intervals: 95%, over {noun}s" in text
        assert ("unit" in text) == (noun == "unit")


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("nfc", "profile nfc: case and punctuation count as errors"),
        ("exact", "profile exact: case, punctuation and Unicode form count as errors"),
        ("plain", "profile plain: case and punctuation do not count"),
        ("spoken", "profile spoken: case, punctuation and how numbers are written do not count"),
    ],
)
def test_every_report_says_under_which_profile_it_is(profile: str, expected: str) -> None:
    text = shown(render_report(report_of(scorer={"profile": profile})))
    assert expected in text.splitlines()


@pytest.mark.parametrize("profile", ["exact", "nfc", "plain", "spoken"])
def test_numbers_are_explained_where_they_are_shown_and_their_form_counts(profile: str) -> None:
    sentence = "numbers wrong: words and digits count as different, unless the profile is spoken"
    report = report_of(scorer={"profile": profile})
    for value, is_said in ((0.5, profile != "spoken"), (None, False)):
        report["arms"]["audio"]["pier_numbers"] = {"value": value}
        assert (sentence in " ".join(shown(render_report(report)).split())) == is_said


@pytest.mark.parametrize(
    ("kept", "where"),
    [
        ([], None),
        (["hi", "ta"], "in hi, ta"),
        (["hi", None], "in hi and where no language is given"),
        ([None], "where no language is given"),
    ],
)
def test_number_words_that_stay_words_are_said_once(kept: list[str | None], where: str | None) -> None:
    scorer = {"profile": "spoken", "number_words_kept": kept}
    text = shown(render_report(report_of(scorer=scorer)))
    assert text.count("number words") == (where is not None)
    assert where is None or f"profile spoken: number words stay words {where}" in text.splitlines()


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"language_model": True}, "No answers are measured: no item has a reference_answer."),
        (
            {"language_model": False, "planner": True},
            "No boards are measured: no item of the suite has a golden plan.",
        ),
        ({"language_model": False}, "No answers are measured: the run has no language model."),
        (None, "No answers are measured: that takes a language model, and items with a reference_answer."),
    ],
)
def test_run_of_recognition_alone_says_why_there_are_no_answers(
    run: dict[str, Any] | None, expected: str
) -> None:
    table = make_table()
    audio = replace(table.arms[Arm.AUDIO], counts={"wer": table.arms[Arm.AUDIO].counts["wer"]})
    alone = replace(table, arms={Arm.AUDIO: audio})
    assert expected in shown(render_report(report_of(table=alone, run=run)), 120)
    assert "No answers" not in shown(render_report(report_of(run=run)), 120)


def test_terms_of_answers_are_explained_where_they_are_shown() -> None:
    text = shown(render_report(report_of()), 120)
    for term in (
        "answer quality: word overlap with the human answer (F1)",
        "hallucinated: neither the fact nor an abstention",
        "answers changed in the control arm: the noise floor",
    ):
        assert term in text
    custom = shown(render_report(report_of(scorer={"response_scorer": "mine:score"})), 120)
    assert "answer quality: scored by mine:score" in custom
    assert "hallucinated" not in shown(render_report(report_of(families=FAMILIES[:2])), 120)


def test_the_noise_floor_has_its_pairs_and_units() -> None:
    for per_session, pairs in ((12, "72 pairs"), (4, "24* pairs")):
        report = report_of(table=make_table(6, per_session))
        flips = report["propagation"]["control"]["flip_rate"]
        assert f"{flips['n']}{'*' if flips['flags'] else ''} pairs" == pairs
        (line,) = [one for one in shown(render_report(report)).splitlines() if one.startswith("noise floor:")]
        rate = f"{100 * flips['value']:.1f}%"
        assert line.startswith(f"noise floor: control changed {rate} of answers (")
        assert line.endswith(f", {pairs}, {flips['units']} units)")


def test_cells_in_which_nothing_counts_are_left_out_of_what_mishearing_costs() -> None:
    table = make_table(6, 12)
    kinds = [item.kind == ItemKind.SPEECH for item in table.items]
    items = tuple(
        replace(item, conditions={"speed": "slow" if place % 2 else "fast"} if is_speech else {})
        for place, (item, is_speech) in enumerate(zip(table.items, kinds, strict=True))
    )
    table = replace(table, items=items)
    axes = {"speed": ("slow", "fast", "unheard")}

    def headings(**changes: Any) -> list[bool]:
        text = shown(render_report(report_of(axes=axes, **changes)), 120)
        costs, matrix = text[text.index("costs, by condition") :].split("By condition")
        return ["(none)" in costs, "(none)" in matrix, "unheard" in costs, "unheard" in matrix]

    assert headings(table=table) == [False, True, True, True]
    silent = next(place for place, is_speech in enumerate(kinds) if not is_speech)
    assert headings(table=failing(table, Arm.AUDIO, [silent])) == [True] * 4


def test_what_is_missing_has_one_name() -> None:
    text = shown(render_report(report_of(table=make_table(6, 12))), 120)
    assert "share of missing" in text and "shortfall" not in text
    assert (
        "missing: what the audio arm lacks to the best score; anyway: missing with the transcript too" in text
    )
