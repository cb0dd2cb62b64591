"""Fields of the right form that can mean nothing: metrics that do not exist, facts that no answer states."""

import json
from pathlib import Path
from typing import Any

import pytest

from misheard.errors import SuiteError
from misheard.suite.manifest import load_suite
from misheard.suite.problems import MAX_LISTED

HEADER = "name: a\nversion: 1\ndefaults: {language: en}\n"


def write(folder: Path, header: str = HEADER, rows: int = 1, **fields: Any) -> Path:
    (folder / "suite.yaml").write_text(header)
    (folder / "items.jsonl").write_text(
        "".join(
            json.dumps({"id": f"q{n}", "audio": "a.wav", "reference": "b", **fields}) + "\n"
            for n in range(rows)
        )
    )
    return folder


def problems(folder: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        load_suite(folder, require_audio=False)
    return [str(problem) for problem in caught.value.problems]


def test_a_primary_metric_that_does_not_exist(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "primary: {en: nope, de: were, ta: cer}\n")
    unknown, misspelt = problems(tmp_path)
    assert unknown.startswith("suite.yaml: primary names the metric 'nope' for en, which is not scored")
    assert misspelt.endswith("for de, which is not scored (did you mean 'wer'?)")


@pytest.mark.parametrize("metric", ["wer", "cer", "mer", "correct_rate", "non_speech_hallucination_rate"])
def test_primary_metrics_that_a_run_reports(tmp_path: Path, metric: str) -> None:
    write(tmp_path, HEADER + f"primary: {{en: {metric}}}\n")
    assert load_suite(tmp_path, require_audio=False).primary_metrics == {"en": metric}


def test_primary_metrics_of_boards_are_reported_where_items_have_plans(tmp_path: Path) -> None:
    header = HEADER + "primary: {en: label_f1}\n"
    (found,) = problems(write(tmp_path, header))
    assert "'label_f1' for en, which is not scored" in found
    plan = {"shapes": [{"id": "a", "kind": "box", "label": "b"}], "connections": []}
    suite = load_suite(write(tmp_path, header, plan=plan), require_audio=False)
    assert suite.primary_metrics == {"en": "label_f1"}


@pytest.mark.parametrize("form", ["?", "…", "-", "🙂"])
def test_a_fact_without_a_word(tmp_path: Path, form: str) -> None:
    (found,) = problems(write(tmp_path, fact=["Paris", form]))
    assert found == ("item q0 (items.jsonl:1): fact[1] has no letter and no digit, so no answer can state it")


def test_a_fact_of_digits_or_of_any_script(tmp_path: Path) -> None:
    facts = ["4", "५", "四", "நான்கு"]
    assert load_suite(write(tmp_path, fact=facts), require_audio=False).items[0].fact == tuple(facts)


def test_names_are_compared_only_for_problems_that_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr("misheard.suite.fields.suggestion", lambda name, known: calls.append(name) or "")
    write(tmp_path, rows=3 * MAX_LISTED, referense="x", conditions={"nois": "x"})
    assert problems(tmp_path)[-1].endswith(f"{5 * MAX_LISTED} more problems; mend these first")
    assert len(calls) == MAX_LISTED
