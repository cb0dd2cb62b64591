"""The judge: what counts as a reply, what is kept of it, what is asked about."""

import json
import unicodedata
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.config import JudgeQuestion
from misheard.failures import Failure, FailureKind
from misheard.language_models.protocol import Completion
from misheard.metrics.base import Arm, ArmOutput, Correction, Judgement
from misheard.stages.judge import (
    JUDGE_NEEDS,
    JUDGE_SCHEMA,
    InvalidReply,
    Judge,
    JudgedTexts,
    judge_sampling,
    judged_texts,
    judgement,
    kept_reply,
    read_kept,
    read_reply,
)
from misheard.stages.prompted import completion_row
from misheard.stages.prompts import load_prompt
from misheard.suite.items import Item, ItemKind

LANGUAGES = {"en", "hi", "ta", "ml", "te", "ar", "zh"}


def judge(question: JudgeQuestion = "meaning", **changes: Any) -> Judge:
    prompt = load_prompt(f"judge-{question}-v1", f"judge.{question}_prompt", JUDGE_NEEDS[question])
    settings = {"sampling": judge_sampling(64, 0), "engine": {"model": "m"}, **changes}
    return Judge(question, prompt, **settings)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"rationale": "same", "score": 83}', 83),
        ('\n {"score": 0, "rationale": ""} ', 0),
        ('{"rationale": "x", "score": 100}', 100),
        ('{"rationale": "x", "score": 101}', InvalidReply.OUT_OF_RANGE),
        ('{"rationale": "x", "score": -1}', InvalidReply.OUT_OF_RANGE),
        ('{"rationale": "x", "score": true}', InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": "x", "score": 80.0}', InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": "x", "score": "80"}', InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": "x", "score": null}', InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": 7, "score": 80}', InvalidReply.NOT_THE_SCHEMA),
        ('{"score": 80}', InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": "x", "score": 80, "sure": true}', InvalidReply.NOT_THE_SCHEMA),
        ("[80]", InvalidReply.NOT_THE_SCHEMA),
        ("80", InvalidReply.NOT_THE_SCHEMA),
        ('{"rationale": "x", "score": 80, "score": 90}', InvalidReply.NOT_JSON),
        ('```json\n{"rationale": "x", "score": 80}\n```', InvalidReply.NOT_JSON),
        ('Score: {"rationale": "x", "score": 80}', InvalidReply.NOT_JSON),
        ('{"rationale": "x", "score": NaN}', InvalidReply.NOT_JSON),
        ("The score is 80.", InvalidReply.NOT_JSON),
        ("[" * 100_000, InvalidReply.NOT_JSON),
        ('{"rationale": "x", "score": ' + "9" * 5000 + "}", InvalidReply.NOT_JSON),
        ("", InvalidReply.NOT_JSON),
    ],
)
def test_a_reply_counts_only_where_it_is_valid_under_the_schema(text: str, read: int | InvalidReply) -> None:
    assert read_reply(text, None, "stop") == read
    assert isinstance(read_reply(text, None, "stop"), InvalidReply) == isinstance(read, InvalidReply)


def test_a_reply_that_the_limit_cut_and_a_request_that_failed_are_told_apart() -> None:
    assert read_reply('{"rationale": "endl', None, "length") is InvalidReply.CUT
    assert read_reply('{"rationale": "x", "score": 9}', None, "length") == 9
    assert read_reply(None, FailureKind.TIMEOUT, None) is InvalidReply.FAILED
    assert read_reply('{"rationale": "x", "score": 9}', FailureKind.LLM_ERROR, "stop") is InvalidReply.FAILED


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
       lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["score", "rationale", "x"]), inner)
       ).map(json.dumps))  # fmt: skip
def test_what_is_read_as_a_score_is_valid_under_the_schema(text: str) -> None:
    read = read_reply(text, None, "stop")
    if not isinstance(read, InvalidReply):
        value = json.loads(text)
        value["rationale"] = value["rationale"][:200]
        jsonschema.validate(value, json.loads(JUDGE_SCHEMA))
        assert read == value["score"]


@pytest.mark.parametrize("text", ['{"rationale": "canary", "score": 83}', "canary 83", '{"canary": 1}'])
def test_nothing_of_a_reply_is_kept_but_its_score(text: str) -> None:
    row = completion_row(kept_reply(Completion("k", text, finish_reason="stop")))
    assert "canary" not in json.dumps(row)
    assert read_kept(row) == read_reply(text, None, "stop")


def test_a_failed_request_keeps_its_failure() -> None:
    row = completion_row(kept_reply(Completion("k", None, FailureKind.TIMEOUT, "after 3 s")))
    assert (row["failure"], row["text"]) == ("timeout", None)
    assert read_kept(row) is InvalidReply.FAILED


