"""From the outputs of a run to its table of counts, and what names the scorer."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scored_rows import NOT_ANSWERED, NOT_HEARD, non_speech, speech

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.metrics.base import Arm, ArmOutput, Correction
from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.propagation import COLUMNS
from misheard.metrics.registry import ScoringSettings, families, scorer_description
from misheard.metrics.scoring import count_run
from misheard.metrics.table import TIMING_COLUMNS, CountTable
from misheard.scenes.scene import Scene, Shape
from misheard.suite.items import ItemKind

TRUTH = {"reference_answer": "It is Paris", "fact": ("Paris",), "language": "en"}
ITEMS = (
    speech("q1", "one two", session="s1", conditions={"noise": "clean"}, **TRUTH),
    speech("q2", "one two", **TRUTH),
    speech("q3", "one two", **TRUTH),
    non_speech("n1"),
    non_speech("n2"),
)
SAID = ArmOutput("one two", "It is Paris")
OUTPUTS = {
    Arm.AUDIO: [
        ArmOutput("one too", "It is Rome"),
        ArmOutput(None, None, NOT_HEARD),
        ArmOutput("one two", None, NOT_ANSWERED),
        ArmOutput("you"),
        ArmOutput(None, None, NOT_HEARD),
    ],
    Arm.TRANSCRIPT: [SAID, SAID, SAID, ArmOutput(""), ArmOutput("")],
}


def count(on_failure="exclude", outputs=OUTPUTS, **changes) -> CountTable:
    arguments = {
        "items": ITEMS,
        "item_sha256": ["a", "b", "c", "d", "e"],
        "outputs": outputs,
        "timings": {},
        "flags": {},
        "families": families(ScoringSettings(), {}),
        "on_failure": on_failure,
    }
    return count_run(**{**arguments, **changes})


# counted wherever there is a transcript to align
ALIGNED = ("wer", "cer", "pier_numbers", "information", "error_categories", "bursts", "compounds")


def present(table: CountTable, arm: Arm = Arm.AUDIO) -> dict[str, str]:
    """Per family, the numbers of the items that count."""
    return {
        name: "".join(str(index) for index in np.flatnonzero(counts.present))
        for name, counts in table.arms[arm].counts.items()
    }


def test_excluded_failures_take_away_only_what_they_prevented():
    table = count()
    assert present(table) == {
        **dict.fromkeys(ALIGNED, "02"),  # q3 was heard, though not answered
        "response": "0",
        "answer_class": "0",
        "propagation": "0",
        "non_speech": "3",
        "segments": "",  # no recognizer told them
    }
    assert present(table, Arm.TRANSCRIPT) == {"response": "012", "answer_class": "012"}
    assert table.arms[Arm.AUDIO].failures == (None, NOT_HEARD, NOT_ANSWERED, None, NOT_HEARD)


def test_worst_scores_failures_as_all_wrong():
    table = count("worst")
    assert present(table) == {
        **dict.fromkeys(ALIGNED, "012"),
        "response": "012",
        "answer_class": "012",
        "propagation": "012",
        "non_speech": "34",
        "segments": "",
    }
    audio = table.arms[Arm.AUDIO].counts
    assert audio["wer"].values[1, :5].tolist() == [0, 2, 0, 0, 2]
    assert audio["wer"].values[2, :5].tolist() == [0, 0, 0, 2, 2]
    assert audio["response"].values[1:3].tolist() == [[0, 0, 1]] * 2
    assert audio["answer_class"].values[1:3].tolist() == [[0, 0, 1, 1]] * 2
    assert audio["propagation"].values[1:3].tolist() == [[1, 0, 1, 0, 0, 1, 1]] * 2
    assert audio["non_speech"].values[3:].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("on_failure", ["exclude", "worst"])
def test_an_output_that_failed_is_never_taken_for_an_answer(on_failure):
    error_text = {Arm.AUDIO: [ArmOutput("one two", "It is Paris", NOT_HEARD)]}
    one = {"items": ITEMS[:1], "item_sha256": ["a"]}
    counts = count(on_failure, error_text, **one).arms[Arm.AUDIO].counts
    assert counts["wer"].present.tolist() == counts["response"].present.tolist() == [on_failure == "worst"]
    assert counts["wer"].values[0, 3] == counts["response"].values[0, 0] == 0


def test_non_speech_items_have_no_answers():
    outputs = {Arm.AUDIO: [ArmOutput("you", "It is Paris")]}
    item = non_speech()
    object.__setattr__(item, "reference_answer", "It is Paris")
    object.__setattr__(item, "fact", ("Paris",))
    table = count("worst", outputs, items=[item], item_sha256=["a"])
    assert {name for name, rows in present(table).items() if rows} == {"non_speech"}


def test_a_family_without_its_baseline_arm_is_left_out():
    audio_only = count(outputs={Arm.AUDIO: OUTPUTS[Arm.AUDIO]})
    assert "propagation" not in audio_only.arms[Arm.AUDIO].counts
    assert list(audio_only.arms) == [Arm.AUDIO]


def test_a_perfect_transcript_has_a_drop_of_exactly_zero():
    outputs = {arm: [ArmOutput("one two", "a b c")] * 5 for arm in Arm}
    for arm in (Arm.AUDIO, Arm.CONTROL):
        counts = count(outputs=outputs).arms[arm].counts["propagation"]
        total = dict(zip(COLUMNS, counts.values.sum(axis=0), strict=True))
        assert total["baseline_quality"] - total["arm_quality"] == 0.0
        assert (total["flips"], total["degraded"], total["pairs"]) == (0.0, 0.0, 3.0)


ANSWERING = {Arm.AUDIO, Arm.UNCORRECTED, Arm.TRANSCRIPT, Arm.CONTROL}
ARMS_OF_ANSWERS = {
    "response": ANSWERING,
    "answer_class": ANSWERING,
    "propagation": ANSWERING - {Arm.TRANSCRIPT},
}
ARMS_OF_SCENES = {
    "scene": set(Arm),
    "scene_propagation": ANSWERING - {Arm.TRANSCRIPT},
    "entities_plan": set(Arm),
    "entities_board": set(Arm),
}
ARMS_OF_CORRECTIONS = {
    "entities_corrected": ANSWERING - {Arm.UNCORRECTED},
}


@pytest.mark.parametrize("scenes", [False, True])
def test_every_family_counts_in_the_arms_that_have_what_it_needs(scenes):
    plan = Scene((Shape("a", "box", "Paris"),))
    item = speech("w1", "Paris", entities=("Paris",), scripts=("Latn",), plan=plan, **TRUTH)
    content = SuiteContent(scripts=True, entities=True, plans=True)
    made = {"plan": plan, "board": plan} if scenes else {"answer": "Paris"}
    corrected, raw = (ArmOutput("Pariss", correction=c, **made) for c in (Correction("Paris"), None))
    table = count_run(
        [item],
        ["a"],
        {arm: [raw if arm in (Arm.UNCORRECTED, Arm.PLAN) else corrected] for arm in Arm},
        {},
        {},
        families(ScoringSettings(), {}, content, SystemContent(corrects=True, scenes=scenes)),
        "exclude",
    )
    counted: dict[str, set[Arm]] = {}
    for arm, columns in table.arms.items():
        for name, counts in columns.counts.items():
            if counts.present[0]:
                counted.setdefault(name, set()).add(arm)
    of_system = ARMS_OF_SCENES if scenes else ARMS_OF_ANSWERS
    # the reference has no numbers
    heard = {*ALIGNED, "entities", "pier_entities", "script_mismatch"} - {"pier_numbers"}
    expected = {**{name: {Arm.AUDIO} for name in heard}, **ARMS_OF_CORRECTIONS, **of_system}
    assert {name: counted[name] for name in expected} == expected
    assert not (ARMS_OF_SCENES | ARMS_OF_ANSWERS).keys() - of_system.keys() & counted.keys()


def test_items_timings_and_flags_are_carried_over():
    seconds = np.arange(5.0)
    flag = np.array([True, False, False, False, False])
    table = count(timings={Arm.AUDIO: {"llm_seconds": seconds}}, flags={Arm.AUDIO: {"repetition": flag}})
    audio = table.arms[Arm.AUDIO]
    assert tuple(audio.timings) == TIMING_COLUMNS
    assert audio.timings["llm_seconds"] is seconds
    assert np.isnan(audio.timings["audio_seconds"]).all()
    assert audio.flags == {"repetition": flag}
    first, *_, last = table.items
    assert (first.id, first.session, first.resampling_unit, first.sha256) == ("q1", "s1", "session:s1", "a")
    assert (first.conditions, last.kind, last.resampling_unit) == (
        {"noise": "clean"},
        ItemKind.NON_SPEECH,
        "item:n2",
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"item_sha256": ["a"]}, "item_sha256: 1 entries for 5 items"),
        ({"outputs": {Arm.AUDIO: []}}, "outputs of arm audio: 0 entries"),
        ({"timings": {Arm.AUDIO: {"llm_seconds": np.zeros(2)}}}, "timings llm_seconds of arm audio: 2"),
        ({"flags": {Arm.AUDIO: {"x": np.zeros(6, bool)}}}, "flags x of arm audio: 6"),
        ({"timings": {Arm.AUDIO: {"watts": np.zeros(5)}}}, "unknown timing columns: watts"),
    ],
)
def test_other_lengths_and_unknown_columns_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        count(**changes)


def test_rate_and_family_names_are_unique():
    every = families(ScoringSettings(), {})
    names = [family.name for family in every] + [rate.name for family in every for rate in family.rates]
    # the corpus rate of an error-rate family is called like the family
    assert sorted({name for name in names if names.count(name) > 1}) == ["cer", "pier_numbers", "wer"]


def test_an_unknown_profile_is_refused():
    with pytest.raises(InputError, match="nosuch"):
        families(ScoringSettings(profile="nosuch"), {})


def scorer(reference: str, answer: str) -> float:
    return float(reference == answer)


def test_the_description_of_the_scorer_is_json_and_moves_with_what_decides_counts():
    plain = scorer_description(ScoringSettings(), {})
    assert json.loads(json.dumps(plain)) == plain
    assert plain["profiles"] == {"nfc": 1}
    assert plain["tokenisers"] == {"words": 1, "chars": 1}
    others = [
        scorer_description(ScoringSettings(profile="exact"), {}),
        scorer_description(ScoringSettings(), {"en": ("no idea",)}),
        scorer_description(ScoringSettings("nfc", scorer, "mine:scorer"), {}),
    ]
    assert len({sha256_json(one) for one in [plain, *others]}) == 4
    assert sha256_json(scorer_description(ScoringSettings(), {})) == sha256_json(plain)


def test_an_edit_of_a_custom_scorer_changes_the_description(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "edited_scorer.py"
    source.write_text("def score(reference, answer):\n    return 1.0\n")
    import edited_scorer

    settings = ScoringSettings("nfc", edited_scorer.score, "edited_scorer:score")
    before = scorer_description(settings, {})
    source.write_text("def score(reference, answer):\n    return 0.0\n")
    assert scorer_description(settings, {}) != before


def test_a_scorer_without_a_source_file_can_be_described():
    assert scorer_description(ScoringSettings("nfc", max, "max"), {})["response_scorer_source_sha256"] is None


SIXTY = """
import sys
import numpy as np
from misheard.metrics.base import Arm, ArmOutput, Correction
from misheard.metrics.content import SuiteContent, SystemContent
from misheard.metrics.propagation import COLUMNS
from misheard.metrics.registry import ScoringSettings, families
from misheard.metrics.scoring import count_run
from misheard.suite.items import Item
rng = np.random.default_rng(0)
words = np.array("the quick brown foxes jump over a lazy dog while nobody looks".split())
items, outputs = [], []
for index in range(60):
    said = rng.choice(words, 12)
    kept = said[rng.random(12) < 0.9]
    items.append(Item(f"q{index}", "a.flac", " ".join(said), reference_answer="a b", fact=("b",)))
    outputs.append(ArmOutput(" ".join(kept), "a c"))
table = count_run(items, ["0"] * 60, {arm: outputs for arm in Arm}, {}, {},
                  families(ScoringSettings(), {}), "exclude")
assert table.arms[Arm.AUDIO].counts["cer"].present.all()
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"numba", "torch", "transformers", "ctranslate2", "vllm", "scipy"}))
"""


def test_scoring_a_demo_imports_no_heavy_library():
    done = subprocess.run(
        [sys.executable, "-c", SIXTY], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert done.stdout.strip() == "[]"
