"""The families of correction: rows by hand, sums against the definition, worked cases through a run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import NOT_ANSWERED, NOT_HEARD, named_counts, named_rates, non_speech, speech

from misheard.metrics.base import Arm, ArmOutput, Correction, Family, ScoredRow
from misheard.metrics.content import SystemContent, suite_content
from misheard.metrics.correction import CorrectionCounts, TokenChange, correction_counts, token_change
from misheard.metrics.correction_effect import CorrectedRates, CorrectionEffect
from misheard.metrics.correction_effect import TokenChange as TokenChangeFamily
from misheard.metrics.error_rates import wer
from misheard.metrics.registry import ScoringSettings, families
from misheard.metrics.scoring import FailurePolicy, count_run
from misheard.suite.items import Item, Suite
from misheard.text.tokenisers import MIXED, words

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "code_switching_cases.jsonl").read_text().splitlines()
]


def corrected(reference: str, raw: str, text: str, problem: str | None = None) -> ScoredRow:
    output = ArmOutput(raw, correction=Correction(text, problem))
    return ScoredRow(speech(reference=reference), Arm.AUDIO, output)


def effect() -> CorrectionEffect:
    return CorrectionEffect("nfc", words)


ROWS = [
    corrected("a b c d", "a x c d", "a b c d"),
    corrected("a b c d", "a b c d", "a b c"),
    corrected("a b", "a", "a", "invalid_output"),
    corrected("a b", "a b", "a b c"),
]


def test_rates_by_hand():
    assert named_rates(effect(), ROWS) == {
        "over_correction_rate": 1 / 10,
        "correction_precision": 1 / 3,
        "correction_recall": 1 / 2,
        "helpful_edit_rate": 1 / 11,
        "harmful_edit_rate": 2 / 11,
        "changed_transcript_rate": 3 / 4,
        "correction_failure_rate": 1 / 4,
    }


def test_undefined_rates():
    rates = named_rates(effect(), [corrected("a", "a", "a")])
    assert rates["correction_precision"] is rates["correction_recall"] is None
    assert rates["over_correction_rate"] == rates["harmful_edit_rate"] == 0
    assert set(named_rates(effect(), []).values()) == {None}


@pytest.mark.parametrize(
    "row",
    [
        ScoredRow(speech(), Arm.AUDIO, ArmOutput("heard")),
        ScoredRow(speech(), Arm.AUDIO, ArmOutput(None, failure=NOT_HEARD)),
        ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("heard", correction=Correction("herd"))),
    ],
)
def test_rows_without_a_correction_of_speech_do_not_count(row):
    for family in (effect(), TokenChangeFamily("Latn", "nfc", MIXED.split)):
        assert named_counts(family, row) is None


def test_the_profile_decides_what_an_edit_is():
    row = corrected("What is it?", "what is it", "What is it?")
    assert named_rates(effect(), [row])["correction_precision"] == 1
    plain = CorrectionEffect("plain", words)
    assert named_rates(plain, [row])["changed_transcript_rate"] == 0


words_of_a_text = st.lists(st.sampled_from(["a", "b", "coffee", "我"]), max_size=5).map(" ".join)
texts = st.tuples(words_of_a_text, words_of_a_text, words_of_a_text)


@settings(deadline=None)
@given(st.lists(texts, max_size=4))
def test_sums_over_rows_are_those_of_the_counts(triples: list[tuple[str, str, str]]):
    rows = [corrected(*triple) for triple in triples]
    counts = effect().counts(rows)
    sums = dict(zip(CorrectionEffect.columns, counts.values.sum(axis=0).tolist(), strict=True))
    total = sum((correction_counts(*(words(t) for t in triple)) for triple in triples), CorrectionCounts())
    assert {name: sums[name] for name in total.__dataclass_fields__} == {
        name: getattr(total, name) for name in total.__dataclass_fields__
    }
    rates = named_rates(effect(), rows)
    assert rates["over_correction_rate"] == total.over_correction_rate
    assert (rates["correction_precision"], rates["correction_recall"]) == (total.precision, total.recall)
    for name, value in rates.items():
        assert value is None or value >= 0
        assert value is None or value <= 1 or name in ("helpful_edit_rate", "harmful_edit_rate")


@settings(deadline=None)
@given(st.lists(st.tuples(words_of_a_text, words_of_a_text), max_size=4))
def test_the_changed_words_of_a_script_are_those_of_the_counts(pairs: list[tuple[str, str]]):
    rows = [corrected("a", *pair) for pair in pairs]
    latin = [[[token for token in MIXED.split(text) if token.isascii()] for text in pair] for pair in pairs]
    total = sum((token_change(*pair) for pair in latin), TokenChange())
    family = TokenChangeFamily("Latn", "nfc", MIXED.split)
    assert named_rates(family, rows) == {"latn_token_change_rate": total.rate}


@settings(deadline=None)
@given(st.lists(st.tuples(words_of_a_text, words_of_a_text), min_size=1, max_size=4))
def test_a_corrector_that_does_nothing_changes_no_rate(pairs: list[tuple[str, str]]):
    rows = [corrected(reference, raw, raw) for reference, raw in pairs]
    rates = named_rates(effect(), rows)
    assert rates["correction_precision"] is None
    assert rates["correction_recall"] in (None, 0)
    assert rates["changed_transcript_rate"] == rates["correction_failure_rate"] == 0
    before = named_rates(wer("nfc"), rows)
    after = named_rates(CorrectedRates(wer("nfc")), rows)
    assert after == {name.replace("wer", "wer_corrected"): value for name, value in before.items()}


def test_the_rates_of_corrected_texts():
    rates = named_rates(CorrectedRates(wer("nfc")), ROWS)
    assert rates["wer_corrected"] == (0 + 1 + 1 + 1) / 12
    assert rates["wer_corrected_deletion_rate"] == 2 / 12


def suite(*items: Item, **header: Any) -> Suite:
    return Suite("s", "1", Path(), {}, items, **header)


def run_rates(
    given: Suite,
    outputs: Sequence[ArmOutput],
    policy: FailurePolicy = "exclude",
    arm: Arm = Arm.AUDIO,
) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Sums and rates per family, as a run of a system with a corrector counts them."""
    active = families(ScoringSettings(), {}, suite_content(given), SystemContent(corrects=True))
    arms = {Arm.AUDIO: outputs, arm: outputs}
    table = count_run(given.items, ["0" * 64] * len(given.items), arms, {}, {}, active, policy)
    return {
        family.name: _rates(family, table.arms[arm].counts[family.name].values)
        for family in active
        if family.name in table.arms[arm].counts
    }


