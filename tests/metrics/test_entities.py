"""Entities, numbers and terms that survive."""

import pytest
from scored_rows import NOT_ANSWERED, NOT_HEARD, named_counts, named_rates, non_speech, speech

from misheard.metrics.base import Arm, ArmOutput, Correction, ScoredRow
from misheard.metrics.entities import (
    in_corrected_texts,
    in_plans,
    in_transcripts,
    on_boards,
    surviving_entities,
)
from misheard.scenes.scene import Connection, Scene, Shape


@pytest.mark.parametrize(
    ("entity", "text", "language", "survives"),
    [
        ("New York", "the weather in new york, please", "en", True),
        ("New York", "the weather in new-york", "en", True),
        ("New York", "the weather in New Cork", "en", False),
        ("York", "Yorkshire", "en", False),
        ("50", "it costs 150", "en", False),
        ("fifty", "it costs 50 euros", "en", True),
        ("fifty", "it costs 50 euros", None, False),
        ("北京", "我想去北京玩", "zh", True),
        ("दिल्ली", "मैं दिल्ली में हूँ", "hi", True),
        ("दिल्ली", "मैं दल्ली में हूँ", "hi", False),  # vowel signs decide
        ("?", "what?", "en", False),
    ],
)
def test_known_cases(entity, text, language, survives):
    assert surviving_entities([entity], text, language) == [survives]


def row(transcript: str | None, *entities: str) -> ScoredRow:
    return ScoredRow(speech(language="en", entities=entities), Arm.AUDIO, ArmOutput(transcript))


def test_shares_are_made_from_sums():
    rows = [row("call anna at nine", "Anna", "9"), row("call bob", "Bob", "Carol", "seven"), row("x")]
    assert named_rates(in_transcripts(), rows) == {"entity_preservation": 3 / 5}


def test_what_does_not_count():
    assert named_counts(in_transcripts(), row("nothing to keep")) is None
    assert named_counts(in_transcripts(), row(None, "Anna")) is None
    assert named_counts(in_transcripts(), ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("Anna"))) is None
    assert named_counts(in_transcripts(), row("", "Anna")) == {"surviving": 0, "entities": 1}


SCENE = Scene(
    (Shape("a", "box", "Anna's phone"), Shape("b", "box", "New")),
    (Connection("a", "b", "York at nine"),),
)


@pytest.mark.parametrize("family", [in_plans(), on_boards()])
def test_an_entity_survives_within_one_label(family):
    def counts(scene: Scene | None, *entities: str) -> dict[str, float] | None:
        output = ArmOutput("New York", plan=scene, board=scene)
        return named_counts(family, ScoredRow(speech(language="en", entities=entities), Arm.PLAN, output))

    assert counts(SCENE, "anna's phone", "9", "York", "New York") == {"surviving": 3, "entities": 4}
    assert counts(Scene(), "Anna") == {"surviving": 0, "entities": 1}
    assert counts(None, "Anna") is None
    assert counts(SCENE) is None


def test_plan_and_board_are_looked_at_apart():
    output = ArmOutput("x", plan=SCENE, board=Scene())
    one = ScoredRow(speech(entities=("York",)), Arm.AUDIO, output)
    assert named_rates(in_plans(), [one]) == {"entity_preservation_plan": 1.0}
    assert named_rates(on_boards(), [one]) == {"entity_preservation_board": 0.0}


@pytest.mark.parametrize(
    ("output", "surviving"),
    [
        (ArmOutput("call Hannah", correction=Correction("call Anna")), 1),
        (ArmOutput("call Anna", correction=Correction("call Hannah")), 0),
        (ArmOutput("call Anna", correction=Correction("call Anna", "invalid_output")), 1),
        (ArmOutput("call Anna"), None),
        (ArmOutput("call Anna", failure=NOT_ANSWERED), None),
        (ArmOutput("", failure=NOT_HEARD), 0),
        (ArmOutput(None, failure=NOT_HEARD), None),
    ],
)
def test_corrected_texts(output, surviving):
    counts = named_counts(in_corrected_texts(), ScoredRow(speech(entities=("Anna",)), Arm.TRANSCRIPT, output))
    assert counts == (None if surviving is None else {"surviving": surviving, "entities": 1})
