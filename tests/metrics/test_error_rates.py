"""Word and character error rates: known cases, another tool, and the definition read slowly."""

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import heard, named_counts, named_rates, non_speech, speech

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.error_rates import cer, item_rates, wer

FAMILIES = {"words": wer, "chars": cer}

# what users of other tools reported as wrong, each with what must come out
CASES = [
    ("an empty reference pools its insertions", "words", "nfc", [("", "uh"), ("a b", "a b")], "0 0 1 / 2"),
    ("pairs are never joined", "words", "nfc", [("a b", "a"), ("c", "b c")], "0 1 1 / 3"),
    ("pooled, not averaged", "words", "nfc", [("a", "x"), ("b c d e", "b c d e")], "1 0 0 / 5"),
    ("insertion at the start", "chars", "nfc", [("abc", "Xabc")], "0 0 1 / 3"),
    ("fewest substitutions", "words", "nfc", [("a b", "b c")], "0 1 1 / 2"),
    ("both empty", "words", "nfc", [("", "")], "0 0 0 / 0"),
    ("a brace in the text", "words", "exact", [("a { b c", "a { b c")], "0 0 0 / 4"),
    ("code points, not bytes", "chars", "exact", [("é", "e")], "1 0 0 / 1"),
    ("NFC equals NFD", "chars", "nfc", [("cafe\u0301", "caf\u00e9")], "0 0 0 / 4"),
    ("unless unmodified", "chars", "exact", [("cafe\u0301", "caf\u00e9")], "1 1 0 / 5"),
    ("tabs and newlines", "words", "exact", [("a\tb\nc", "a b c")], "0 0 0 / 3"),
    ("reference first, hypothesis second", "words", "nfc", [("a b c", "a")], "0 2 0 / 3"),
    ("double and leading spaces", "words", "exact", [("a  b", " a b ")], "0 0 0 / 2"),
    ("separator controls are white space", "words", "exact", [("a\u001fb", "a b")], "0 0 0 / 2"),
    ("so they are for characters", "chars", "exact", [("a\u001fb", "a b")], "0 0 0 / 2"),
    ("lone surrogates are tokens", "words", "nfc", [("a \ud800", "a b")], "1 0 0 / 2"),
    ("lone surrogates are characters", "chars", "exact", [("a \ud800", "a b")], "1 0 0 / 2"),
    ("no comments in transcripts", "words", "nfc", [(";; a @ c", ";; a c")], "0 1 0 / 4"),
    ("an empty line is kept", "words", "nfc", [("a", "a"), ("", "uh"), ("b", "b")], "0 0 1 / 2"),
    ("a lost negation", "words", "nfc", [("no chest pain", "chest pain")], "0 1 0 / 3"),
    ("a loop is not collapsed", "words", "nfc", [("no", "no no no no no")], "0 0 4 / 1"),
    ("case and punctuation count", "words", "nfc", [("It is.", "it is")], "2 0 0 / 2"),
    ("an empty hypothesis is all deletions", "chars", "nfc", [("a bc", "  ")], "0 3 0 / 3"),
    ("vowel signs are characters", "chars", "nfc", [("దా", "ద")], "0 1 0 / 2"),
]


@pytest.mark.parametrize(
    ("unit", "profile", "pairs", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_known_cases(unit, profile, pairs, expected):
    family = FAMILIES[unit](profile)
    rows = [heard(reference, transcript) for reference, transcript in pairs]
    counts = family.counts(rows)
    assert counts.present.all()
    total = dict(zip(family.columns, counts.values.sum(axis=0).astype(int).tolist(), strict=True))
    edits, units = expected.split(" / ")
    assert [total["substitutions"], total["deletions"], total["insertions"]] == [
        int(n) for n in edits.split()
    ]
    assert total["reference_units"] == int(units)
    assert total["hits"] == total["reference_units"] - total["substitutions"] - total["deletions"]


def test_rates_of_a_small_corpus_by_hand():
    rows = [heard("a b c d", "a x c"), heard("e", "e f g"), heard("", "h"), heard("i j", None)]
    family = wer("nfc")
    # edits 1S + 1D, 2I, 1I over 4 + 1 + 0 words; item rates 1/2 and 2
    assert named_rates(family, rows) == {
        "wer": pytest.approx(5 / 5),
        "wer_bounded": pytest.approx(5 / 7),
        "wer_mean": pytest.approx((0.5 + 2) / 2),
        "wer_substitution_rate": pytest.approx(1 / 5),
        "wer_deletion_rate": pytest.approx(1 / 5),
        "wer_insertion_rate": pytest.approx(3 / 5),
    }
    np.testing.assert_equal(item_rates(family.counts(rows)), [0.5, 2.0, np.nan, np.nan])


def test_rates_without_reference_units_are_undefined():
    only_heard = named_rates(cer("nfc"), [heard("", "x")])
    assert only_heard.pop("cer_bounded") == 1.0
    assert set(only_heard.values()) == {None}
    assert set(named_rates(cer("nfc"), [heard("", "")]).values()) == {None}
    assert set(named_rates(cer("nfc"), []).values()) == {None}


def test_rates_keep_leading_axes():
    family = wer("nfc")
    values = family.counts([heard("a b", "a"), heard("c", "d")]).values
    for rate in family.rates:
        stacked = rate.compute(np.stack([values, 2 * values]))
        assert stacked.shape == (2, 2)
        np.testing.assert_array_equal(stacked[0], stacked[1])


def test_only_speech_with_a_transcript_counts():
    family = wer("nfc")
    assert named_counts(family, heard("a b", None)) is None
    assert named_counts(family, ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("uh"))) is None
    assert named_counts(family, ScoredRow(speech(), Arm.AUDIO, ArmOutput(""))) is not None
    assert (family.arms, family.relative_to) == ((Arm.AUDIO,), None)


line = st.lists(st.sampled_from(["a", "b", "cd", "é"]), max_size=7).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(line.filter(bool), line), min_size=1, max_size=6))
def test_rates_agree_with_jiwer(pairs):
    rows = [heard(reference, hypothesis) for reference, hypothesis in pairs]
    references, hypotheses = [list(side) for side in zip(*pairs, strict=True)]
    assert named_rates(wer("nfc"), rows)["wer"] == pytest.approx(jiwer.wer(references, hypotheses))
    bare = [[text.replace(" ", "") for text in side] for side in (references, hypotheses)]
    assert named_rates(cer("nfc"), rows)["cer"] == pytest.approx(jiwer.cer(*bare))
    slow = np.mean([jiwer.wer(reference, hypothesis) for reference, hypothesis in pairs])
    assert named_rates(wer("nfc"), rows)["wer_mean"] == pytest.approx(slow)
