"""Worked examples of code-switching and correction metrics, row by row from a file."""

import json
from pathlib import Path
from typing import Any

import pytest
from scored_rows import heard, named_counts, named_rates, speech

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.correction import correction_counts, token_change
from misheard.metrics.mixed_error_rate import mer, one_script, script_tokens
from misheard.metrics.points_of_interest import point_counts, script_words
from misheard.metrics.script_mismatch import of_transcripts
from misheard.metrics.token_kinds import script_mask
from misheard.metrics.transcripts import Transcripts, aligned_pairs
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS, mixed_tokeniser

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "code_switching_cases.jsonl").read_text().splitlines()
]
EXPECTATIONS = {"errors", "points", "insertions", "rate", "rate_bounded", "precision", "recall", "mismatch"}
EXPECTATIONS |= {
    "raw_correct_tokens",
    "raw_error_tokens",
    "over_corrections",
    "modifications",
    "improvements",
}
EXPECTATIONS |= {"length", "ref_tokens", "hyp_tokens"}


def split(case: dict[str, Any], text: str) -> list[str]:
    return mixed_tokeniser(case.get("char_scripts", DEFAULT_CHAR_SCRIPTS)).split(text)


def error_rate(case: dict[str, Any]) -> dict[str, Any]:
    scripts = case.get("char_scripts", DEFAULT_CHAR_SCRIPTS)
    family, script = {
        "mer": (mer("nfc", scripts), None),
        "cer_zh": (one_script("nfc", "Hani", scripts), "Hani"),
        "wer_en": (one_script("nfc", "Latn", scripts), "Latn"),
    }[case["metric"]]
    row = heard(case["ref"], case["hyp"])
    counts, rates = named_counts(family, row), named_rates(family, [row])
    assert counts is not None
    tokens = [split(case, case[side]) for side in ("ref", "hyp")]
    alone = tokens if script is None else [script_tokens(side, script) for side in tokens]
    return {
        "errors": counts["substitutions"] + counts["deletions"] + counts["insertions"],
        "rate": rates[family.name],
        "rate_bounded": rates[f"{family.name}_bounded"],
        "ref_tokens": alone[0],
        "hyp_tokens": alone[1],
    }


def english(case: dict[str, Any]) -> dict[str, Any]:
    family = script_words("Latn", Transcripts("nfc", mixed_tokeniser().split))
    rates = named_rates(family, [heard(case["ref"], case["hyp"])])
    tokens = [split(case, case[side]) for side in ("ref", "hyp")]
    (pair,) = aligned_pairs(tokens[:1], tokens[1:])
    found = point_counts(pair.alignment, *(script_mask(side, {"Latn"}) for side in tokens))
    counts = {name: getattr(found, name) for name in found.__dataclass_fields__}
    named = {"rate": "pier_latn", "precision": "latn_precision", "recall": "latn_recall"}
    return counts | {name: rates[rate] for name, rate in named.items()}


def corrected(case: dict[str, Any]) -> dict[str, Any]:
    counts = correction_counts(*(split(case, case[name]) for name in ("ref", "raw", "corrected")))
    rates = {"rate": counts.over_correction_rate, "precision": counts.precision, "recall": counts.recall}
    return rates | {name: getattr(counts, name) for name in counts.__dataclass_fields__}


def change(case: dict[str, Any]) -> dict[str, Any]:
    found = token_change(*(script_tokens(split(case, case[name]), "Latn") for name in ("raw", "corrected")))
    return {
        "errors": found.edits,
        "length": max(found.raw_words, found.corrected_words),
        "rate": found.rate,
    }


def mismatch(case: dict[str, Any]) -> dict[str, Any]:
    row = ScoredRow(speech(scripts=tuple(case["allowed"])), Arm.AUDIO, ArmOutput(case["text"]))
    return {"mismatch": named_rates(of_transcripts(), [row])["script_mismatch_rate"] == 1.0}


METRICS = {
    "mer": error_rate,
    "cer_zh": error_rate,
    "wer_en": error_rate,
    "pier_en": english,
    "en_precision_recall": english,
    "over_correction": corrected,
    "correction": corrected,
    "etcr": change,
    "script_mismatch": mismatch,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["metric"])
def test_every_row(case: dict[str, Any]) -> None:
    expected = {name: value for name, value in case.items() if name in EXPECTATIONS}
    assert expected
    found = METRICS[case["metric"]](case)
    for name, value in expected.items():
        wanted = pytest.approx(value, abs=5e-5) if isinstance(value, float) else value
        assert found[name] == wanted, name
