"""The sentences that a report comes down to, verdict by verdict."""

from copy import deepcopy
from typing import Any

import pytest

from made_up_tables import AXES, FAMILIES, make_table
from misheard.report.build import build_report
from misheard.report.takeaway import takeaway

NO_FLAGS: list[str] = []


def difference(**changes: Any) -> dict[str, Any]:
    return {
        "difference": -1 / 3,
        "n": 60,
        "units": 12,
        "intervals": {"deciding": [-0.432, -0.234]},
        "flags": NO_FLAGS,
        "smallest_detectable": 0.091,
        "verdict": "worse",
        **changes,
    }


def attributed(axis: str | None, value: str | None, lost: float, **changes: Any) -> dict[str, Any]:
    """Return a place of the attribution where so much of a shortfall of 0.6 is lost."""
    loss = {
        "stage": "recognition",
        "amount": lost,
        "share": 0.57,
        "intervals": {"deciding": [0.42, 0.72]},
        "within_noise": False,
        "difference": difference(
            difference=-lost, n=20, units=4, verdict="too_few_items", flags=["under_50", "under_6_units"]
        ),
        **changes,
    }
    entry = {
        "metric": "correct_rate",
        "shortfall": 0.6,
        "losses": [loss],
        "undefined": [{"stage": "planning", "reason": "no_planner"}],
        "remainder": {"stage": "after_transcript"},
    }
    return {"axis": axis, "value": value, "control_flip_rate": {"value": 0.05}, "metrics": [entry]}


WHOLE = attributed(None, None, 1 / 3)


def report(*places: dict[str, Any], failed: int = 0, **lost: Any) -> dict[str, Any]:
    return {
        "items": {"without_session": 0, "units": 12},
        "statistics": {"min_items": 50, "min_units": 6},
        "propagation": {"lost_to_recognition": {"correct_rate": difference(**lost)}, "correction": {}},
        "metrics": [],
        "attribution": list(places),
        "arms": {"audio": {}, "transcript": {}, "control": {}},
        "failures": {"samples": 66, "samples_failed": failed},
        "scorer": {},
        "run": {"language_model": True},
        "primary_metrics": {},
        "worst_cells": [],
    }


def says(document: dict[str, Any]) -> list[str]:
    before = deepcopy(document)
    sentences = takeaway(document)
    assert document == before
    return sentences


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            "Mishearing costs 33.3 points of correct answers (23.4…43.2, 60 pairs, 12 sessions): worse.",
        ),
        (
            {"verdict": "better", "difference": 0.05, "intervals": {"deciding": [0.01, 0.09]}},
            "Mishearing gains 5.0 points of correct answers (1.0…9.0, 60 pairs, 12 sessions): better; "
            "see which answers changed.",
        ),
        (
            {"verdict": "same", "difference": 0.0, "intervals": {"deciding": [0.0, 0.0]}},
            "Mishearing costs nothing here: correct answers are the same on every pair (60 pairs, "
            "12 sessions).",
        ),
        (
            {"verdict": "inconclusive", "difference": -0.03, "intervals": {"deciding": [-0.09, 0.03]}},
            "No loss is shown: 3.0 points of correct answers (−3.0…9.0, 60 pairs, 12 sessions): "
            "inconclusive; this suite can show 9.1 points at 80% power.",
        ),
        (
            {
                "verdict": "inconclusive", "difference": 0.0, "intervals": {"deciding": [0.0, 0.0]},
                "smallest_detectable": None,
            },
            "No loss is shown: 0.0 points of correct answers (0.0…0.0, 60 pairs, 12 sessions): inconclusive.",
        ),
        (
            {"verdict": "equivalent", "difference": -0.01, "intervals": {"deciding": [-0.02, 0.005]}},
            "No loss is shown: 1.0 points of correct answers (−0.5…2.0, 60 pairs, 12 sessions): equivalent; "
            "this suite can show 9.1 points at 80% power.",
        ),
        (
            {"verdict": "inconclusive", "units": 3, "flags": ["under_6_units"]},
            "Nothing can be said about what mishearing costs: 60 pairs, 3 sessions with answers, and under "
            "6 sessions no interval is trusted.",
        ),
        (
            {"verdict": "too_few_items", "n": 24, "flags": ["under_50"]},
            "Nothing can be said about what mishearing costs: 24 pairs, 12 sessions, and under 50 pairs "
            "there is no verdict.",
        ),
        (
            {"verdict": "inconclusive", "intervals": {"deciding": None}},
            "Nothing can be said about what mishearing costs: 60 pairs, 12 sessions, and no interval for "
            "correct answers.",
        ),
    ],
    ids=[
        "worse", "better", "same", "inconclusive", "cancels out", "equivalent", "few sessions", "few items",
        "no interval",
    ],
)  # fmt: skip
def test_first_sentence_says_what_the_verdict_allows(changes: dict[str, Any], expected: str) -> None:
    assert says(report(**changes)) == [expected]


