"""Information, categories, bursts and confusions: all from one alignment of words."""

from collections import Counter

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import heard, named_counts, named_rates, speech

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.bursts import BurstCounts, Bursts, burst_counts
from misheard.metrics.confusions import confusions
from misheard.metrics.error_categories import CATEGORIES, ErrorCategories, categorised_errors
from misheard.metrics.error_rates import wer
from misheard.metrics.information import Information
from misheard.metrics.transcripts import Transcripts, aligned_pairs
from misheard.text.tokenisers import words

WORDS = Transcripts("nfc", words)
FAMILIES = [Information(WORDS), ErrorCategories(WORDS), Bursts(WORDS)]


def pair(reference: str, hypothesis: str):
    return aligned_pairs([reference.split()], [hypothesis.split()])[0]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_only_speech_with_a_transcript_counts(family):
    assert named_counts(family, heard("a", None)) is None
    assert named_counts(family, heard("a", "")) is not None
    assert (family.arms, family.relative_to) == ((Arm.AUDIO,), None)


@pytest.mark.parametrize(
    ("pairs", "lost", "preserved", "sentences"),
    [
        ([("a b c d", "a b c d")], 0.0, 1.0, 0.0),
        ([("a b c d", "a b x")], 1 - 4 / 12, 4 / 12, 1.0),
        ([("a b", "")], 1.0, 0.0, 1.0),
        ([("a b", "c d")], 1.0, 0.0, 1.0),
        ([("", "a")], None, None, 1.0),
        ([("", "")], None, None, 0.0),
        ([("a b", "a b"), ("c", "d e")], 1 - 4 / 12, 4 / 12, 0.5),
        ([], None, None, None),
    ],
)
def test_information(pairs, lost, preserved, sentences):
    rates = named_rates(FAMILIES[0], [heard(*texts) for texts in pairs])
    expected = (lost, preserved, sentences)
    assert list(rates.values()) == [None if v is None else pytest.approx(v) for v in expected]


line = st.lists(st.sampled_from(["a", "b", "cd", "é"]), max_size=7).map(" ".join)


@settings(deadline=None)
@given(line.filter(bool), line)
def test_information_agrees_with_jiwer_where_hits_do(reference, hypothesis):
    rates = named_rates(FAMILIES[0], [heard(reference, hypothesis)])
    other = jiwer.process_words(reference, hypothesis)
    counts = named_counts(wer("nfc"), heard(reference, hypothesis))
    assert 0 <= rates["word_information_lost"] <= 1
    assert rates["word_information_lost"] + rates["word_information_preserved"] == pytest.approx(1)
    if counts["hits"] == other.hits:
        assert rates["word_information_preserved"] == pytest.approx(other.wip)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "category"),
    [
        ("call anna", "call hannah", "entity"),
        ("call anna", "call", "entity"),
        ("call Anna", "call anna", "case"),
        ("call anna", "call anna.", "punctuation"),
        ("call anna now", "call anna , now", "punctuation"),
        ("pay fifty", "pay fifteen", "numeral"),
        ("pay 50", "pay", "numeral"),
        ("pay it", "pay 8", "numeral"),
        ("pay", "pay 8", "numeral"),
        ("五", "我", "numeral"),
        ("play it", "play that", "lexical"),
        ("don't stop", "dont stop", "punctuation"),
        ("दिन", "दान", "lexical"),
    ],
)
def test_every_error_has_one_category(reference, hypothesis, category):
    assert categorised_errors(pair(reference, hypothesis), ["Anna"], "en") == Counter({category: 1})


@settings(deadline=None)
@given(st.lists(st.tuples(line, line), min_size=1, max_size=4))
def test_categories_add_up_to_the_word_error_rate(pairs):
    rows = [heard(*texts) for texts in pairs]
    rates = named_rates(FAMILIES[1], rows)
    total = named_rates(wer("nfc"), rows)["wer"]
    if total is None:
        assert set(rates.values()) == {None}
    else:
        assert sum(rates.values()) == pytest.approx(total)


def test_categories_know_the_items_entities():
    item = speech(reference="call anna today", language="en", entities=("Anna",))
    row = ScoredRow(item, Arm.AUDIO, ArmOutput("call hannah to day"))
    counts = named_counts(FAMILIES[1], row)
    assert [counts[f"{category}_errors"] for category in CATEGORIES] == [2, 0, 1, 0, 0]
    assert counts["reference_words"] == 3


@pytest.mark.parametrize(
    ("hypothesis", "inserted", "expected"),
    [
        ("no no no no", "0111", (1, 3, 0)),
        ("no no no no", "1110", (1, 3, 0)),  # whichever of them is the hit
        ("thank you thank you thank you", "111111", (1, 4, 2)),
        ("go to the shop with me now", "0001111", (1, 0, 4)),
        ("go a b stop c d", "011011", (0, 0, 0)),  # two in a row are no burst
        ("a b c stop d e f", "1110111", (2, 0, 6)),
        ("", "", (0, 0, 0)),
    ],
)
def test_bursts(hypothesis, inserted, expected):
    assert burst_counts(hypothesis.split(), [flag == "1" for flag in inserted]) == BurstCounts(*expected)


def test_burst_rates_are_made_from_sums():
    rows = [heard("no", "no no no no no"), heard("go home", "go home and eat some"), heard("a", "a b")]
    assert named_rates(FAMILIES[2], rows) == {
        "burst_item_rate": 2 / 3,
        "burst_loop_rate": 4 / 4,
        "burst_novel_rate": 3 / 4,
    }


def test_most_frequent_confusions():
    pairs = [pair("the cat sat", "a cat sat"), pair("the dog", "a dog uh"), pair("so it is", "it was")]
    found = confusions(pairs)
    assert found.substitutions == {("the", "a"): 2, ("is", "was"): 1}
    assert (found.deletions, found.insertions) == ({"so": 1}, {"uh": 1})
    assert list(found.most_frequent(1).substitutions.items()) == [(("the", "a"), 2)]
    assert confusions([]).most_frequent(5).substitutions == {}


def test_equally_frequent_confusions_come_in_a_fixed_order():
    pairs = [pair("b", "y"), pair("a", "z"), pair("a", "y")]
    assert list(confusions(pairs).most_frequent(2).substitutions) == [("a", "y"), ("a", "z")]


def test_alignments_follow_the_rows():
    shared = Transcripts("nfc", words)
    first, second = Information(shared), Bursts(shared)
    rows, others = [heard("a b", "a")], [heard("a", "a b c d")]
    for _ in range(2):
        assert named_counts(first, rows[0])["hits"] == 1
        assert named_counts(second, others[0])["bursts"] == 1
    assert named_counts(first, others[0])["hypothesis_words"] == 4
