import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.failures import FailureKind
from misheard.language_models.answers import grade_text, strip_thinking


@pytest.mark.parametrize(
    ("raw", "graded"),
    [
        ("Paris", "Paris"),
        ("  Paris \n", "Paris"),
        ("<think>hm</think>Paris", "Paris"),
        ("<think>a\nb</think>\n\nParis", "Paris"),
        ("<think></think>Paris", "Paris"),
        ("hm, so </think> Paris", "Paris"),
        ("A <think>x</think>B<think>y</think> C", "A B C"),
        ("<think>I open <think> twice</think>Paris", "Paris"),
        ("<think>a<think>b</think>c</think>Paris", "Paris"),
        ("<THINK>a</Think>Paris", "Paris"),
        ("<thinking>a</thinking>Paris", "Paris"),
        ("[THINK]a[/THINK]Paris", "Paris"),
        ("2 < 3 and <thinker>", "2 < 3 and <thinker>"),
    ],
)
def test_closed_thinking_is_stripped(raw: str, graded: str) -> None:
    answer = grade_text(raw, "stop")
    assert (answer.text, answer.failure) == (graded, None)


@pytest.mark.parametrize(
    ("raw", "finish_reason", "says"),
    [
        ("<think>so Paris", "length", "raise max_tokens"),
        ("<think>so Paris", "stop", "not closed"),
        ("Paris <think>or", "stop", "not closed"),
        ("</think><think>Paris", "stop", "not closed"),
        ("", "stop", "empty"),
        (" \n\t", "stop", "empty"),
        ("<think>Paris</think>", "stop", "empty"),
        ("Paris</think>", "stop", "empty"),
        ("Paris", "content_filter", "content_filter"),
        ("Paris", "CANARY", "unknown"),
    ],
)
def test_what_is_no_answer_is_invalid_and_not_quoted(raw: str, finish_reason: str, says: str) -> None:
    answer = grade_text(raw, finish_reason)
    assert (answer.text, answer.failure) == (None, FailureKind.INVALID_OUTPUT)
    assert says in answer.detail
    assert "Paris" not in answer.detail and "CANARY" not in answer.detail


def test_an_answer_at_the_limit_of_tokens_is_an_answer() -> None:
    assert grade_text("Paris is the", "length").text == "Paris is the"
    assert grade_text("Paris", None).text == "Paris"


pieces = st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", "a", " ", "<"]), max_size=12)


@given(pieces.map("".join))
def test_stripping_leaves_no_tag_and_is_idempotent(raw: str) -> None:
    text = strip_thinking(raw)
    if text is not None and "<" not in text:
        assert "think>" not in text and "THINK]" not in text
        assert strip_thinking(text) == text


@given(st.text(alphabet="ab <>[]/", max_size=30))
def test_text_without_tags_is_kept_as_it_is(raw: str) -> None:
    assert strip_thinking(raw) == raw