def large(axis: str, value: str | None, lost: float, **changes: Any) -> dict[str, Any]:
    """Return a place with enough pairs and sessions for a verdict."""
    return attributed(axis, value, lost, difference=difference(difference=-lost, **changes))


def test_where_most_is_lost_is_named_with_its_size_and_verdict() -> None:
    shown = large("noise", "5dB", 0.45, intervals={"deciding": [-0.5, -0.4]})
    sentence = "Most is lost at noise=5dB: 45.0 points (40.0…50.0, 60 pairs, 12 sessions): worse."
    assert sentence in says(report(WHOLE, large("noise", "clean", 0.1), shown))


def test_a_handful_of_items_is_not_the_worst() -> None:
    few = attributed("mic", "phone", 0.9), attributed("mic", "laptop", 0.1), attributed("noise", "c", 0.9)
    enough = large("noise", "a", 0.2), large("noise", "b", 0.3)
    assert any("lost at noise=b:" in sentence for sentence in says(report(WHOLE, *enough, *few)))
    for places in ((*few, enough[0]), (*few, enough[0], large("mic", "headset", 0.3)), few):
        assert not any("Most is lost" in sentence for sentence in says(report(WHOLE, *places)))


def test_cells_that_equal_the_worst_are_named_with_it() -> None:
    places = [large("mic", name, lost) for name, lost in (("a", 0.2), (None, 0.2), ("c", 0.1))]
    sentence = "Most is lost at mic=a, mic=(none): 20.0 points (60 pairs, 12 sessions each): worse."
    assert sentence in says(report(WHOLE, *places))


@pytest.mark.parametrize(
    ("metric", "units", "expected"),
    [
        ("correct_rate", 12, "60 pairs, 12 sessions"),
        ("correct_rate", 18, "60 pairs, 12 sessions with answers"),
        ("label_f1", 18, "60 pairs, 12 sessions with boards"),
    ],
)
def test_units_are_those_with_answers_where_others_have_none(metric: str, units: int, expected: str) -> None:
    document = report()
    document["items"]["units"] = units
    lost = {metric: difference()}
    document["propagation"] = {"lost_to_recognition": lost, "correction": lost}
    first, second = says(document)
    assert f", {expected}): worse." in first and f", {expected}): worse." in second


@pytest.mark.parametrize(
    "places",
    [
        [large("noise", "clean", 0.3)],
        [large("noise", "clean", 0.3), large("noise", "5dB", 0.3)],
        [large("noise", "clean", -0.1), large("noise", "5dB", 0.0)],
        [],
    ],
    ids=["alone on its axis", "all equal", "nothing lost", "no cells"],
)
def test_no_cell_is_worst_without_a_rival_and_a_loss(places: list[dict[str, Any]]) -> None:
    assert not any("Most is lost" in sentence for sentence in says(report(WHOLE, *places)))


def test_share_is_told_where_it_is_defined_and_a_loss_is_shown() -> None:
    share = (
        "Mishearing is 57% of all that is missing in correct answers (42…72); the rest is missing with the "
        "human transcript too."
    )
    assert share in says(report(WHOLE))
    undefined = attributed(None, None, 1 / 3, share=None, intervals=None)
    for document in (report(undefined), report(WHOLE, verdict="inconclusive")):
        assert not any("missing" in sentence for sentence in says(document))


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (None, "There is no control arm: how far answers change without any mishearing is not known."),
        (True, "The control arm changes as much without any mishearing (5.0% of answers)."),
        (False, None),
    ],
)
def test_loss_is_read_against_the_control_arm(within: bool | None, expected: str | None) -> None:
    sentences = says(report(attributed(None, None, 1 / 3, within_noise=within)))
    assert [sentence for sentence in sentences if "control arm" in sentence] == (
        [expected] if expected else []
    )


