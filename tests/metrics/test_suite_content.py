"""What a suite has to score, and the families that follow from it."""

import json
from pathlib import Path
from typing import Any

import pytest
from scored_rows import non_speech, speech

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.metrics.content import SuiteContent, number_words_kept, suite_content
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.suite.items import Item, Suite
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS


def suite(*items: Item, **header: Any) -> Suite:
    return Suite("s", "1", Path(), {}, items or (speech(),), **header)


HINDI = suite(speech(scripts=("Deva", "Latn")), char_scripts=("Deva",))
CHINESE = suite(speech(scripts=("Hans",)), speech(scripts=("Latn",)), primary_metrics={"zh": "mer"})
UNDECLARED = suite(char_scripts=("Jpan",))


def names(content: SuiteContent) -> set[str]:
    return {family.name for family in families(ScoringSettings(), {}, content)}


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ([speech(language="en-IN"), speech(language="fr"), non_speech()], []),
        ([speech(), speech(language="ta"), speech(language="hi"), speech(language="hi")], ["hi", "ta", None]),
    ],
)
def test_languages_whose_number_words_stay_words(items, kept):
    assert number_words_kept(suite(*items)) == kept


ALWAYS = names(SuiteContent())


@pytest.mark.parametrize(
    ("given", "more"),
    [
        (suite(), set()),
        (suite(primary_metrics={"en": "wer"}), set()),
        (suite(speech(scripts=("Latn",))), {"script_mismatch"}),
        (suite(speech(), speech(entities=("it",))), {"entities", "pier_entities"}),
        (HINDI, {"script_mismatch", "mer", "cer_deva", "wer_latn", "pier_latn"}),
        (CHINESE, {"script_mismatch", "mer", "cer_hani", "wer_latn", "pier_latn"}),
        (UNDECLARED, {"mer", "cer_hani", "cer_hira", "cer_kana", "wer_latn", "pier_latn"}),
        (suite(char_scripts=()), {"mer", "wer_latn", "pier_latn"}),
    ],
)
def test_families_follow_the_suite(given, more):
    assert names(suite_content(given)) - ALWAYS == more


def test_the_usual_scripts_are_scored_by_character():
    assert set(suite_content(CHINESE).char_scripts) == set(DEFAULT_CHAR_SCRIPTS)
    assert suite_content(suite()).char_scripts == ()


@pytest.mark.parametrize("given", [suite(), HINDI, CHINESE, UNDECLARED])
def test_the_description_of_the_scorer_gives_the_content_back(given):
    content = suite_content(given)
    described = scorer_description(ScoringSettings(), {}, content)
    assert SuiteContent.from_json(json.loads(json.dumps(described))["content"]) == content


def test_the_scripts_move_the_scorers_fingerprint():
    described = [
        scorer_description(ScoringSettings(), {}, suite_content(suite(char_scripts=scripts)))
        for scripts in (None, (), ("Deva",), ("Deva", "Taml"))
    ]
    assert len({sha256_json(one) for one in described}) == 4
    assert "mixed[Deva]" in described[2]["tokenisers"]


def test_rate_and_family_names_are_unique_in_any_suite():
    everything = SuiteContent(
        scripts=True, entities=True, mixed=True, char_scripts=("Deva",), scored_alone=("Deva", "Latn")
    )
    every = families(ScoringSettings(), {}, everything)
    rates = [rate.name for family in every for rate in family.rates]
    assert len(set(rates)) == len(rates)
    assert len({family.name for family in every}) == len(every)


def test_a_script_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="Latm"):
        suite_content(suite(char_scripts=("Latm",)))
