"""Text made of recordings without speech."""

import pytest
from scored_rows import NOT_HEARD, heard, named_counts, named_rates, non_speech

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.non_speech import NonSpeech


def clip(transcript: str | None, failure=None) -> ScoredRow:
    return ScoredRow(non_speech(), Arm.AUDIO, ArmOutput(transcript, None, failure))


@pytest.mark.parametrize(
    ("transcript", "with_text"),
    [("", 0), (" \u3000\n", 0), ("you", 1), (" . ", 1), ("ధన్యవాదాలు", 1), ("\u200b", 1), ("\ud800", 1)],
)
def test_any_text_but_white_space_is_a_hallucination(transcript, with_text):
    assert named_counts(NonSpeech(), clip(transcript)) == {"clips_with_text": with_text, "clips": 1}


def test_rate_by_hand():
    rows = [clip("Thank you."), clip(""), clip(" "), clip(None), heard("speech", "speech")]
    assert named_rates(NonSpeech(), rows) == {"non_speech_hallucination_rate": pytest.approx(1 / 3)}
    assert named_rates(NonSpeech(), []) == {"non_speech_hallucination_rate": None}


def test_speech_and_missing_transcripts_do_not_count():
    assert named_counts(NonSpeech(), clip(None, NOT_HEARD)) is None
    assert named_counts(NonSpeech(), heard("speech", "speech")) is None


def test_a_failure_that_counts_is_text():
    assert named_counts(NonSpeech(), clip("", NOT_HEARD)) == {"clips_with_text": 1, "clips": 1}
