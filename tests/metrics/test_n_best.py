"""Lists of hypotheses: by hand, and the oracle against a plain search."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored_rows import NOT_HEARD, named_counts, named_rates, non_speech, speech
from slow_definitions import canonical

from misheard.canonical import sha256_json
from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.content import NO_SYSTEM, SuiteContent, SystemContent
from misheard.metrics.error_rates import wer
from misheard.metrics.n_best import NBest
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.metrics.scoring import FailurePolicy, count_run
from misheard.text.tokenisers import words


def listed(reference: str, *hypotheses: str) -> ScoredRow:
    output = ArmOutput(hypotheses[0], n_best=hypotheses)
    return ScoredRow(speech(reference=reference), Arm.AUDIO, output)


def test_rates_by_hand():
    rows = [
        listed("a b c", "a x y", "a x c", "x y z w"),
        listed("a b", "a b", "x"),
        listed("d", "e"),
    ]
    assert named_rates(NBest("nfc", words), rows) == {
        "n_best_oracle": (1 + 0 + 1) / 6,
        "n_best_recoverable": 1 / 3,
        "n_best_length": 2.0,
    }


def test_a_list_without_errors_has_nothing_to_recover():
    assert named_rates(NBest("nfc", words), [listed("a", "a", "b")])["n_best_recoverable"] is None


def test_a_transcript_without_a_list_is_a_list_of_itself():
    counts = named_counts(NBest("nfc", words), ScoredRow(speech(), Arm.AUDIO, ArmOutput("what was it")))
    assert counts == {
        "first_edits": 1, "oracle_edits": 1, "reference_tokens": 3, "hypotheses": 1, "lists": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        ScoredRow(speech(), Arm.AUDIO, ArmOutput(None, failure=NOT_HEARD)),
        ScoredRow(non_speech(), Arm.AUDIO, ArmOutput("a", n_best=("a", "b"))),
    ],
)
def test_what_was_not_heard_or_not_said_does_not_count(row):
    assert named_counts(NBest("nfc", words), row) is None


texts = st.lists(st.sampled_from("abc"), max_size=5).map(" ".join)


@settings(deadline=None)
@given(texts, st.lists(texts, min_size=1, max_size=5))
def test_the_oracle_is_the_closest_and_never_worse_than_the_first(reference: str, hypotheses: list[str]):
    row = listed(reference, *hypotheses)
    counts = named_counts(NBest("nfc", words), row)
    assert counts is not None
    edits = [canonical(reference.split(), text.split())[0] for text in hypotheses]
    assert (counts["first_edits"], counts["oracle_edits"]) == (edits[0], min(edits))
    rates, first = named_rates(NBest("nfc", words), [row]), named_rates(wer("nfc"), [row])
    oracle, recoverable = rates["n_best_oracle"], rates["n_best_recoverable"]
    assert (oracle is None) == (first["wer"] is None)
    assert oracle is None or first["wer"] is None or oracle <= first["wer"]
    assert recoverable is None or 0 <= recoverable <= 1


@pytest.mark.parametrize(("policy", "lists", "edits"), [("exclude", 1, 1), ("worst", 2, 4)])
def test_failed_recognition_under_each_policy(policy: FailurePolicy, lists: int, edits: int):
    items = [speech("q1"), speech("q2")]
    outputs = [ArmOutput("it is", n_best=("it is", "what is")), ArmOutput(None, failure=NOT_HEARD)]
    active = families(ScoringSettings(), {}, SuiteContent(), SystemContent(n_best=True))
    table = count_run(items, ["0" * 64] * 2, {Arm.AUDIO: outputs}, {}, {}, active, policy)
    sums = table.arms[Arm.AUDIO].counts["n_best"].values.sum(axis=0)
    counts = dict(zip(NBest.columns, sums.tolist(), strict=True))
    assert (counts["lists"], counts["oracle_edits"]) == (lists, edits)


def test_lists_are_counted_in_mixed_tokens_where_the_suite_scores_those():
    content = SuiteContent(mixed=True, char_scripts=("Hani",), scored_alone=("Hani",))
    (family,) = [
        one
        for one in families(ScoringSettings(), {}, content, SystemContent(n_best=True))
        if one.name == "n_best"
    ]
    row = listed("我想喝latte", "我想喝辣椒", "我想喝coffee")
    assert named_rates(family, [row])["n_best_oracle"] == 1 / 4


SYSTEMS = [NO_SYSTEM, SystemContent(corrects=True), SystemContent(n_best=True, judged=("meaning",))]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_description_of_the_scorer_gives_the_system_back(system: SystemContent):
    described = scorer_description(ScoringSettings(), {}, SuiteContent(), system)
    assert SystemContent.from_json(described.get("system", {})) == system


def test_what_a_system_has_moves_the_scorers_fingerprint_and_nothing_leaves_it():
    described = [scorer_description(ScoringSettings(), {}, SuiteContent(), system) for system in SYSTEMS]
    assert described[0] == scorer_description(ScoringSettings(), {})
    assert "system" not in described[0]
    assert len({sha256_json(one) for one in described}) == len(SYSTEMS)
