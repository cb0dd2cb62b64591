"""What a pilot says about the size of a suite: contrasts, cells, the document and its table."""

import io
import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from rich.console import Console

from made_up_tables import AXES, FAMILIES, make_table
from misheard.errors import InputError
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.power import Question, build_power, can_plan
from misheard.report.terminal import render_power
from misheard.report.terminal_power import nothing_planned
from misheard.stats.compare import compare_arms, compare_tables

PILOT, OTHER = make_table(8, 8, 0), make_table(8, 8, 0, seed=2, error=0.05)


def plan_of(table: CountTable = PILOT, against: CountTable | None = None, **question: Any) -> dict[str, Any]:
    report = build_report(
        table, FAMILIES, suite={"name": "made-up"}, system={}, scorer={"sha256": "0" * 64}, timings=None,
        axes=AXES, primary_metrics={"en": "wer"}, resamples=100,
    )  # fmt: skip
    return build_power(table, FAMILIES, report, Question(**question), against)


def one(document: dict[str, Any], metric: str, contrast: str, **conditions: str | None) -> dict[str, Any]:
    (found,) = [
        plan
        for plan in document["plans"]
        if (plan["metric"], plan["contrast"], plan["conditions"]) == (metric, contrast, conditions)
    ]
    return dict(found)


def shown(document: dict[str, Any], width: int, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    Console(file=out, width=width, highlight=False).print(render_power(document))
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined, no-any-return]


def test_plan_follows_its_schema() -> None:
    schemas = [
        json.loads((files("misheard.report") / f"{name}.schema.json").read_text())
        for name in ("report", "power")
    ]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    Draft202012Validator.check_schema(schemas[1])
    validator = Draft202012Validator(schemas[1], registry=registry)
    documents = (
        plan_of(),
        plan_of(against=OTHER, effect=0.05, by=(("noise", "mic"), ("language",))),
        plan_of(make_table(2, 3, 1), effect=1e-9, power=0.95, metrics=("cer",)),
    )
    for document in documents:
        validator.validate(document)
    assert not validator.is_valid({**documents[0], "effect": 0})


def test_usual_metrics_are_the_primary_ones_and_those_of_answers() -> None:
    found = {(plan["metric"], plan["contrast"]) for plan in plan_of()["plans"]}
    answers = {
        (m, c)
        for m in ("correct_rate", "hallucination_rate", "response_quality")
        for c in ("arms", "systems_bound")
    }
    assert found == {("wer", "systems_bound"), *answers}


def test_what_mishearing_costs_is_planned_with_its_paired_standard_error() -> None:
    (difference,) = [d for d in compare_arms(PILOT, FAMILIES, resamples=100) if d.metric == "correct_rate"]
    plan = one(plan_of(), "correct_rate", "arms")
    assert difference.intervals is not None
    assert plan["value"] == pytest.approx(difference.difference)
    assert (plan["n"], plan["units"]) == (difference.n, difference.units)
    assert plan["standard_error"] == pytest.approx(difference.intervals.standard_error)
    assert plan["smallest_effect"] == pytest.approx(difference.smallest_detectable)


def test_two_runs_are_planned_with_their_paired_standard_error() -> None:
    compared = compare_tables(PILOT, OTHER, FAMILIES, axes=AXES, resamples=100)
    (difference,) = [d for d in compared.differences if (d.metric, d.arm) == ("wer", Arm.AUDIO)]
    document = plan_of(against=OTHER)
    plan = one(document, "wer", "systems")
    assert difference.intervals is not None
    assert plan["value"] == pytest.approx(difference.difference)
    assert plan["standard_error"] == pytest.approx(difference.intervals.standard_error)
    assert not [one for one in document["plans"] if one["contrast"] == "systems_bound"]


