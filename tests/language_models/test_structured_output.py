"""Replies that are held to a JSON schema: what servers are sent, and what the embedded model may decode."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from chat_server import ChatServer, Handler, answers, serving, status
from held_replies import REAL, SPOKEN, is_valid
from hypothesis import given
from hypothesis import strategies as st

from misheard.canonical import canonical_json
from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.answers import grade_text
from misheard.language_models.embedded import EmbeddedModel
from misheard.language_models.fake import FakeModel
from misheard.language_models.openai_api import OpenAiModel
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Message, Sampling
from misheard.language_models.reply_schema import reply_schema
from misheard.language_models.settings import ApiSettings, EmbeddedSettings, FakeSettings

PLAN = {
    "type": "object",
    "properties": {
        "shapes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"kind": {"enum": ["box", "circle"]}, "a_label": {"type": "string"}},
                "required": ["kind", "a_label"],
                "additionalProperties": False,
            },
        },
        "connections": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["shapes", "connections"],
    "additionalProperties": False,
}
SCHEMA = canonical_json(PLAN)
HELD = Sampling(max_tokens=16, json_schema=SCHEMA)
PROMPT = "CANARY prompt"


def requests(*contents: str) -> list[ChatRequest]:
    return [ChatRequest(str(n), (Message("user", content),)) for n, content in enumerate(contents)]


def ask(model: LanguageModel, *contents: str, sampling: Sampling) -> list[Completion]:
    completions = list(model.complete(requests(*contents), sampling))
    return sorted(completions, key=lambda completion: int(completion.key))


# --- the schema as decoders take it


def test_properties_stand_in_the_order_in_which_they_are_required() -> None:
    schema = reply_schema(SCHEMA)
    assert schema == PLAN
    assert list(schema["properties"]) == ["shapes", "connections"]
    assert list(schema["properties"]["shapes"]["items"]["properties"]) == ["kind", "a_label"]


def test_names_that_are_also_keywords_and_optional_properties_stay() -> None:
    odd = {
        "type": "object",
        "properties": {"required": {"type": "string"}, "properties": {"enum": [["b", "a"]]}, "a": {}},
        "required": ["required", "missing"],
    }
    schema = reply_schema(canonical_json(odd))
    assert schema == odd and list(schema["properties"]) == ["required", "a", "properties"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["properties", "required", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "type"]), json_values))
def test_the_order_of_a_schema_is_all_that_changes(schema: dict[str, Any]) -> None:
    assert reply_schema(canonical_json(schema)) == schema


# --- servers


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misheard.language_models.retries.BASE_SECONDS", 0.001)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving() as chat:
        yield chat


@contextlib.contextmanager
def started(server: ChatServer, **options: Any) -> Iterator[OpenAiModel]:
    settings = {"timeout_seconds": 5.0, "max_attempts": 2, "concurrency": 1, **options}
    with contextlib.closing(OpenAiModel(ApiSettings(base_url=server.url, model="m", **settings))) as model:
        model.start()
        server.bodies.clear()
        yield model


def refusing(code: int) -> Callable[[Handler], None]:
    """Refuse `response_format` with a status, and answer everything else."""

    def behave(handler: Handler) -> None:
        held = "response_format" in handler.chat.bodies[-1]
        (status(code, f"response_format is unsupported: {PROMPT}") if held else answers("yes"))(handler)

    return behave


def test_a_schema_is_sent_as_response_format(server: ChatServer) -> None:
    with started(server) as model:
        ask(model, PROMPT, sampling=HELD)
    [body] = server.bodies
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": PLAN},
    }
    sent = body["response_format"]["json_schema"]["schema"]
    assert list(sent["properties"]) == ["shapes", "connections"]


def test_nothing_is_sent_without_a_schema_or_where_it_is_turned_off(server: ChatServer) -> None:
    with started(server) as model:
        ask(model, PROMPT, sampling=Sampling(max_tokens=16))
    with started(server, structured_output=False) as model:
        assert [c.text for c in ask(model, PROMPT, sampling=HELD)] == ["yes"]
        assert model.fingerprint()["structured_output"] is False
    with started(server) as model:
        assert "structured_output" not in model.fingerprint()
    assert not any("response_format" in body for body in server.bodies)


@pytest.mark.parametrize("code", [400, 422, 500, 501])
def test_a_server_that_refuses_schemas_is_named_with_the_option(server: ChatServer, code: int) -> None:
    with started(server) as model:
        server.default = refusing(code)
        with pytest.raises(
            BackendError, match=rf"refuses .*JSON schema.*{code}.*structured_output: false"
        ) as e:
            ask(model, PROMPT, PROMPT, sampling=HELD)
        assert "CANARY" not in str(e.value)
        assert [c.text for c in ask(model, PROMPT, sampling=Sampling(max_tokens=4))] == ["yes"]
    with started(server, structured_output=False) as model:
        assert [c.text for c in ask(model, PROMPT, sampling=HELD)] == ["yes"]


def test_a_refusal_is_found_while_warming_up(server: ChatServer) -> None:
    with started(server) as model:
        server.default = refusing(400)
        with pytest.raises(BackendError, match="structured_output"):
            model.warm_up(HELD)


def test_a_prompt_that_fails_alone_is_a_failure_of_its_own(server: ChatServer) -> None:
    """The server takes schemas; what it refused is this one request."""
    with started(server) as model:
        server.script = [status(400)]
        first, second = ask(model, PROMPT, PROMPT, sampling=HELD)
    assert (first.failure, second.text) == (FailureKind.LLM_ERROR, "yes")


def test_a_server_that_fails_at_everything_is_not_said_to_refuse_schemas(server: ChatServer) -> None:
    with started(server) as model:
        server.default = status(400)
        [completion] = ask(model, PROMPT, sampling=HELD)
    assert completion.failure == FailureKind.LLM_ERROR and "400" in completion.detail


def test_a_server_that_once_took_the_schema_is_not_asked_again(server: ChatServer) -> None:
    with started(server) as model:
        server.script = [answers("{}"), status(400), status(422)]
        ask(model, PROMPT, PROMPT, PROMPT, sampling=HELD)
    assert len(server.bodies) == 3


def test_a_busy_server_is_not_said_to_refuse_schemas(server: ChatServer) -> None:
    with started(server, max_attempts=1) as model:
        server.script = [status(503), status(429)]
        [completion] = ask(model, PROMPT, sampling=HELD)
    assert completion.failure == FailureKind.LLM_ERROR


@pytest.mark.parametrize("value", ["yes please", 2, None])
def test_the_option_is_a_truth_value(value: object) -> None:
    with pytest.raises(ValueError, match="structured_output"):
        ApiSettings.model_validate(
            {"base_url": "http://127.0.0.1/v1", "model": "m", "structured_output": value}
        )


# --- what is kept of a reply that should be JSON


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ('{"transcript": "a <think> b"}', '{"transcript": "a <think> b"}'),
        ('{"transcript": "a </think> b"}', '{"transcript": "a </think> b"}'),
        ('{"transcript": "<think>a</think>b"}', '{"transcript": "<think>a</think>b"}'),
        ('{"transcript": "cut <think>', '{"transcript": "cut <think>'),
        ('\n {"a": "[THINK]"} ', '{"a": "[THINK]"}'),
        ('<think>hm</think>{"a": "<think>"}', '{"a": "<think>"}'),
        ('<think>or {"a": 1}?</think>\n{"a": "</think>"}', '{"a": "</think>"}'),
        ('so </think> {"a": 1}', '{"a": 1}'),
        ('[THINK]x[/THINK]{"a": "[THINK]"}', '{"a": "[THINK]"}'),
        ('<think>a</think>b</think>{"a": 1}', '{"a": 1}'),
        ('```json\n{"a": "<think>"}\n```', '```json\n{"a": "<think>"}\n```'),
        ('<think>x</think>```json\n{"a": "<think>"}\n```', '```json\n{"a": "<think>"}\n```'),
        ("<think>x</think>no JSON", "no JSON"),
        ("no JSON", "no JSON"),
    ],
)
def test_an_object_is_kept_whole_and_thinking_before_it_is_not(raw: str, kept: str) -> None:
    answer = grade_text(raw, "stop", as_json=True)
    assert (answer.text, answer.failure) == (kept, None)


@pytest.mark.parametrize("raw", ['<think>{"a": 1}', "<think>", "", " ", '[THINK]{"a": 1}'])
def test_thinking_that_never_ends_is_no_reply(raw: str) -> None:
    assert grade_text(raw, "length", as_json=True).failure == FailureKind.INVALID_OUTPUT


@given(st.text(alphabet='<>/think[]THINK {}"`', max_size=30))
def test_any_object_survives_behind_any_closed_thinking(inside: str) -> None:
    reply = json.dumps({"a": inside})
    assert grade_text(reply, "stop", as_json=True).text == reply
    assert grade_text(f"<think>hm</think>{reply}", "stop", as_json=True).text == reply


def test_a_fake_model_replies_what_it_is_told_whatever_the_schema() -> None:
    replies = {"a": '{"shapes": "<think>"', "b": "none of it"}
    model = FakeModel(FakeSettings(answers=replies))
    assert [c.text for c in ask(model, "a", "b", sampling=HELD)] == list(replies.values())


# --- the embedded model

WORDS = ["no", "now", "north", "yes", "yesterday", "ü"]
CHOICE = {
    "type": "object",
    "properties": {"say": {"enum": WORDS}, "b": {"type": "boolean"}},
    "required": ["say", "b"],
    "additionalProperties": False,
}
CHOSEN = Sampling(max_tokens=64, json_schema=canonical_json(CHOICE))
QUESTIONS = ["w", "hello there", "a", "zzz zz z", "(1)", "what?", "north", "yes or no"]
STOP, UNKNOWN = "<end>", "<unk>"
END = 256


@pytest.fixture(scope="module")
def by_bytes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama whose tokens are bytes and an end token, with more logits than tokens."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("bytes")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=STOP, pad_token=STOP)
    fast.chat_template = "{% for m in messages %}{{ m['content'] }}:{% endfor %}"
    fast.save_pretrained(folder)
    assert fast.eos_token_id == END
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.6, bos_token_id=None,
        eos_token_id=END, pad_token_id=END,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def model(by_bytes: Path) -> Iterator[EmbeddedModel]:
    with contextlib.closing(EmbeddedModel(EmbeddedSettings(model=str(by_bytes)), cpu=True)) as loaded:
        loaded.start()
        yield loaded


def spelled_out(model: EmbeddedModel, question: str, texts: list[str]) -> str:
    """Return the valid text that greedy choice ends at: each time the best next byte that some text has."""
    import torch

    loaded = model._started()
    prompt = loaded.tokenizer(f"{question}:")["input_ids"]
    spellings = [loaded.tokenizer(text)["input_ids"] for text in texts]
    chosen: list[int] = []
    while chosen not in spellings:
        fitting = {s[len(chosen)] for s in spellings if s[: len(chosen)] == chosen}
        with torch.inference_mode():
            logits = loaded.model(input_ids=torch.tensor([prompt + chosen])).logits[0, -1]
        chosen.append(max(fitting, key=lambda token: float(logits[token])))
    return texts[spellings.index(chosen)]


def test_the_best_token_that_fits_is_taken_in_batches_that_shrink(model: EmbeddedModel) -> None:
    texts = [json.dumps({"say": say, "b": b}, ensure_ascii=False) for say in WORDS for b in (True, False)]
    completions = ask(model, *QUESTIONS, sampling=CHOSEN)
    assert [c.text for c in completions] == [spelled_out(model, question, texts) for question in QUESTIONS]
    lengths = {c.completion_tokens for c in completions}
    assert len(lengths) > 1, "rows must finish at different steps for this test to mean something"
    for completion in completions:
        assert completion.finish_reason == "stop"
        assert completion.completion_tokens == len((completion.text or "").encode())
    alone = [ask(model, question, sampling=CHOSEN)[0].text for question in QUESTIONS]
    assert [c.text for c in completions] == alone


def test_free_answers_are_the_same_before_and_after(model: EmbeddedModel) -> None:
    free = Sampling(max_tokens=12)
    before = ask(model, *QUESTIONS, sampling=free)
    ask(model, *QUESTIONS, sampling=CHOSEN)
    after = ask(model, *QUESTIONS, sampling=free)
    assert [c.text for c in before] == [c.text for c in after]


def test_a_reply_at_the_limit_of_tokens_is_cut(model: EmbeddedModel) -> None:
    short = Sampling(max_tokens=9, json_schema=CHOSEN.json_schema)
    [completion] = ask(model, "w", sampling=short)
    assert (completion.text, completion.finish_reason) == ('{"say": "', "length")
    assert completion.completion_tokens == 9


def test_every_schema_has_its_own_grammar(model: EmbeddedModel) -> None:
    digit = canonical_json(
        {
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
            "required": ["n"],
            "additionalProperties": False,
        }
    )
    model.warm_up(CHOSEN)
    for sampling in (Sampling(max_tokens=64, json_schema=digit), CHOSEN):
        [completion] = ask(model, "a", sampling=sampling)
        jsonschema.validate(json.loads(completion.text or ""), json.loads(sampling.json_schema or ""))


@pytest.mark.parametrize(
    "schema", ['{"type":"fnord"}', '{"type":"object","not":{}}', '{"$ref":"http://127.0.0.1/x"}']
)
def test_a_schema_that_cannot_be_compiled_is_a_clear_error(model: EmbeddedModel, schema: str) -> None:
    with pytest.raises(BackendError, match="JSON schema of the replies cannot be compiled"):
        ask(model, "a", sampling=Sampling(max_tokens=4, json_schema=schema))


def test_a_missing_library_says_what_to_install(
    model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(BackendError, match="need llguidance; pip install"):
        ask(model, "a", sampling=CHOSEN)
    assert ask(model, "a", sampling=Sampling(max_tokens=2))


def test_a_tokenizer_of_whole_words_is_a_clear_error(by_bytes: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    transformers = pytest.importorskip("transformers")
    tokenizer = Tokenizer(models.WordLevel({STOP: 0, UNKNOWN: 1, "a": 2}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=STOP, unk_token=UNKNOWN)
    fast.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((by_bytes / name).read_bytes())
    fast.save_pretrained(tmp_path)
    with contextlib.closing(EmbeddedModel(EmbeddedSettings(model=str(tmp_path)), cpu=True)) as model:
        model.start()
        with pytest.raises(BackendError, match="tokenizer cannot be held to a JSON schema"):
            ask(model, "a", sampling=CHOSEN)


def test_llguidance_is_imported_only_where_it_is_needed() -> None:
    code = (
        "import sys, misheard.language_models.embedded, misheard.language_models.openai_api\n"
        "sys.exit(bool({'torch', 'llguidance', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- a real model; a real server is asked in test_vllm_server.py


@pytest.mark.models
@pytest.mark.slow
def test_a_real_model_gives_replies_of_the_schema(models_dir: Path, record_property: Any) -> None:
    settings = EmbeddedSettings(model=str(models_dir / "smollm2-135m-instruct"), batch_size=16, threads=1)
    with contextlib.closing(EmbeddedModel(settings, cpu=True)) as model:
        model.start()
        free = ask(model, *SPOKEN, sampling=Sampling(max_tokens=32))
        held = ask(model, *SPOKEN, sampling=REAL)
    record_property("valid replies without schema", sum(is_valid(c.text) for c in free))
    assert [c.failure for c in held] == [None] * len(SPOKEN)
    assert [is_valid(c.text) for c in held] == [True] * len(SPOKEN)
    assert not all(is_valid(c.text) for c in free)