def _rates(family: Family, values: Any) -> tuple[dict[str, float], dict[str, float]]:
    sums = values.sum(axis=0)
    counts = dict(zip(family.columns, sums.tolist(), strict=True))
    return counts, {rate.name: float(rate.compute(sums)) for rate in family.rates}


@pytest.mark.parametrize("arm", [Arm.AUDIO, Arm.TRANSCRIPT])
@pytest.mark.parametrize(
    "case", [c for c in CASES if c["metric"] in ("over_correction", "correction", "etcr")], ids=str
)
def test_worked_cases_through_a_run(case: dict[str, Any], arm: Arm):
    item = speech(reference=case.get("ref", case["raw"]), language="zh", scripts=("Hans", "Latn"))
    output = ArmOutput(case["raw"], correction=Correction(case["corrected"]))
    found = run_rates(suite(item, primary_metrics={"zh": "mer"}), [output], arm=arm)
    counts, rates = found["correction"]
    if case["metric"] == "etcr":
        counts, rates = found["token_change_latn"]
        assert counts["edits"] == case["errors"]
        assert max(counts["raw_words"], counts["corrected_words"]) == case["length"]
        assert rates == {"latn_token_change_rate": case["rate"]}
        return
    named = {"rate": "over_correction_rate", "precision": "correction_precision"}
    named["recall"] = "correction_recall"
    for name, value in case.items():
        if name in counts:
            assert counts[name] == value, name
        if name in named:
            assert rates[named[name]] == pytest.approx(np.nan if value is None else value, nan_ok=True)


def test_a_system_without_a_corrector_has_none_of_the_families():
    given = suite(speech(scripts=("Hans", "Latn")), primary_metrics={"zh": "mer"})
    names = {family.name for family in families(ScoringSettings(), {}, suite_content(given))}
    with_one = families(ScoringSettings(), {}, suite_content(given), SystemContent(corrects=True))
    more = {"wer_corrected", "cer_corrected", "mer_corrected", "correction", "token_change_latn"}
    assert {family.name for family in with_one} - names >= more
    assert not names & more


@pytest.mark.parametrize(("policy", "value"), [("exclude", 0.0), ("worst", 3 / 6)])
def test_failed_recognition_counts_as_all_wrong_in_corrected_rates_only(policy: FailurePolicy, value: float):
    given = suite(speech("q1"), speech("q2"))
    outputs = [
        ArmOutput("what is it", failure=NOT_ANSWERED, correction=Correction("what is it")),
        ArmOutput(None, failure=NOT_HEARD),
    ]
    found = run_rates(given, outputs, policy)
    assert found["wer_corrected"][1]["wer_corrected"] == value
    assert found["correction"][0]["corrections"] == 1