def test_one_run_bounds_the_comparison_of_two_like_it() -> None:
    """Two systems that vary alike, each by itself, reach the bound."""
    random = np.random.default_rng(4)
    plan = one(plan_of(), "wer", "systems_bound")
    counts = PILOT.arms[Arm.AUDIO].counts["wer"]
    sessions = np.array([int(item.session[1:]) for item in PILOT.items])  # type: ignore[index]
    edits = np.bincount(sessions, counts.values[:, :3].sum(axis=1) * counts.present)
    words = np.bincount(sessions, counts.values[:, 4] * counts.present)
    without = (edits.sum() - edits) / (words.sum() - words)
    alone = math.sqrt(7 / 8 * ((without - without.mean()) ** 2).sum())
    assert plan["standard_error"] == pytest.approx(math.sqrt(2) * alone)
    rates = edits / words
    spread = [np.std(rates[random.permutation(8)] - rates, ddof=1) for _ in range(2_000)]
    assert np.sqrt(np.mean(np.square(spread))) == pytest.approx(math.sqrt(2) * np.std(rates, ddof=1), rel=0.1)


def test_sizes_fall_with_the_root_of_the_sessions_and_hold_the_pilots_own() -> None:
    plan = one(plan_of(effect=0.05), "wer", "systems_bound")
    units = [size["units"] for size in plan["sizes"]]
    assert units == sorted(units) and plan["units"] in units and min(units) == 6
    effects = [size["smallest_effect"] for size in plan["sizes"]]
    assert effects == sorted(effects, reverse=True)
    own = next(size for size in plan["sizes"] if size["units"] == plan["units"])
    assert (own["items"], own["smallest_effect"]) == (plan["n"], plan["smallest_effect"])
    assert plan["needed"]["items"] >= plan["needed"]["units"]


def test_cells_are_planned_with_their_own_spread() -> None:
    document = plan_of(by=(("noise",),))
    noisy = one(document, "wer", "systems_bound", noise="15dB")
    clean = one(document, "wer", "systems_bound", noise="clean")
    assert noisy["standard_error"] > clean["standard_error"]
    empty = one(document, "wer", "systems_bound", noise="5dB")
    assert (empty["n"], empty["reason"], empty["flags"]) == (0, "no_items", ["empty"])


def test_pilot_with_few_sessions_plans_nothing_and_says_so() -> None:
    document = plan_of(make_table(5, 12, 0), effect=0.05)
    assert not can_plan(document)
    assert {plan["reason"] for plan in document["plans"]} == {"under_6_units"}
    assert all(plan["smallest_effect"] is plan["needed"] is None for plan in document["plans"])
    assert nothing_planned(document).startswith("nothing can be planned: 5 sessions, and under 6")
    assert "under 6 sessions" in shown(document, 80) and "What others would show" not in shown(document, 80)


def test_pilot_without_any_spread_plans_nothing_and_says_so() -> None:
    table = make_table(8, 8, 0)
    for counts in table.arms[Arm.AUDIO].counts.values():
        counts.values[:] = counts.values[0]
        counts.present[:] = True
    document = plan_of(table, metrics=("wer",))
    assert [plan["reason"] for plan in document["plans"]] == ["no_spread"]
    assert "no metric varies between the sessions" in nothing_planned(document)
    assert "every session alike" in shown(document, 80)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ({"metrics": ("we",)}, r"--metric 'we': the audio arm has no such metric \(did you mean 'wer'\?\)"),
        (
            {"metrics": ("wer",), "arm": Arm.TRANSCRIPT},
            r"--metric 'wer': the transcript arm has no such metric",
        ),
        ({"by": (("nois",),)}, r"unknown axis 'nois' \(did you mean 'noise'\?\)"),
    ],
)
def test_what_is_not_there_is_named(question: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        plan_of(**question)


def test_arm_that_was_not_run_is_named() -> None:
    alone = CountTable(PILOT.items, {Arm.AUDIO: PILOT.arms[Arm.AUDIO]})
    with pytest.raises(InputError, match="--arm control: the pilot was run in audio alone"):
        plan_of(alone, arm=Arm.CONTROL)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("effect", [None, 0.05, 1e-9])
def test_table_fits_the_terminal(width: int, encoding: str, effect: float | None) -> None:
    document = plan_of(effect=effect)
    text = shown(document, width, encoding)
    assert max(len(line) for line in text.splitlines()) <= width
    assert text.isascii() == (encoding == "ascii")
    smallest = one(document, "wer", "systems_bound")["smallest_effect"]
    assert f"{100 * smallest:.1f}" in text
    assert ("over 1,000,000" in text) == (effect == 1e-9)
    assert ("needed" in text) == (effect is not None)
    assert "--against RUN" in text