@pytest.mark.parametrize(
    "text", [None, "", "{}", "[]", '{"score": true}', '{"score": 101}', '{"invalid": "?"}']
)
def test_a_journal_that_was_edited_gives_no_score(text: str | None) -> None:
    assert isinstance(read_kept({"failure": None, "text": text}), InvalidReply)


@pytest.mark.parametrize(
    ("plain", "second", "expected"),
    [
        (80, None, Judgement(80.0)),
        (80, 81, Judgement(80.5, change=1.0, flipped=False)),
        (50, 49, Judgement(49.5, change=1.0, flipped=True)),
        (50, 100, Judgement(75.0, change=50.0, flipped=False)),
        (InvalidReply.CUT, 80, Judgement(None, invalid=1)),
        (80, InvalidReply.NOT_JSON, Judgement(None, invalid=1)),
        (InvalidReply.CUT, InvalidReply.FAILED, Judgement(None, invalid=2)),
    ],
)
def test_two_replies_make_one_judgement(plain: Any, second: Any, expected: Judgement) -> None:
    assert judgement(plain, second, 50) == expected


def test_swapped_texts_change_places_and_repeated_ones_are_asked_again() -> None:
    texts = JudgedTexts("first text", "second text")
    swapped, repeated = judge().requests(texts, "en"), judge(second="repeated").requests(texts, "en")
    assert swapped["plain"].messages[-1].content == "A: first text\nB: second text"
    assert swapped["swapped"].messages[-1].content == "A: second text\nB: first text"
    assert repeated["repeated"].messages == repeated["plain"].messages
    assert repeated["repeated"].key != repeated["plain"].key
    assert list(judge(second="none").requests(texts, "en")) == ["plain"]


def test_every_part_of_the_judge_is_in_its_fingerprint_and_keys() -> None:
    texts = JudgedTexts("a", "b")
    others = [
        judge("answer"),
        judge(engine={"model": "n"}),
        judge(sampling=judge_sampling(65, 0)),
        judge(sampling=judge_sampling(64, 1)),
        judge(second="none"),
    ]
    assert len({json.dumps(one.fingerprint()) for one in (judge(), *others)}) == 6
    assert len({one.requests(texts, "en")["plain"].key for one in (judge(), *others)}) == 6
    assert judge(threshold=70).fingerprint() == judge().fingerprint()


@pytest.mark.parametrize("question", get_args(JudgeQuestion))
def test_the_shipped_prompts_have_valid_examples_in_every_language(question: JudgeQuestion) -> None:
    prompt = judge(question).prompt
    assert set(prompt.examples) == LANGUAGES
    for examples in prompt.examples.values():
        assert 2 <= len(examples) <= 3
        scores = [read_reply(example.reply, None, "stop") for example in examples]
        assert not any(isinstance(score, InvalidReply) for score in scores)
        assert max(scores) == 100 and min(scores) < 50
        for example in examples:
            jsonschema.validate(json.loads(example.reply), json.loads(JUDGE_SCHEMA))
            assert all(unicodedata.is_normalized("NFC", text) for text in example.values.values())


def item(**changes: Any) -> Item:
    return Item("q1", "a.wav", "what is it", reference_answer="It is so.", language="en", **changes)


@pytest.mark.parametrize(
    ("output", "arm", "expected"),
    [
        (ArmOutput("what's it", "so"), Arm.AUDIO, {"meaning": "what's it", "answer": "so"}),
        (
            ArmOutput("wat", "so", correction=Correction("what")),
            Arm.AUDIO,
            {"meaning": "what", "answer": "so"},
        ),
        (ArmOutput("what is it", "so"), Arm.TRANSCRIPT, {"answer": "so"}),
        (ArmOutput("what", " "), Arm.AUDIO, {"meaning": "what"}),
        (ArmOutput(None, None, Failure("recognize", FailureKind.ASR_ERROR, "")), Arm.AUDIO, {}),
        (ArmOutput(" ", None), Arm.AUDIO, {}),
    ],
)
def test_what_is_asked_about(output: ArmOutput, arm: Arm, expected: dict[str, str]) -> None:
    found = judged_texts(item(), arm, output, ("meaning", "answer"))
    assert {question: texts.candidate for question, texts in found.items()} == expected


def test_no_question_is_asked_that_was_not_chosen_or_has_no_truth() -> None:
    output = ArmOutput("x", "y")
    assert set(judged_texts(item(), Arm.AUDIO, output, ("answer",))) == {"answer"}
    silent = Item("n", "a.wav", "", ItemKind.NON_SPEECH)
    assert not judged_texts(silent, Arm.AUDIO, output, ("meaning", "answer"))


@pytest.mark.parametrize(
    ("candidate", "identical"),
    [("caf\u0065\u0301  now", True), (" café now ", True), ("Café now", False), ("café now.", False)],
)
def test_texts_are_identical_up_to_unicode_form_and_white_space(candidate: str, identical: bool) -> None:
    assert JudgedTexts("café now", candidate).identical is identical
