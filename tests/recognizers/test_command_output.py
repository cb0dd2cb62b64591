"""What counts as the output of a recognizer program, and what does not."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.failures import FailureKind, ItemFailedError
from misheard.recognizers.command_output import ClipOutput, parse_row, parse_text

GOOD: dict[str, Any] = {"text": "so it goes", "audio_ms": 1000, "load_ms": 20.5, "transcribe_ms": 0}


def row(**changes: Any) -> bytes:
    return json.dumps({key: value for key, value in {**GOOD, **changes}.items() if value != "gone"}).encode()


@pytest.mark.parametrize(
    ("stdout", "text"),
    [
        (row(), "so it goes"),
        (b"\n  " + row() + b"\r\n\n", "so it goes"),
        (json.dumps(GOOD, indent=2).encode(), "so it goes"),
        (b"\xef\xbb\xbf" + row(), "so it goes"),
        (row(text=""), ""),
        (row(text=" नमस्ते 你好 \n"), "नमस्ते 你好"),
        (row(words=[{"start": 0}], language="en"), "so it goes"),
    ],
)
def test_one_row_is_read(stdout: bytes, text: str) -> None:
    assert parse_row(stdout, 2000) == ClipOutput(text, 1000.0, 20.5, 0.0)


@pytest.mark.parametrize(
    ("stdout", "complaint"),
    [
        (b"", "printed nothing"),
        (b" \n\n", "printed nothing"),
        (row() + b"\n" + row(), "more than one JSON row"),
        (row() + b" canary", "more than one JSON row"),
        (b"loading canary\n" + row(), "no JSON"),
        (row()[:-1], "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff\xfe\x00canary", "not UTF-8"),
        (b"\x00\x01\x02", "no JSON"),
        (b'"canary"', "no object"),
        (b"[]", "no object"),
        (row(text="gone"), "no text"),
        (row(text=None), "no text"),
        (row(text=["canary"]), "no text"),
        (row(text="canary\0"), "NUL"),
        (row(text="canary \ud800"), "surrogate"),
        (row(text="canary " * 11), "more than 10 words"),
        (row(audio_ms="gone"), "no audio_ms"),
        (row(load_ms=None), "no load_ms"),
        (row(transcribe_ms="12"), "transcribe_ms"),
        (row(transcribe_ms=True), "transcribe_ms"),
        (row(transcribe_ms=-1), "negative"),
        (row(audio_ms=-0.001), "negative"),
        (row(load_ms=float("nan")), "not finite"),
        (row(load_ms=float("inf")), "not finite"),
        (row(load_ms=10**400), "too large"),
        (row()[:-1].replace(b"20.5", b"1e999") + b"}", "not finite"),
        (row()[:-1] + b', "text": "canary"}', "twice"),
        (row()[:-1] + b', "load_ms": ' + b"9" * 5000 + b"}", "no JSON"),
    ],
)
def test_anything_else_is_invalid_output_and_is_not_quoted(stdout: bytes, complaint: str) -> None:
    with pytest.raises(ItemFailedError, match=complaint) as raised:
        parse_row(stdout, 10)
    assert raised.value.kind is FailureKind.INVALID_OUTPUT
    assert "canary" not in str(raised.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_no_output_is_anything_but_a_row_or_a_typed_failure(stdout: bytes) -> None:
    for parse in (parse_row, parse_text):
        with contextlib.suppress(ItemFailedError):
            assert isinstance(parse(stdout, 2000), ClipOutput)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=100))
def test_every_text_comes_back_in_either_form(text: str) -> None:
    assert parse_row(json.dumps({**GOOD, "text": text}).encode(), 2000).text == text.strip()
    if not text.startswith("\ufeff"):
        assert parse_text(text.encode(), 2000) == ClipOutput(text.strip())
