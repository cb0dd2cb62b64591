"""Every metric of every family has a name and a number format on the terminal."""

import re
from pathlib import Path

import pytest

from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.registry import ScoringSettings, families
from misheard.report.labels import (
    UNICODE,
    difference_unit,
    format_difference,
    format_value,
    is_detail,
    is_in_points,
    is_score,
    is_shown_by_condition,
    label,
    metric_suggestion,
    points_of,
    reachable,
    section,
)

EVERYTHING = SuiteContent(
    True, True, True, char_scripts=("Deva", "Hani"), scored_alone=("Deva", "Hani", "Latn"), plans=True
)
SYSTEMS = [
    SystemContent(corrects=True, n_best=True, scenes=scenes, judged=("meaning", "answer"))
    for scenes in (False, True)
]
FAMILIES = list(
    {
        family.name: family
        for system in SYSTEMS
        for family in families(ScoringSettings(), {}, EVERYTHING, system)
    }.values()
)
OUTCOMES = (
    "response", "propagation", "scene", "scene_propagation", "n_best", "judge_meaning", "judge_answer",
)  # fmt: skip
"""Families with scores beside shares."""


@pytest.mark.parametrize(
    ("metric", "name", "shown"),
    [
        ("mer", "mixed error rate", "12.5%"),
        ("mer_bounded", "mer bounded", "12.5%"),
        ("cer_hani", "CER of Hani alone", "12.5%"),
        ("wer_latn", "WER of Latn alone", "12.5%"),
        ("wer_mean", "wer mean", "12.5%"),
        ("pier_latn", "Latn words wrong", "12.5%"),
        ("latn_precision", "Latn precision", "12.5%"),
        ("pier_numbers", "numbers wrong", "12.5%"),
        ("entity_preservation", "entities kept", "12.5%"),
        ("script_mismatch_rate", "wrong script", "12.5%"),
        ("response_quality", "answer quality", "0.125"),
        ("wer_corrected", "WER, corrected", "12.5%"),
        ("correction_precision", "edits that help", "12.5%"),
        ("latn_token_change_rate", "Latn words touched", "12.5%"),
        ("n_best_oracle", "oracle error rate", "12.5%"),
        ("n_best_length", "hypotheses", "0.125"),
        ("entity_preservation_board", "entities on boards", "12.5%"),
        ("label_f1", "labels (F1)", "0.125"),
        ("label_recall", "labels drawn", "12.5%"),
        ("empty_board_rate", "empty boards", "12.5%"),
        ("shapes_per_board", "shapes a board", "0.125"),
        ("judge_meaning_score", "meaning, judged", "0.1"),
        ("judge_answer_flip_rate", "judge answer flip rate", "12.5%"),
    ],
)
def test_names_and_numbers(metric: str, name: str, shown: str) -> None:
    assert label(metric) == name
    assert format_value(metric, 0.125, UNICODE) == shown


def test_scores_of_the_judge_are_in_points() -> None:
    assert format_value("judge_answer_score", 87.26, UNICODE) == "87.3"
    assert format_difference("judge_answer_score", -2.5, UNICODE) == "−2.5"
    assert reachable("judge_answer_score", (-1.0, 103.0)) == [0.0, 100.0]
    assert reachable("judge_answer_score", (-103.0, 1.0), is_difference=True) == [-100.0, 1.0]
    assert difference_unit("judge_answer_score") == difference_unit("correct_rate") == " points"
    assert (points_of("judge_answer_score", 2.0), points_of("correct_rate", 0.02)) == (2.0, 2.0)


def test_what_is_best_at_100_is_shown_in_points() -> None:
    for family in FAMILIES:
        for rate in family.rates:
            if rate.better is not None:
                assert is_in_points(rate.name) == (rate.best == 100.0), rate.name
            assert is_score(rate.name) or not is_in_points(rate.name)


def test_every_recognition_metric_is_a_percentage() -> None:
    for family in FAMILIES:
        for rate in family.rates:
            if family.name.removesuffix("_replies") not in OUTCOMES:
                assert format_value(rate.name, 0.5, UNICODE).endswith("%"), rate.name


def test_headings_are_written_for_readers() -> None:
    for family in FAMILIES:
        assert re.match(r"[A-Z][a-z]", section(family.name, "audio")), family.name
        assert "_" not in section(family.name, "audio")


def test_the_matrix_shows_few_metrics_of_a_family() -> None:
    for family in FAMILIES:
        shown = [rate.name for rate in family.rates if is_shown_by_condition(rate.name)]
        assert len(shown) <= 4, family.name
    assert all(is_detail(name) for name in ("wer_bounded", "lexical_error_rate", "burst_loop_rate"))


def test_the_documentation_maps_labels_to_names() -> None:
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    section_of_names = text.split("## Names")[1].split("## ")[0]
    listed = dict(re.findall(r"^\| (.+?) +\| `(\w+)` +\|$", section_of_names, re.MULTILINE))
    names = [rate.name for family in FAMILIES for rate in family.rates if "_deva" not in rate.name]
    assert listed == {label(name): name for name in names if label(name) != name.replace("_", " ")}


def test_a_metric_asked_for_by_its_label_is_suggested() -> None:
    names = [rate.name for family in FAMILIES for rate in family.rates]
    for name in names:
        for asked in (label(name), label(name).upper(), f" {name.replace('_', ' ')} "):
            assert metric_suggestion(asked, names) == f" (did you mean '{name}'?)"
    assert metric_suggestion("wre", names) == " (did you mean 'wer'?)"
    assert metric_suggestion("", ["wer"]) == metric_suggestion("\x00", ["wer"]) == " (known: 'wer')"
