"""Entities, numbers and terms that survive."""

import pytest
from scored_rows import named_counts, named_rates, non_speech, speech

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.entities import Entities, surviving_entities


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
    assert named_rates(Entities(), rows) == {"entity_preservation": 3 / 5}


def test_what_does_not_count():
    assert named_counts(Entities(), row("nothing to keep")) is None
    assert named_counts(Entities(), row(None, "Anna")) is None
    assert named_counts(Entities(), ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("Anna"))) is None
    assert named_counts(Entities(), row("", "Anna")) == {"surviving": 0, "entities": 1}
