import json
import math
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from made_up_tables import AXES, FAMILIES, RATIO, make_table, ratio_table
from misheard.canonical import canonical_json
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm
from misheard.metrics.table import CountTable
from misheard.report.build import build_report
from misheard.report.comparison import ComparedPair, build_comparison
from misheard.stats.compare import compare_tables


def report_of(table: CountTable, **changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "suite": {"name": "made-up", "version": "1"},
        "system": {},
        "scorer": {"sha256": "0" * 64},
        "timings": None,
        "axes": AXES,
        "primary_metrics": {"en": "wer"},
        "resamples": 300,
        **changes,
    }
    return build_report(table, arguments.pop("families", FAMILIES), **arguments)


def cell(report: dict[str, Any], axis: str, value: str | None) -> dict[str, Any]:
    (found,) = [c for c in report["matrix"] if (c["axis"], c["value"]) == (axis, value)]
    return dict(found)


def estimate(cell: dict[str, Any], metric: str, arm: str = "audio") -> dict[str, Any]:
    (found,) = [e for e in cell["estimates"] if (e["metric"], e["arm"]) == (metric, arm)]
    return dict(found)


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((files("misheard.report") / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def objects(schema: Any) -> list[dict[str, Any]]:
    """Return every object schema with fixed properties, wherever it stands."""
    if isinstance(schema, list):
        return [found for part in schema for found in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if isinstance(schema.get("properties"), dict) and "required" in schema else []
    return own + [found for part in schema.values() for found in objects(part)]


@pytest.mark.parametrize(
    "table",
    [
        make_table(),
        make_table(1, 3, 0),
        make_table(0, 1, 2),
        make_table(50, 2, 0),
        CountTable((), {}),
    ],
    ids=["demo", "one session", "no speech", "many sessions", "empty"],
)
def test_report_follows_its_schema(table: CountTable) -> None:
    for axes in (AXES, {}):
        validator("report").validate(report_of(table, axes=axes))


def test_comparison_follows_its_schema() -> None:
    a, b = make_table(seed=1), make_table(seed=2)
    b = replace(b, arms={Arm.AUDIO: b.arms[Arm.AUDIO]})
    document = build_comparison(
        [
            ComparedPair(
                compare_tables(a, b, FAMILIES, axes=AXES, resamples=300), {"run": "one"}, {"run": "two"}
            )
        ],
        suite={"name": "made-up"},
        scorer={},
    )
    validator("comparison").validate(document)
    assert document["comparisons"][0]["not_compared"]


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_schema_leaves_no_object_open(name: str) -> None:
    described = objects(json.loads((files("misheard.report") / f"{name}.schema.json").read_text()))
    assert len(described) > 4
    for schema in described:
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])


def test_schema_refuses_what_a_report_never_holds() -> None:
    report = report_of(make_table())
    for change in ({"score": 0.9}, {"format_version": 1}, {"timings": 3}):
        assert not validator("report").is_valid({**report, **change})


def test_equal_counts_give_equal_bytes() -> None:
    assert canonical_json(report_of(make_table())) == canonical_json(report_of(make_table()))


def test_another_seed_changes_nothing_but_the_bootstrap() -> None:
    one, two = report_of(make_table(), seed=1), report_of(make_table(), seed=2)
    assert one != two
    wer = [estimate(cell(r, "noise", "clean"), "wer") for r in (one, two)]
    assert wer[0]["value"] == wer[1]["value"]
    assert wer[0]["intervals"]["jackknife"] == wer[1]["intervals"]["jackknife"]
    assert wer[0]["intervals"]["bootstrap"] != wer[1]["intervals"]["bootstrap"]


def test_matrix_has_a_cell_per_declared_value_and_none_over_everything() -> None:
    report = report_of(make_table())
    assert [(c["axis"], c["value"]) for c in report["matrix"]] == [
        ("language", "en"),
        ("language", None),
        ("noise", "clean"),
        ("noise", "15dB"),
        ("noise", "5dB"),
        ("mic", "laptop"),
        ("mic", "phone"),
        ("mic", None),
    ]
    assert all(c["items"] < report["items"]["total"] for c in report["matrix"])


def test_empty_cell_says_so_and_has_no_numbers() -> None:
    empty = cell(report_of(make_table()), "noise", "5dB")
    assert (empty["items"], empty["units"], empty["flags"]) == (0, 0, ["empty"])
    for entry in empty["estimates"]:
        assert (entry["value"], entry["reason"], entry["n"], entry["intervals"]) == (
            None,
            "no_items",
            0,
            None,
        )


def test_cell_counts_items_sessions_and_failures() -> None:
    noisy = cell(report_of(make_table()), "noise", "15dB")
    assert (noisy["items"], noisy["units"]) == (24, 6)
    assert noisy["failed"] == {"audio": 1, "transcript": 0, "control": 0}
    assert (estimate(noisy, "wer")["n"], estimate(noisy, "wer")["failed"]) == (23, 1)
    assert estimate(noisy, "correct_rate", "transcript")["n"] == 24


def test_small_cells_are_flagged_and_the_primary_metric_is_marked() -> None:
    report = report_of(make_table(10, 10, 0))
    english = cell(report, "language", "en")
    assert estimate(english, "wer")["flags"] == ["primary"]
    assert estimate(english, "cer")["flags"] == []
    assert estimate(cell(report, "noise", "15dB"), "wer")["flags"] == ["under_50"]
    assert cell(report, "mic", "laptop")["flags"] == ["under_6_units"]


def test_value_and_counts_are_sums_over_the_cells_items() -> None:
    table = make_table()
    wer = estimate(cell(report_of(table), "noise", "clean"), "wer")
    counts = table.arms[Arm.AUDIO].counts["wer"]
    rows = [i.conditions["noise"] == "clean" for i in table.items] & counts.present
    edits, units = counts.values[rows][:, :3].sum(), counts.values[rows][:, 4].sum()
    assert wer["value"] == edits / units
    assert wer["counts"]["reference_units"] == units
    assert all(isinstance(wer["counts"][name], int) for name in ("substitutions", "reference_units"))


def test_worst_cell_is_named_per_metric_by_its_better_direction() -> None:
    report = report_of(make_table())
    worst = {(w["metric"], w["arm"]): w for w in report["worst_cells"]}
    assert (worst["wer", "audio"]["axis"], worst["wer", "audio"]["value"]) == ("noise", "15dB")
    rates = [
        estimate(c, "correct_rate")["value"]
        for c in report["matrix"]
        if c["axis"] in ("noise", "mic") and estimate(c, "correct_rate")["value"] is not None
    ]
    assert worst["correct_rate", "audio"]["rate"] == min(rates)
    assert ("abstention_rate", "audio") not in worst


def worst_of(*wrong: int) -> list[tuple[str, str | None]]:
    """Return the worst cells of a ratio that is `wrong` of 10 on each value of an axis."""
    table = ratio_table(wrong, [10] * len(wrong), [f"s{n}" for n in range(len(wrong))])
    items = tuple(replace(item, conditions={"room": f"r{n}"}) for n, item in enumerate(table.items))
    axes = {"room": tuple(f"r{n}" for n in range(len(wrong)))}
    report = report_of(replace(table, items=items), families=(RATIO,), axes=axes)
    return [(entry["axis"], entry["value"]) for entry in report["worst_cells"]]


def test_all_cells_that_equal_the_worst_are_named_and_none_where_all_are_equal() -> None:
    assert worst_of(3, 1, 3) == [("room", "r0"), ("room", "r2")]
    assert worst_of(1, 3) == [("room", "r1")]
    assert worst_of(3, 3, 3) == []
    assert worst_of(3) == []


def test_cells_say_which_hold_the_very_same_items() -> None:
    report = report_of(make_table(1, 3, 0), axes={"language": ("en",), **AXES})
    english, laptop = (cell(report, *name) for name in (("language", "en"), ("mic", "laptop")))
    assert english["items_sha256"] == laptop["items_sha256"]
    assert len({c["items_sha256"] for c in report["matrix"] if c["axis"] == "noise"}) == 3


def test_sample_that_fails_in_two_arms_counts_once_in_its_cell() -> None:
    table = make_table()
    other = Failure("respond", FailureKind.TIMEOUT, "")
    failures = [None, *[other] * 5, *table.arms[Arm.CONTROL].failures[6:]]
    arm = replace(table.arms[Arm.CONTROL], failures=tuple(failures))
    noisy = cell(report_of(replace(table, arms={**table.arms, Arm.CONTROL: arm})), "noise", "15dB")
    assert (noisy["failed"]["audio"], noisy["failed"]["control"], noisy["samples_failed"]) == (1, 3, 3)


def test_axis_with_one_value_has_no_worst_cell() -> None:
    report = report_of(make_table(non_speech=0), axes={"language": ("en", "ta")})
    assert report["worst_cells"] == []


def test_arms_and_propagation_use_the_published_names() -> None:
    report = report_of(make_table())
    assert set(report["arms"]) == {"audio", "transcript", "control"}
    assert {"response_quality", "exact_match_rate", "correct_rate", "hallucination_rate"} <= set(
        report["arms"]["transcript"]
    )
    propagation = report["propagation"]["audio"]
    drop = propagation["clean_response_quality"]["value"] - propagation["asr_response_quality"]["value"]
    assert propagation["quality_drop"]["value"] == pytest.approx(drop, abs=1e-12)
    assert "control_response_quality" in report["propagation"]["control"]
    assert report["propagation"]["control"]["flip_rate"]["value"] == 0.0


def test_loss_to_recognition_is_paired_over_items_that_both_arms_have() -> None:
    table = make_table()
    lost = report_of(table)["propagation"]["lost_to_recognition"]
    assert "wer" not in lost and "quality_drop" not in lost
    both = table.arms[Arm.AUDIO].counts["answer_class"].present
    correct = [
        table.arms[arm].counts["answer_class"].values[both, 1].sum() for arm in (Arm.AUDIO, Arm.TRANSCRIPT)
    ]
    assert lost["correct_rate"]["n"] == both.sum()
    assert lost["correct_rate"]["difference"] == pytest.approx((correct[0] - correct[1]) / both.sum())


def test_distributions_are_of_the_items_own_rates() -> None:
    table = make_table()
    (whole,) = [d for d in report_of(table)["distributions"] if (d["metric"], d["axis"]) == ("wer", None)]
    counts = table.arms[Arm.AUDIO].counts["wer"]
    rates = sorted(counts.values[counts.present, :3].sum(axis=1) / counts.values[counts.present, 4])
    # linear interpolation between ranks, by its definition
    place = 0.95 * (len(rates) - 1)
    low = math.floor(place)
    assert whole["p95"] == pytest.approx(rates[low] + (place - low) * (rates[low + 1] - rates[low]))
    assert whole["p50"] == pytest.approx(rates[len(rates) // 2])
    assert whole["mean"] == pytest.approx(sum(rates) / len(rates))
    assert whole["n"] == len(rates) == 47


def test_item_without_a_rate_of_its_own_is_left_out_of_the_distribution() -> None:
    table = make_table(1, 4, 0)
    counts = table.arms[Arm.AUDIO].counts["wer"]
    counts.values[0, [4, 5, 6]] = 0
    (whole,) = [d for d in report_of(table)["distributions"] if (d["metric"], d["axis"]) == ("wer", None)]
    assert whole["n"] == 3


def test_failures_stand_beside_the_metrics() -> None:
    table = make_table()
    other = Failure("respond", FailureKind.TIMEOUT, "no answer in 30 s")
    failures = list(table.arms[Arm.TRANSCRIPT].failures)
    failures[5] = failures[7] = other
    arm = replace(table.arms[Arm.TRANSCRIPT], failures=tuple(failures))
    document = report_of(replace(table, arms={**table.arms, Arm.TRANSCRIPT: arm}))["failures"]
    assert (document["samples"], document["samples_failed"]) == (54, 2)
    assert document["failure_rate"] == 2 / 54
    assert document["by_stage"] == {"recognize": 1, "respond": 2}
    assert document["by_kind"] == {"asr_error": 1, "timeout": 2}
    assert document["by_arm"]["transcript"]["samples_failed"] == 2
    assert document["by_arm"]["control"]["samples_failed"] == 0


def test_undefined_rate_is_null_with_a_reason() -> None:
    report = report_of(ratio_table([0, 0], [0, 0], ["x", "y"]), families=(RATIO,), axes={})
    ratio = estimate(cell(report, "kind", "speech"), "ratio")
    assert (ratio["value"], ratio["reason"], ratio["n"]) == (None, "undefined", 2)
    assert ratio["intervals"]["reasons"] == {"bootstrap": "undefined", "jackknife": "undefined"}


def test_report_holds_no_detail_of_a_failure() -> None:
    # details stay in failures.csv
    assert "decoder" not in canonical_json(report_of(make_table()))


def test_what_sessions_are_called_does_not_matter() -> None:
    ratio = ratio_table([1, 2, 3], [9, 8, 7], ["x", "y", "x"])
    renamed = ratio_table([1, 2, 3], [9, 8, 7], ["zz", "aa", "zz"])
    reports = [report_of(t, families=(RATIO,), axes={}) for t in (ratio, renamed)]
    assert reports[0]["matrix"] == reports[1]["matrix"]


def test_largest_exact_count_is_a_whole_number() -> None:
    table = ratio_table([2**53 - 1, 0], [2**53 - 1, 0], ["x", "x"])
    report = report_of(table, families=(RATIO,), axes={})
    assert estimate(cell(report, "kind", "speech"), "ratio")["counts"]["wrong"] == 2**53 - 1
