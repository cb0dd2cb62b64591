"""Prompts: placeholders, few-shot examples per language, hostile files, and the prompts that ship."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.language_models.protocol import Message
from misheard.stages.prompts import Example, PromptTemplate, load_prompt
from misheard.text.scripts import script_of

TAMIL = Example({"transcript": "வறும்"}, "வரும்")
PROMPT = PromptTemplate(
    "p",
    "Kinds: {kinds}. Like {unknown} and {'JSON'}.",
    "{transcript}|{hypotheses}",
    {"ta": (TAMIL,), "zh": (Example({"transcript": "几", "hypotheses": "鸡"}, "鸡"),)},
)
VALUES = {"transcript": "hello", "hypotheses": "hullo", "kinds": "box, circle"}

PromptFile = Callable[[str | dict[str, Any]], Path]


@pytest.fixture
def prompt_file(tmp_path: Path) -> PromptFile:
    def write(content: str | dict[str, Any]) -> Path:
        path = tmp_path / "mine.yaml"
        text = content if isinstance(content, str) else yaml.safe_dump(content, allow_unicode=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_values_go_into_system_and_user_and_what_has_none_stays() -> None:
    assert PROMPT.messages(VALUES, "en") == (
        Message("system", "Kinds: box, circle. Like {unknown} and {'JSON'}."),
        Message("user", "hello|hullo"),
    )


def test_examples_are_turns_before_the_real_one_and_take_no_value_from_it() -> None:
    turns = PROMPT.messages(VALUES, "ta")
    assert [(m.role, m.content) for m in turns[1:]] == [
        ("user", "வறும்|"),
        ("assistant", "வரும்"),
        ("user", "hello|hullo"),
    ]


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("ta", "வரும்"), ("ta-IN", "வரும்"), ("ta_LK", "வரும்"), ("TA", "வரும்"), ("tam", "வரும்"),
        ("zh", "鸡"), ("zh-Hans-CN", "鸡"), ("cmn-Hans", "鸡"),
        ("en", None), ("en-IN", None), ("te", None), ("t", None), ("", None), (None, None), ("-", None),
    ],
)  # fmt: skip
def test_a_language_takes_its_own_examples_and_never_another_ones(
    language: str | None, reply: str | None
) -> None:
    said = [m.content for m in PROMPT.messages(VALUES, language) if m.role == "assistant"]
    assert said == ([] if reply is None else [reply])


@given(st.text(alphabet=st.sampled_from("{}ktransciphyode \\1$%é\ud800")), st.text(max_size=8))
def test_values_are_put_in_as_they_are(transcript: str, kinds: str) -> None:
    prompt = PromptTemplate("p", None, "<{transcript}|{kinds}|{transcript}>")
    [message] = prompt.messages({"transcript": transcript, "kinds": kinds})
    assert message.content == f"<{transcript}|{kinds}|{transcript}>"


@pytest.mark.parametrize("transcript", ["{kinds}", "{transcript}", "{{kinds}}", r"\g<0>\1", "{unknown}"])
def test_a_value_is_never_taken_for_a_placeholder(transcript: str) -> None:
    values = {**VALUES, "transcript": transcript}
    assert PROMPT.messages(values)[-1].content == f"{transcript}|hullo"


def test_the_fingerprint_covers_examples_and_is_the_old_one_without_them() -> None:
    bare = PromptTemplate("p", "s", "{transcript}")
    assert bare.fingerprint() == {"name": "p", "sha256": sha256_json(["s", "{transcript}"])}
    others = [
        PromptTemplate("p", "s", "{transcript}", {"ta": (TAMIL,)}),
        PromptTemplate("p", "s", "{transcript}", {"te": (TAMIL,)}),
        PromptTemplate("p", "s", "{transcript}", {"ta": (TAMIL, TAMIL)}),
        PromptTemplate("p", "s", "{transcript}", {"ta": (Example(TAMIL.values, "வறும்"),)}),
        PromptTemplate("p", "s", "{transcript}", {"ta": (Example({"transcript": "வ"}, TAMIL.reply),)}),
    ]
    assert len({bare.fingerprint()["sha256"], *(p.fingerprint()["sha256"] for p in others)}) == 6


def test_the_order_of_keys_in_a_file_is_not_part_of_the_fingerprint(prompt_file: PromptFile) -> None:
    user = "user: '{transcript} {hypotheses}'\n"
    first = "examples: {ta: [{transcript: a, hypotheses: b, reply: c}], hi: [{transcript: d, reply: e}]}\n"
    second = "examples: {hi: [{reply: e, transcript: d}], ta: [{reply: c, hypotheses: b, transcript: a}]}\n"
    a = load_prompt(str(prompt_file(user + first))).fingerprint()
    assert a == load_prompt(str(prompt_file(second + user))).fingerprint()


def test_a_file_is_read_with_its_examples(prompt_file: PromptFile) -> None:
    content = {
        "system": "Kinds: {kinds}",
        "user": "{transcript}|{hypotheses}",
        "examples": {"ml": [{"transcript": "ചോര്", "reply": "ചോറ്"}, {"transcript": "", "reply": "-"}]},
    }
    prompt = load_prompt(str(prompt_file(content)), "plan.prompt", ("transcript", "kinds"))
    assert (prompt.name, prompt.system, prompt.user) == (
        "mine",
        "Kinds: {kinds}",
        "{transcript}|{hypotheses}",
    )
    assert prompt.examples == {
        "ml": (Example({"transcript": "ചോര്"}, "ചോറ്"), Example({"transcript": ""}, "-"))
    }


def test_a_byte_order_mark_is_no_part_of_a_prompt(tmp_path: Path) -> None:
    path = tmp_path / "bom.yml"
    path.write_bytes(b"\xef\xbb\xbfuser: '{transcript}'")
    assert load_prompt(str(path)).user == "{transcript}"


USER = "user: '{transcript} {hypotheses}'\n"
BOMB = "a: &a [x]\n" + USER


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "mapping of user"),
        ("[]", "mapping of user"),
        ("user: '{transcript}'\nshots: {}", "mapping of user"),
        ("1: x\nuser: '{transcript}'", "mapping of user"),
        ("system: x", "user must be a text"),
        ("user: 3", "user must be a text"),
        ("user: '{kinds}'", r"contains \{transcript\}"),
        ("user: '{Transcript}'", r"contains \{transcript\}"),
        ("user: hello\nsystem: '{transcript}'", r"contains \{transcript\}"),
        (USER + "system: [a]", "system must be a text"),
        (USER + "examples: [a]", "mapping from a language"),
        (USER + "examples: {en: {}}", "examples.en must be a list of 1 to 32"),
        (USER + "examples: {en: []}", "examples.en must be a list of 1 to 32"),
        (USER + "examples: {en: x}", "examples.en must be a list of 1 to 32"),
        (USER + "examples: {en: [" + "{transcript: a, reply: b}, " * 33 + "]}", "list of 1 to 32"),
        (USER + "examples: {no: [{transcript: a, reply: b}]}", "put it into quotes"),
        (USER + "examples: {1: [{transcript: a, reply: b}]}", "put it into quotes"),
        (USER + "examples: {en-GB: [{transcript: a, reply: b}]}", "'en-GB' under examples is no language"),
        (USER + "examples: {cmn: [{transcript: a, reply: b}]}", "'cmn' under examples is no language"),
        (USER + "examples: {Tamil: [{transcript: a, reply: b}]}", "'Tamil' under examples is no language"),
        (USER + "examples: {en: [x]}", r"examples.en\[0\] must be a mapping of texts"),
        (USER + "examples: {en: [{transcript: 12, reply: b}]}", "must be a mapping of texts"),
        (USER + "examples: {en: [{transcript: a, reply: yes}]}", "put numbers and yes or no into quotes"),
        (USER + "examples: {en: [{transcript: a, reply: null}]}", "must be a mapping of texts"),
        (USER + "examples: {en: [{transcript: a}]}", r"examples.en\[0\]: reply is missing"),
        (USER + "examples: {en: [{transcript: a, reply: ''}]}", r"examples.en\[0\]: reply is missing"),
        (USER + "examples: {en: [{reply: a}]}", "transcript is missing"),
        (USER + "examples: {en: [{transcript: a, reply: b}, {hypotheses: a, reply: b}]}", r"en\[1\]: tra"),
        (USER + "examples: {en: [{transcript: a, kinds: b, reply: c}]}", "'kinds' is no placeholder of user"),
        (USER + "examples: {en: [{transcript: a, 1: b, reply: c}]}", "'1' is no placeholder of user"),
        (USER + "examples: {en: [{transcript: a, reply: b}], en: []}", "appears twice"),
        (USER + USER, "appears twice"),
        (BOMB, "anchors and aliases are not allowed"),
        ("user: !!python/name:os.system '{transcript}'", "tags are not allowed"),
        ("user: " + "[" * 100, "nested too deeply"),
        ("user: \x01", "not valid YAML"),
        (USER + "---\n" + USER, "not valid YAML"),
        (USER + "# " + "x" * 262_144, "larger than 262144 bytes"),
    ],
)  # fmt: skip
def test_what_is_no_prompt_is_refused_by_option_and_file(
    prompt_file: PromptFile, content: str, says: str
) -> None:
    path = prompt_file(content)
    with pytest.raises(InputError, match=says) as refused:
        load_prompt(str(path), "correct.prompt")
    assert str(refused.value).startswith(f"correct.prompt: {path}")


def test_every_placeholder_that_is_needed_must_be_there(prompt_file: PromptFile) -> None:
    path = prompt_file("user: '{first}'")
    with pytest.raises(InputError, match=r"judge\.meaning_prompt: .*contains \{second\}$"):
        load_prompt(str(path), "judge.meaning_prompt", ("first", "second"))


@pytest.mark.parametrize("content", [b"user: '\xff{transcript}'", b"\xff\xfeu\x00"])
def test_what_is_not_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"respond\.prompt: .* not UTF-8"):
        load_prompt(str(path))


@pytest.mark.parametrize(
    "name", ["gone.yaml", "", "x" * 5000 + ".yaml", "a\0b.yaml", "../prompts/respond-v1"]
)
def test_a_prompt_that_is_not_there_is_an_input_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"^plan\.prompt: (.*does not exist|no prompt is called)"):
        load_prompt(name if not name.endswith("yaml") else str(tmp_path / name), "plan.prompt")


def test_a_folder_is_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").mkdir()
    with pytest.raises(InputError, match="does not exist"):
        load_prompt(str(tmp_path / "p.yaml"))


def test_an_unknown_name_gets_the_names_of_its_own_stage() -> None:
    with pytest.raises(InputError, match=r"correct-v1 or a \.yaml file") as refused:
        load_prompt("correct-v9", "correct.prompt")
    assert "respond-v1" not in str(refused.value)


SHIPPED = {
    "respond-v1": ("respond.prompt", ("transcript",)),
    "correct-v1": ("correct.prompt", ("transcript",)),
    "plan-v1": ("plan.prompt", ("transcript", "kinds")),
    "judge-meaning-v1": ("judge.meaning_prompt", ("first", "second")),
    "judge-answer-v1": ("judge.answer_prompt", ("asked", "first", "second")),
}
WRITTEN_IN = {
    "en": "Latn",
    "hi": "Deva",
    "ta": "Taml",
    "ml": "Mlym",
    "te": "Telu",
    "ar": "Arab",
    "zh": "Hani",
}


def shipped(name: str) -> PromptTemplate:
    return load_prompt(name, *SHIPPED[name])


@pytest.mark.parametrize("name", ["correct-v1", "plan-v1"])
def test_examples_ship_in_seven_languages_in_their_scripts_and_composed(name: str) -> None:
    prompt = shipped(name)
    assert set(prompt.examples) == set(WRITTEN_IN)
    for code, examples in prompt.examples.items():
        assert len(examples) >= 2
        for example in examples:
            for text in (*example.values.values(), example.reply):
                assert text == unicodedata.normalize("NFC", text)
            scripts = {script_of(char) for char in example.values["transcript"]}
            assert WRITTEN_IN[code] in scripts
            assert scripts <= {WRITTEN_IN[code], "Latn", "Zyyy", "Zinh"}, (code, example)


def test_the_corrector_is_told_of_hypotheses_and_glossary_where_there_are_some() -> None:
    values = {"transcript": "T", "hypotheses": "H\nI", "glossary": "G, K"}
    system, user = shipped("correct-v1").messages(values)
    assert system.content.endswith(": G, K") and user.content.endswith(":\nH\nI")
    system, user = shipped("correct-v1").messages({**values, "hypotheses": "", "glossary": ""})
    assert system.content.endswith("if any are listed: ") and user.content.endswith("if any:\n")


def test_the_examples_of_the_corrector_are_replies_as_it_must_give_them() -> None:
    for code, examples in shipped("correct-v1").examples.items():
        pairs = [(e.values["transcript"], json.loads(e.reply)) for e in examples]
        assert all(list(reply) == ["transcript"] for _, reply in pairs)
        changed = [raw != reply["transcript"] for raw, reply in pairs]
        assert any(changed) and not all(changed), code
        # A correction changes words, and neither their number nor any digit.
        for raw, reply in pairs:
            assert len(raw.split()) == len(reply["transcript"].split())
            assert [c for c in raw if c.isdigit()] == [c for c in reply["transcript"] if c.isdigit()]


def test_the_examples_of_the_planner_are_plans_with_labels_that_were_said() -> None:
    for examples in shipped("plan-v1").examples.values():
        assert any("\n" in e.values["transcript"] for e in examples), "one of a session"
        for example in examples:
            plan = json.loads(example.reply)
            assert list(plan) == ["shapes", "connections"]
            ids = [shape["id"] for shape in plan["shapes"]]
            assert len(set(ids)) == len(ids)
            for shape in plan["shapes"]:
                assert (
                    list(shape) == ["id", "kind", "label"] and shape["label"] in example.values["transcript"]
                )
                assert shape["kind"] in {"box", "circle", "diamond", "note"}
            for line in plan["connections"]:
                assert list(line) == ["from", "to", "label"] and {line["from"], line["to"]} <= set(ids)
                assert line["label"] in example.values["transcript"]


@pytest.mark.parametrize("name", ["correct-v1", "plan-v1"])
@pytest.mark.parametrize("suite", ["demo", "whiteboard"])
def test_no_example_is_an_item_of_a_demo_suite(suite: str, name: str) -> None:
    lines = (Path(__file__).parents[2] / "configs" / suite / "items.jsonl").read_text("utf-8").splitlines()
    references = {json.loads(line)["reference"].casefold().strip(" ?.।؟。") for line in lines} - {""}
    for examples in shipped(name).examples.values():
        for example in examples:
            said = {part.casefold().strip(" ?.।؟。") for part in example.values.values()}
            assert not said & references
