"""What a suite has to score, and the families that follow from it."""

import json
from pathlib import Path
from typing import Any

import pytest
from scored_rows import non_speech, speech

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.metrics.content import (
    NO_SYSTEM,
    SuiteContent,
    SystemContent,
    number_words_kept,
    suite_content,
)
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.scenes.scene import Scene
from misheard.suite.items import Item, Suite
from misheard.text.tokenisers import DEFAULT_CHAR_SCRIPTS


def suite(*items: Item, **header: Any) -> Suite:
    return Suite("s", "1", Path(), {}, items or (speech(),), **header)


HINDI = suite(speech(scripts=("Deva", "Latn")), char_scripts=("Deva",))
CHINESE = suite(speech(scripts=("Hans",)), speech(scripts=("Latn",)), primary_metrics={"zh": "mer"})
UNDECLARED = suite(char_scripts=("Jpan",))


def names(content: SuiteContent, system: SystemContent = NO_SYSTEM) -> set[str]:
    return {family.name for family in families(ScoringSettings(), {}, content, system)}


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


ANSWERS = {"response", "answer_class", "propagation"}
PLANNED = suite(speech(plan=Scene(), entities=("it",), scripts=("Latn",)))


def test_a_system_that_draws_is_scored_by_its_boards():
    content = suite_content(PLANNED)
    drawing = names(content, SystemContent(scenes=True))
    of_scenes = {"scene", "scene_propagation", "entities_plan", "entities_board"}
    assert drawing ^ names(content) == of_scenes | ANSWERS
    assert names(content) >= ANSWERS
    unplanned = suite_content(suite(speech(entities=("it",))))
    assert not of_scenes & names(unplanned, SystemContent(scenes=True))


def test_a_corrector_has_entities_and_scripts_of_its_own():
    content = suite_content(PLANNED)
    more = names(content, SystemContent(corrects=True)) - names(content)
    assert {"entities_corrected", "script_mismatch_corrected"} <= more
    assert not {"entities_corrected", "script_mismatch_corrected"} & names(
        SuiteContent(), SystemContent(corrects=True)
    )


def test_plans_are_described_where_there_are_any():
    assert "plans" not in suite_content(suite()).as_json()
    assert suite_content(PLANNED).as_json()["plans"] is True


def test_the_usual_scripts_are_scored_by_character():
    assert set(suite_content(CHINESE).char_scripts) == set(DEFAULT_CHAR_SCRIPTS)
    assert suite_content(suite()).char_scripts == ()


@pytest.mark.parametrize("given", [suite(), HINDI, CHINESE, UNDECLARED, PLANNED])
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


@pytest.mark.parametrize("scenes", [True, False])
def test_rate_and_family_names_are_unique_in_any_suite(scenes):
    everything = SuiteContent(
        scripts=True,
        entities=True,
        mixed=True,
        char_scripts=("Deva",),
        scored_alone=("Deva", "Latn"),
        plans=True,
    )
    system = SystemContent(corrects=True, n_best=True, scenes=scenes, judged=("meaning", "answer"))
    every = families(ScoringSettings(), {}, everything, system)
    rates = [rate.name for family in every for rate in family.rates]
    assert len(set(rates)) == len(rates)
    assert len({family.name for family in every}) == len(every)


def test_a_script_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="Latm"):
        suite_content(suite(char_scripts=("Latm",)))
