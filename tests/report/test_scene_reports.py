"""Reports of runs that draw: where a chain of arms loses, what is not defined, what the corrector wins."""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from made_up_tables import AXES, FAMILIES, SCENE_FAMILIES, FailureRates, make_table, scene_table
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.terminal import render_report

PLANNER = FailureRates(recognition=0.12, planning=0.30, rendering=0.05, uncorrected=0.1)


def report_of(table: CountTable, **changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "suite": {"name": "boards", "version": "1"},
        "system": {},
        "scorer": {"sha256": "0" * 64},
        "timings": None,
        "axes": AXES,
        "primary_metrics": {"en": "wer"},
        "resamples": 300,
        **changes,
    }
    return build_report(table, arguments.pop("families", SCENE_FAMILIES), **arguments)


def shown(report: dict[str, Any], width: int = 80, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    Console(file=out, width=width, highlight=False).print(render_report(report))
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def attribution(report: dict[str, Any], metric: str, axis: str | None = None) -> dict[str, Any]:
    place = next(place for place in report["attribution"] if place["axis"] == axis)
    (found,) = [entry for entry in place["metrics"] if entry["metric"] == metric]
    return dict(found)


def arms(*names: Arm) -> CountTable:
    return scene_table(PLANNER, arms=names)


@pytest.mark.parametrize(
    "table",
    [
        scene_table(PLANNER),
        scene_table(PLANNER, sessions=2, per_session=3),
        arms(Arm.AUDIO),
        arms(Arm.AUDIO, Arm.PLAN),
        arms(Arm.AUDIO, Arm.UNCORRECTED),
        arms(Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL),
    ],
    ids=["all arms", "few", "audio", "no transcript", "corrector", "no plan"],
)
def test_report_follows_its_schema_and_every_width_holds_it(table: CountTable) -> None:
    report = report_of(table, judge={"status": "withheld", "reason": "not calibrated"})
    schema = json.loads((files("misheard.report") / "report.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    for width in (80, 200):
        for encoding in ("utf-8", "ascii"):
            text = shown(report, width, encoding)
            assert max(map(len, text.splitlines())) <= width
            assert not re.search(r"[ ·]$", text, re.MULTILINE)


def test_shares_of_all_stages_make_up_the_whole() -> None:
    for place in report_of(scene_table(PLANNER))["attribution"]:
        for entry in place["metrics"]:
            parts = [*entry["losses"], entry["remainder"]]
            assert [part["stage"] for part in parts] == ["recognition", "planning", "rendering"]
            if entry["shortfall"] is None:
                continue
            assert sum(part["amount"] for part in parts) == pytest.approx(entry["shortfall"], abs=1e-12)
            if parts[0]["share"] is not None:
                assert sum(part["share"] for part in parts) == pytest.approx(1.0)


def test_the_stage_that_loses_most_is_named_with_its_interval() -> None:
    report = report_of(scene_table(PLANNER))
    assert attribution(report, "label_f1")["largest"]["stage"] == "planning"
    sentence = next(line for line in report["takeaway"] if line.startswith("Planning loses most"))
    assert re.fullmatch(
        r"Planning loses most: \d+% of all that is missing \(\d+…\d+\), 0\.\d+ more than recognition "
        r"\(0\.\d+…0\.\d+\); recognition \d+% \(\d+…\d+\), rendering \d+% \(\d+…\d+\)\.",
        sentence,
    )
    assert "most is lost in planning" in shown(report, 200)


@pytest.mark.parametrize(
    ("table", "beginning"),
    [
        (scene_table(PLANNER, sessions=5), "Of what label F1 lacks, with too few items for a verdict: "),
        (scene_table(FailureRates(0.15, 0.14, 0.11), sessions=8), "Which stage loses most is not proven: "),
    ],
    ids=["five sessions", "much alike"],
)
def test_where_it_is_not_proven_which_stage_loses_most_the_report_says_so(
    table: CountTable, beginning: str
) -> None:
    report = report_of(table)
    assert not attribution(report, "label_f1")["largest"]["shown"]
    (sentence,) = [line for line in report["takeaway"] if line.startswith(beginning)]
    assert "recognition" in sentence and "planning" in sentence
    assert ("which stage loses most is not proven" in shown(report, 200)) == ("not proven" in beginning)


def test_where_nothing_is_lost_no_stage_loses_most() -> None:
    report = report_of(scene_table(FailureRates(0.0, 0.0, 0.0), sessions=8))
    assert attribution(report, "label_f1")["shortfall"] == 0
    assert not [line for line in report["takeaway"] if "loses most" in line or "lacks" in line]


def test_a_stage_that_wins_has_a_negative_part() -> None:
    table = scene_table(PLANNER)
    worse = scene_table(FailureRates(0.0, 0.5, 0.3), seed=9)
    table = replace(table, arms={**table.arms, Arm.PLAN: worse.arms[Arm.AUDIO]})
    report = report_of(replace(table, arms={arm: table.arms[arm] for arm in Arm}))
    planning = attribution(report, "label_f1")["losses"][1]
    assert planning["stage"] == "planning" and planning["amount"] < 0 and planning["share"] < 0
    assert "−" in next(line for line in shown(report).splitlines() if line.startswith("labels (F1)"))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (tuple(Arm), []),
        ((Arm.AUDIO, Arm.TRANSCRIPT), [{"stage": "planning", "reason": "arm_not_run"}]),
        (
            (Arm.AUDIO, Arm.PLAN),
            [{"stage": stage, "reason": "arm_not_run"} for stage in ("recognition", "planning")],
        ),
    ],
    ids=["all", "no plan", "no transcript"],
)
def test_a_step_that_a_run_cannot_have_is_listed(
    names: Sequence[Arm], expected: list[dict[str, str]]
) -> None:
    report = report_of(arms(*names))
    entry = attribution(report, "label_f1")
    assert entry["undefined"] == expected
    assert ("not defined: the loss of planning" in shown(report, 200)) == bool(expected)
    if names == (Arm.AUDIO, Arm.PLAN):
        (both,) = entry["losses"]
        assert (both["stage"], both["golden"]) == ("recognition_and_planning", "plan")
        assert both["amount"] + entry["remainder"]["amount"] == pytest.approx(entry["shortfall"])
    else:
        assert entry["remainder"]["stage"] == ("after_transcript" if expected else "rendering")


def test_a_system_that_answers_has_no_planner_and_says_so() -> None:
    report = report_of(make_table(), families=FAMILIES)
    entry = attribution(report, "correct_rate")
    assert entry["undefined"] == [{"stage": "planning", "reason": "no_planner"}]
    assert entry["remainder"]["stage"] == "after_transcript"


def test_answers_beside_boards_have_no_loss_of_planning() -> None:
    boards, answers = scene_table(PLANNER, 6, 8), make_table(6, 8, 0)
    mixed = {
        arm: replace(table, counts={**table.counts, **answers.arms[arm].counts})
        if arm in answers.arms
        else table
        for arm, table in boards.arms.items()
    }
    report = report_of(CountTable(boards.items, mixed), families=(*FAMILIES, *SCENE_FAMILIES[1:]))
    entry = attribution(report, "correct_rate")
    assert entry["undefined"] == [{"stage": "planning", "reason": "not_scored"}]
    assert [loss["stage"] for loss in entry["losses"]] == ["recognition"]
    assert attribution(report, "label_f1")["undefined"] == []


def test_planning_of_a_slice_is_paired_within_it() -> None:
    table = scene_table(PLANNER)
    clean = np.array([item.conditions["noise"] == "clean" for item in table.items])
    entry = attribution(report_of(table), "label_recall", "noise")
    hits = [table.arms[arm].counts["scene"].values[clean, 2].sum() for arm in (Arm.TRANSCRIPT, Arm.PLAN)]
    planning = entry["losses"][1]
    assert planning["amount"] == pytest.approx((hits[1] - hits[0]) / (6 * clean.sum()))
    assert planning["difference"]["n"] == clean.sum()
    assert planning["intervals"]["deciding"] is not None


def test_what_the_corrector_wins_is_no_link_of_the_chain() -> None:
    report = report_of(scene_table(PLANNER))
    won = report["propagation"]["correction"]["label_f1"]
    heard = [report["arms"][arm]["label_f1"]["value"] for arm in ("audio", "uncorrected")]
    assert won["difference"] == pytest.approx(heard[0] - heard[1])
    assert won["verdict"] == "better"
    assert attribution(report, "label_f1")["correction"] == won
    assert any(line.startswith("The corrector wins 0.") for line in report["takeaway"])
    assert report["propagation"]["uncorrected"]["board_flip_rate"]["n"] == 96
    without = report_of(arms(Arm.AUDIO, Arm.TRANSCRIPT, Arm.PLAN, Arm.CONTROL))
    assert without["propagation"]["correction"] == without["propagation"]["uncorrected"] == {}
    assert attribution(without, "label_f1")["correction"] is None


def test_failures_of_planner_and_renderer_are_told_by_arm_and_stage() -> None:
    table = scene_table(PLANNER)
    failures = (
        Failure("plan", FailureKind.INVALID_OUTPUT, "no scene"),
        Failure("render", FailureKind.TIMEOUT, ""),
        *(None,) * (len(table.items) - 2),
    )
    table = replace(table, arms={**table.arms, Arm.AUDIO: replace(table.arms[Arm.AUDIO], failures=failures)})
    report = report_of(table)
    assert report["failures"]["by_arm"]["audio"]["by_stage"] == {"plan": 1, "render": 1}
    assert "plan ×1, render ×1" in shown(report, 120)


def test_a_run_without_golden_arms_says_that_the_cost_is_not_measured() -> None:
    report = report_of(arms(Arm.AUDIO))
    assert report["attribution"] == []
    assert report["takeaway"][0] == "What mishearing costs is not measured: the run has no transcript arm."
