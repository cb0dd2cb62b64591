"""The contract of a custom scorer, and what breaks it."""

from fractions import Fraction

import numpy as np
import pytest
from scored_rows import NOT_ANSWERED, answered, named_counts

from misheard.errors import ConfigError, ScorerError
from misheard.metrics.propagation import Propagation
from misheard.metrics.quality import AnswerQuality
from misheard.metrics.response import Response, load_scorer

CANARY = "a-secret-answer"


def response(scorer) -> Response:
    return Response(AnswerQuality("nfc", scorer))


@pytest.mark.parametrize("score", [0, 1, 0.25, True, np.float32(0.5), np.int64(1), Fraction(1, 3)])
def test_any_real_number_from_zero_to_one_is_a_score(score):
    counts = named_counts(response(lambda _r, _a: score), answered("x", reference_answer="y"))
    assert counts["quality"] == pytest.approx(float(score))


def test_the_scorer_gets_reference_and_answer_as_they_are():
    seen = []
    family = response(lambda reference, answer: seen.append((reference, answer)) or 1.0)
    named_counts(family, answered(" A  b", reference_answer="C\td"))
    assert seen == [("C\td", " A  b")]


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        (float("nan"), "outside"),
        (float("inf"), "outside"),
        (-0.01, "outside"),
        (1.01, "outside"),
        (Fraction(10**400, 3), "outside"),
        ("1.0", "str"),
        (None, "NoneType"),
        (1j, "complex"),
        (np.array([0.5]), "ndarray"),
    ],
)
def test_anything_else_stops_with_the_item_and_no_text(score, complaint):
    row = answered(CANARY, item_id="q07", reference_answer=CANARY)
    with pytest.raises(ScorerError) as caught:
        response(lambda _r, _a: score).counts([row])
    assert "q07" in str(caught.value) and complaint in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("family", [Response, Propagation])
def test_an_exception_in_the_scorer_stops_with_the_item_and_no_text(family):
    def broken(_reference, answer):
        raise KeyError(answer)

    row = answered(CANARY, baseline=CANARY, item_id="q07", reference_answer="r")
    with pytest.raises(ScorerError, match=r"q07.*raised KeyError") as caught:
        family(AnswerQuality("nfc", broken)).counts([row])
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_failed_answer_is_not_scored():
    row = answered("", failure=NOT_ANSWERED, reference_answer="r")
    assert named_counts(response(lambda _r, _a: 1.0), row)["quality"] == 0.0


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")  # restores sys.path afterwards
    return tmp_path


def test_a_scorer_is_loaded_from_the_current_folder(in_folder):
    (in_folder / "home_made_scorer.py").write_text(
        "def half(reference, answer):\n    return 0.5\n\nclass Kinds:\n    half = staticmethod(half)\n"
    )
    assert load_scorer("home_made_scorer:half")("a", "b") == 0.5
    assert load_scorer("home_made_scorer:Kinds.half")("a", "b") == 0.5


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_colon", "module:function"),
        (":function", "module:function"),
        ("module:", "module:function"),
        ("no_such_module_at_all:f", "no module no_such_module_at_all"),
        ("math:no_such", "module math has no function no_such"),
        ("math:pi", "math:pi is not a function but float"),
        ("breaks_on_import:f", "cannot be imported: ZeroDivisionError"),
        ("needs_another:f", "no module not_installed_here"),
    ],
)
def test_a_scorer_that_is_not_there_names_the_option(in_folder, path, message):
    (in_folder / "breaks_on_import.py").write_text("1 / 0\n")
    (in_folder / "needs_another.py").write_text("import not_installed_here\n")
    with pytest.raises(ConfigError) as caught:
        load_scorer(path, option="scoring.response_scorer")
    assert "scoring.response_scorer" in str(caught.value) and message in str(caught.value)
