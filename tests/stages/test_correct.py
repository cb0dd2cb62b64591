"""The correct stage: what the corrector is told, and which of its replies is a transcript."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import misheard.stages.correct
from misheard.metrics.base import Correction
from misheard.stages.correct import (
    CORRECTION_SCHEMA,
    MAX_GLOSSARY_CHARACTERS,
    MAX_GLOSSARY_TERMS,
    MAX_HYPOTHESES,
    correct_values,
    read_correction,
)

RAW = "what is the capitol of france"
RIGHT = "What is the capital of France?"
REPLIES = [
    json.loads(line) for line in (Path(__file__).parent / "correction_replies.jsonl").read_text().splitlines()
]


def reply(transcript: object, **more: object) -> str:
    return json.dumps({"transcript": transcript, **more}, ensure_ascii=False)


def test_a_correction_takes_the_place_of_the_raw_text() -> None:
    assert read_correction(RAW, reply(f" {RIGHT} "), None, "stop") == Correction(RIGHT)


@pytest.mark.parametrize("opening", ["```json\n", "```\n", "```JSON\n", "  ```json "])
def test_one_code_fence_may_stand_around_the_object(opening: str) -> None:
    found = read_correction(RAW, f"{opening}{reply(RIGHT)}\n```\n", None, None)
    assert (found.problem is None) == ("JSON" not in opening)


@pytest.mark.parametrize(
    "text",
    [
        "",
        RIGHT,
        f'"{RIGHT}"',
        f'["{RIGHT}"]',
        "{}",
        "[]",
        '[["transcript", "x"]]',
        f'{{"transcript": "{RIGHT}", "transcript": "{RIGHT}"}}',
        reply(RIGHT, note="x"),
        reply(None),
        reply(3),
        reply([RIGHT]),
        json.dumps({"Transcript": RIGHT}),
        f"Here it is: {reply(RIGHT)}",
        f"{reply(RIGHT)} {reply(RIGHT)}",
        f"```json\n{reply(RIGHT)}\n```\nDone.",
        f"```json\n{reply(RIGHT)}\n```\n```json\n{reply(RIGHT)}\n```",
        reply(RIGHT)[:-3],
        "{" * 100_000,
        "[" * 100_000,
        '{"transcript": ' + "1" * 10_000 + "}",
        '{"transcript": NaN}',
        reply("x" * 2_000_000),
    ],
)
def test_another_form_than_the_schemas_is_invalid(text: str) -> None:
    assert read_correction(RAW, text, None, "stop") == Correction(RAW, "invalid_output")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        f"{RAW}\n{RAW}",
        "what is the capitol\u2028of france",
        "what is the capitol\x00of france",
        "what is the capitol \ud800of france",
        "?",
        RAW * 3,
        "what",
        "I'm sorry, but I can't help with that.",
        "x" * 100_000,
    ],
)
def test_a_text_that_is_no_transcript_of_the_speech(text: str) -> None:
    assert read_correction(RAW, json.dumps({"transcript": text}), None, "stop") == Correction(
        RAW, "not_a_transcript"
    )


@pytest.mark.parametrize("failure", ["llm_error", "timeout", "prompt_too_long", "invalid_output"])
def test_a_failed_request_leaves_the_raw_text_under_its_own_name(failure: str) -> None:
    assert read_correction(RAW, None, failure, None) == Correction(RAW, failure)


@pytest.mark.parametrize("text", [reply(RIGHT), reply(RIGHT)[:-3], "{"])
def test_a_reply_that_reached_the_limit_of_tokens_is_not_used(text: str) -> None:
    assert read_correction(RAW, text, None, "length") == Correction(RAW, "truncated")


@pytest.mark.parametrize(
    ("raw", "text", "kept"),
    [
        ("", "", True),
        ("", "hello", False),
        ("…", "a", False),
        (" a ", "a", True),
        ("a\nb", "a\nb", True),
        ("won", "one", True),
        ("我想喝latte", "我想喝 coffee", True),
        ("我想喝latte", "I want a latte", False),
        ("എനിക്ക്\u200d വേണം", "എനിക്ക്\u200d വേണം.", True),
    ],
)
def test_short_and_code_switched_texts(raw: str, text: str, kept: bool) -> None:
    assert read_correction(raw, reply(text), None, None) == (
        Correction(text) if kept else Correction(raw, "not_a_transcript")
    )


def test_the_documented_table_is_what_the_rule_does() -> None:
    written = Counter(case["kind"] for case in REPLIES)
    kept = Counter(
        case["kind"]
        for case in REPLIES
        if read_correction(case["raw"], reply(case["reply"]), None, "stop").problem is None
    )
    table = re.findall(r"^\| (\w+)[^|]*\| (\d+) +\| (\d+) +\|$", misheard.stages.correct.__doc__ or "", re.M)
    assert [(kind, int(n), int(of)) for kind, n, of in table] == [
        (kind, kept[kind], written[kind]) for kind in ("correction", "refusal", "translation", "answer")
    ]
    assert f"Of {len(REPLIES)} made-up replies" in (misheard.stages.correct.__doc__ or "")
    assert {case["language"] for case in REPLIES} == {"en", "hi", "ta", "ml", "te", "ar", "zh"}


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=60) | st.text(max_size=30).map(reply))
def test_it_never_raises_and_keeps_the_raw_text_where_there_is_a_problem(raw: str, text: str) -> None:
    found = read_correction(raw, text, None, "stop")
    assert found.problem is None or found.text == raw


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))))
def test_a_text_that_comes_back_as_it_was_is_always_used(raw: str) -> None:
    assert read_correction(raw, reply(raw), None, "stop") == Correction(raw.strip())


def test_the_schema_is_canonical_and_closed() -> None:
    schema = json.loads(CORRECTION_SCHEMA)
    assert schema["required"] == list(schema["properties"]) == ["transcript"]
    assert schema["additionalProperties"] is False


def test_the_values_of_the_prompt() -> None:
    values = correct_values("a {glossary}", ["a  b", "a b", "", "c\nd"], [" New  York ", "New York", "vLLM"])
    assert values == {"transcript": "a {glossary}", "hypotheses": "a b\nc d", "glossary": "New York, vLLM"}
    assert correct_values(" a b", ["a b", "a c"], ())["hypotheses"] == "a c"
    assert correct_values("a", (), ()) == {"transcript": "a", "hypotheses": "", "glossary": ""}


def test_glossary_and_list_are_bounded_by_whole_entries() -> None:
    many = correct_values("a", [str(n) for n in range(99)], [f"t{n}" for n in range(500)])
    assert many["glossary"].split(", ") == [f"t{n}" for n in range(MAX_GLOSSARY_TERMS)]
    assert many["hypotheses"].split("\n") == [str(n) for n in range(MAX_HYPOTHESES)]
    long = correct_values("a", (), ["x" * 1_999, "y" * 1_999, "z"])["glossary"]
    assert long == f"{'x' * 1_999}, {'y' * 1_999}"
    assert len(long) == MAX_GLOSSARY_CHARACTERS
    assert correct_values("a", (), ["x" * 4_001, "z"])["glossary"] == ""