def test_small_runs_say_nothing_more() -> None:
    places = [WHOLE, attributed("noise", "clean", 0.1), attributed("noise", "5dB", 0.45)]
    small = report(*places, n=24, verdict="too_few_items", flags=["under_50"])
    assert len(says(small)) == 1


@pytest.mark.parametrize(
    ("failed", "policy", "expected"),
    [
        (0, "exclude", None),
        (1, "exclude", "1 of 66 items failed; each is left out of what it failed in."),
        (3, "exclude", "3 of 66 items failed; each is left out of what it failed in."),
        (3, "worst", "3 of 66 items failed; each counts as all wrong."),
    ],
)
def test_failures_are_always_said(failed: int, policy: str, expected: str | None) -> None:
    for changes in ({}, {"n": 0}, {"units": 3, "flags": ["under_6_units"]}):
        document = {**report(failed=failed, **changes), "scorer": {"on_failure": policy}}
        assert [s for s in says(document) if "failed" in s] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("arms", "run", "expected"),
    [
        ({"audio": {}}, True, "No answers are measured: no item has a reference_answer."),
        ({"audio": {}}, False, "No answers are measured: the run has no language model."),
        (
            {"audio": {}}, None,
            "No answers are measured: that takes a language model, and items with a reference_answer.",
        ),
        (
            {"audio": {"response_quality": {"n": 0, "failed": 4}}}, True,
            "No answers are measured: no item has an answer.",
        ),
        (
            {"audio": {"response_quality": {"n": 4, "failed": 0}}}, True,
            "What mishearing costs is not measured: the run has no transcript arm.",
        ),
        (
            {"audio": {"response_quality": {"n": 0, "failed": 4}}, "transcript": {}}, True,
            "Nothing can be said about what mishearing costs: no item has an answer in both arms.",
        ),
    ],
)  # fmt: skip
def test_without_answers_it_says_why(arms: dict[str, Any], run: bool | None, expected: str) -> None:
    document = {**report(n=0), "arms": arms, "run": None if run is None else {"language_model": run}}
    assert says(document) == [expected]


def test_quality_leads_where_no_item_has_a_fact() -> None:
    document = report()
    lost = difference(difference=-0.104, intervals={"deciding": [-0.167, -0.04]})
    document["propagation"]["lost_to_recognition"] = {
        "correct_rate": difference(n=0),
        "response_quality": lost,
    }
    assert says(document)[0] == (
        "Mishearing costs 0.104 of answer quality (0.040…0.167, 60 pairs, 12 sessions): worse."
    )


def test_quality_leads_where_few_items_have_a_fact() -> None:
    few = difference(n=3, units=3, verdict="too_few_items", flags=["under_50", "under_6_units"])
    enough = difference(difference=-0.1, intervals={"deciding": [-0.2, -0.05]})
    for quality, expected in (
        (enough, "Mishearing costs 0.100 of answer quality"),
        (few, "Nothing can be said"),
    ):
        document = report()
        document["propagation"]["lost_to_recognition"] = {"correct_rate": few, "response_quality": quality}
        assert says(document)[0].startswith(expected)


def test_recognition_alone_names_the_worst_cell_of_each_primary_metric() -> None:
    table = make_table()
    arguments: dict[str, Any] = {
        "suite": {}, "system": {}, "scorer": {}, "timings": None, "axes": AXES, "resamples": 200,
    }  # fmt: skip
    for primary, name in (({}, "word error rate"), ({"en": "cer"}, "character error rate")):
        document = build_report(table, FAMILIES[:2], primary_metrics=primary, **arguments)
        (sentence,) = [s for s in document["takeaway"] if s.startswith(f"The {name} is highest")]
        assert "at noise=15dB: " in sentence
        assert sentence.endswith("23 items, 6 units, too few for a verdict).")
        assert document["takeaway"] == takeaway({**document, "takeaway": []})
