"""Characters of scripts that the item does not allow."""

import pytest
from scored_rows import NOT_HEARD, named_counts, named_rates, non_speech, speech

from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput, Correction, ScoredRow
from misheard.metrics.script_mismatch import of_corrected_texts, of_transcripts


def row(allowed: tuple[str, ...], text: str | None) -> ScoredRow:
    return ScoredRow(speech(scripts=allowed), Arm.AUDIO, ArmOutput(text))


@pytest.mark.parametrize(
    ("allowed", "text", "mismatched", "scripted"),
    [
        (("Latn",), "hello there привет", 6, 16),
        (("Deva", "Latn"), "मुझे coffee 2 चाहिए!", 0, 15),
        (("Telu",), "۔۔۔", 3, 3),  # the Arabic full stop belongs to its script
        (("Latn",), "3.14 — 100 % 🙂", 0, 0),
        (("Latn",), "cafe\u0301", 0, 4),  # combining marks inherit
        (("Hira", "Hani"), "コーヒー", 2, 2),  # the long-vowel mark is common to both kana
        (("Jpan",), "漢字とカナ", 0, 5),
        (("Latn",), "", 0, 0),
    ],
)
def test_known_cases(allowed, text, mismatched, scripted):
    assert named_counts(of_transcripts(), row(allowed, text)) == {
        "items_with_mismatch": mismatched > 0,
        "items": 1,
        "mismatched_characters": mismatched,
        "scripted_characters": scripted,
    }


def test_rates_are_made_from_sums():
    rows = [row(("Latn",), "ab в"), row(("Latn",), "abc"), row((), "где")]
    assert named_rates(of_transcripts(), rows) == {
        "script_mismatch_rate": 1 / 2,
        "script_mismatch_character_rate": 1 / 6,
    }
    assert named_rates(of_transcripts(), [row(("Latn",), "1")])["script_mismatch_character_rate"] is None


def test_what_does_not_count():
    assert named_counts(of_transcripts(), row((), "где")) is None
    assert named_counts(of_transcripts(), row(("Latn",), None)) is None
    assert named_counts(of_transcripts(), ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("где"))) is None


def test_a_failure_that_counts_is_a_mismatch():
    failed = ScoredRow(speech(scripts=("Latn",)), Arm.AUDIO, ArmOutput("", None, NOT_HEARD))
    assert named_rates(of_transcripts(), [failed])["script_mismatch_rate"] == 1.0


def test_a_failure_after_the_recognition_takes_nothing_from_the_transcript():
    failed = Failure("plan", FailureKind.INVALID_OUTPUT, "")
    row = ScoredRow(speech(scripts=("Latn",)), Arm.AUDIO, ArmOutput("hello", failure=failed))
    assert named_counts(of_transcripts(), row) == {
        "items_with_mismatch": 0, "items": 1, "mismatched_characters": 0, "scripted_characters": 5,
    }  # fmt: skip


def test_corrected_texts_have_rates_of_their_own():
    given = ArmOutput("privet", correction=Correction("привет"))
    one = ScoredRow(speech(scripts=("Latn",)), Arm.AUDIO, given)
    assert named_rates(of_corrected_texts(), [one]) == {
        "corrected_script_mismatch_rate": 1.0,
        "corrected_script_mismatch_character_rate": 1.0,
    }
    assert named_rates(of_transcripts(), [one])["script_mismatch_rate"] == 0.0
    assert named_counts(of_corrected_texts(), row(("Latn",), "привет")) is None
