"""Every metric of every family has a name and a number format on the terminal."""

import re
from pathlib import Path

import pytest

from misheard.metrics.content import SuiteContent
from misheard.metrics.registry import ScoringSettings, families
from misheard.report.labels import (
    UNICODE,
    format_value,
    is_detail,
    is_shown_by_condition,
    label,
    metric_suggestion,
    section,
)

EVERYTHING = SuiteContent(
    True, True, True, char_scripts=("Deva", "Hani"), scored_alone=("Deva", "Hani", "Latn")
)
FAMILIES = families(ScoringSettings(), {}, EVERYTHING)


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
    ],
)
def test_names_and_numbers(metric: str, name: str, shown: str) -> None:
    assert label(metric) == name
    assert format_value(metric, 0.125, UNICODE) == shown


def test_every_recognition_metric_is_a_percentage() -> None:
    for family in FAMILIES:
        for rate in family.rates:
            if family.name not in ("response", "propagation"):
                assert format_value(rate.name, 0.5, UNICODE).endswith("%"), rate.name


def test_headings_are_written_for_readers() -> None:
    for family in FAMILIES:
        assert re.match(r"[A-Z][a-z]", section(family.name, "audio")), family.name


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
