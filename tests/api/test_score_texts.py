"""`misheard.score`: definite cases, other tools, and laws that hold for any texts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import misheard
from misheard.errors import InputError
from misheard.scoring import texts as counting

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "scoring_texts.jsonl").read_text("utf-8").splitlines()
]
OPTIONS = ("profile", "unit", "language", "annotations", "alternatives")
SMALL_AND_LARGE = pytest.mark.parametrize("limit", [0, 1_000_000], ids=["kernels", "without numpy"])


def set_limit(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(counting, "_SMALL_TOKENS_WITH_NUMPY", limit)


@SMALL_AND_LARGE
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_cases(case: dict[str, Any], limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limit(monkeypatch, limit)
    references, hypotheses = zip(*case["pairs"], strict=True)
    found = misheard.score(references, hypotheses, **{key: case[key] for key in OPTIONS if key in case})
    known: dict[str, Any] = {
        "S": found.substitutions, "D": found.deletions, "I": found.insertions, "N": found.reference_units,
        "hits": found.hits, "errors": found.errors, "rate": found.rate,
        "operations": [step.operation for step in found.alignments[0]],
    }  # fmt: skip
    assert {key: known[key] for key in case["expect"]} == case["expect"]


WORDS = ["a", "b", "c", "the", "cat", "我", "é", "e\u0301"]
sentences = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
pairs_of_texts = st.lists(st.tuples(sentences, sentences), max_size=5)


@settings(deadline=None, max_examples=80)
@given(pairs_of_texts, st.sampled_from(["words", "chars"]), st.sampled_from(["unit", "sclite"]))
def test_sums_items_and_alignments_agree(pairs: list[tuple[str, str]], unit: Any, costs: Any) -> None:
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    found = misheard.score(references, hypotheses, unit=unit, costs=costs)
    assert found.substitutions + found.deletions + found.hits == found.reference_units
    assert found.substitutions + found.insertions + found.hits == found.hypothesis_units
    assert found.errors == found.item_errors.sum()
    assert found.item_reference_units.sum() == found.reference_units
    assert found.item_hypothesis_units.sum() == found.hypothesis_units
    assert len(found.alignments) == len(pairs)
    for place, steps in enumerate(found.alignments):
        operations = [step.operation for step in steps]
        assert [operations.count(o) for o in ("substitution", "deletion", "insertion", "match")] == list(
            found.items[place]
        )
        split = found.settings.split()
        normal = found.settings.normalised
        assert [s.reference for s in steps if s.reference is not None] == list(
            split(*normal([references[place]]))
        )
        assert [s.hypothesis for s in steps if s.hypothesis is not None] == list(
            split(*normal([hypotheses[place]]))
        )


@settings(deadline=None, max_examples=60)
@given(pairs_of_texts, st.sampled_from(["words", "chars", "mixed", "graphemes"]))
def test_the_way_of_counting_changes_no_number(pairs: list[tuple[str, str]], unit: Any) -> None:
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for limit in (0, 1_000_000):
            set_limit(patch, limit)
            found.append(misheard.score(references, hypotheses, unit=unit).items)
    assert found[0] == found[1]


@pytest.mark.parametrize("wrong", [0.1, 0.9])
def test_a_corpus_counts_the_same_with_and_without_numpy(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    references = [" ".join(f"w{n}" for n in rng.integers(0, 50, 9)) for _ in range(450)]
    hypotheses = [
        " ".join("x" if rng.random() < wrong else word for word in text.split()) for text in references
    ]
    found = []
    for limit in (0, 1_000_000):
        set_limit(monkeypatch, limit)
        found.append(misheard.score(references, hypotheses).items)
    assert found[0] == found[1]
    assert len(found[0]) == 450


def test_errors_are_jiwers() -> None:
    rng = np.random.default_rng(5)
    references, hypotheses = [], []
    for _ in range(300):
        words = [f"w{n}" for n in rng.integers(0, 40, rng.integers(1, 25))]
        references.append(" ".join(words))
        hypotheses.append(" ".join(f"w{rng.integers(0, 40)}" if rng.random() < 0.2 else w for w in words[1:]))
    for unit, other in (
        ("words", jiwer.process_words(references, hypotheses)),
        (
            "chars",
            jiwer.process_characters(
                [r.replace(" ", "") for r in references], [h.replace(" ", "") for h in hypotheses]
            ),
        ),
    ):
        found = misheard.score(references, hypotheses, unit=unit)  # type: ignore[arg-type]
        assert found.errors == other.substitutions + other.deletions + other.insertions  # type: ignore[attr-defined]


def test_two_single_texts_are_one_pair() -> None:
    assert misheard.score("a b", "a").items == ((0, 1, 0, 1),)


def test_per_item_arrays() -> None:
    found = misheard.score(["a b", "", "c"], ["a", "x", "c"])
    assert found.item_counts.dtype == np.int64
    assert found.item_counts.tolist() == [[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert found.item_deletions.tolist() == [1, 0, 0]
    assert found.item_insertions.tolist() == [0, 1, 0]
    assert found.item_substitutions.tolist() == [0, 0, 0]
    assert found.item_hits.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(found.item_rates, [0.5, np.nan, 0.0])


def test_no_pairs() -> None:
    found = misheard.score([], [])
    assert (found.errors, found.rate, found.item_counts.shape, list(found.alignments)) == (
        0,
        None,
        (0, 4),
        [],
    )


def test_a_score_is_frozen_and_prints_no_text() -> None:
    found = misheard.score(["canary one"], ["canary two"])
    with pytest.raises(AttributeError):
        found.hits = 3  # type: ignore[misc]
    assert "canary" not in repr(found)
    assert "rate=0.5" in repr(found)
    with pytest.raises(ValueError, match="read-only"):
        found.item_counts[0, 0] = 9


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["canary", "b"], ["a"]), InputError, "2 references but 1 hypothesis"),
        (("canary", ["a", "b"]), InputError, "1 reference but 2 hypotheses"),
        ((["canary"], [None]), TypeError, "hypotheses must be"),
        ((["a"], ["b"], "loud"), InputError, "profile 'loud' is not known"),
        ((["a"], ["b"], "nfc", "syllables"), InputError, "unit 'syllables' is not known"),
        ((["a"], ["b"], "nfc", "words", None, "free"), InputError, "costs 'free' is not known"),
    ],
)
def test_what_cannot_be_scored(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        misheard.score(*arguments)
    assert "canary" not in str(caught.value)


HEAVY = {
    "numpy",
    "numba",
    "pyarrow",
    "torch",
    "pydantic",
    "rich",
    "regex",
    "text_to_num",
    "typer",
    "json",
    "csv",
}
SCORE_129 = """
import sys, misheard
references = ["the cat sat on the mat this morning"] * 129
found = misheard.score(references, ["the cat sit on mat this fine morning"] * 129)
assert (found.errors, found.reference_units) == (129 * 3, 129 * 8), found
print(*sys.modules)
"""


def modules_after(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_misheard_imports_nothing() -> None:
    assert not modules_after("import sys, misheard; print(*sys.modules)") & {
        *HEAVY,
        "dataclasses",
        "misheard.api",
    }


def test_a_small_score_imports_nothing_heavy() -> None:
    assert not modules_after(SCORE_129) & HEAVY


def test_braces_of_alternatives_must_pair_up() -> None:
    with pytest.raises(InputError, match="reference 2: a brace opens that is not closed") as caught:
        misheard.score(["a", "{canary / b"], ["a", "b"], alternatives=True)
    assert "canary" not in str(caught.value)


def test_what_misheard_offers() -> None:
    assert misheard.Score is type(misheard.score("a", "a"))
    with pytest.raises(AttributeError, match="has no attribute 'wer'"):
        misheard.wer  # noqa: B018
