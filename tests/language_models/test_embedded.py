import json
import logging
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.embedded import EmbeddedModel
from misheard.language_models.greedy import cache_argument
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Message, Sampling
from misheard.language_models.settings import EmbeddedSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEMPLATE = (
    "{% for m in messages %}{% if m['content'] == 'refuse' %}{{ raise_exception('CANARY') }}{% endif %}"
    "<user> {{ m['content'] }} <end> {% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
WORDS = [f"w{n}" for n in range(90)]
PAD, END, UNKNOWN = "<pad>", "<end>", "<unk>"
SPECIAL = [PAD, END, "<user>", "<assistant>", UNKNOWN]
SAMPLING = Sampling(max_tokens=12)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer Llama with random weights and a vocabulary of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("tiny")
    vocabulary = {word: n for n, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token=END, pad_token=PAD, unk_token=UNKNOWN
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.6,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    # What a model's own generation config asks for must not reach the decoding.
    (folder / "generation_config.json").write_text(
        json.dumps({"do_sample": True, "temperature": 9.0, "max_length": 2, "eos_token_id": [1, 50],
                    "repetition_penalty": 3.0, "num_beams": 3})
    )  # fmt: skip
    return folder


@pytest.fixture
def model(tiny: Path) -> Iterator[EmbeddedModel]:
    loaded = EmbeddedModel(EmbeddedSettings(model=str(tiny), batch_size=8), cpu=True)
    loaded.start()
    yield loaded
    loaded.close()


def requests(*contents: str) -> list[ChatRequest]:
    return [ChatRequest(str(n), (Message("user", content),)) for n, content in enumerate(contents)]


QUESTIONS = ["w1", "w2 w3 w4", "w5 w6", "w7 w8 w9 w10 w11 w12", "w13", "w14 w15 w16", "w40 w41", "w70"]


def ask(model: LanguageModel, *contents: str, sampling: Sampling = SAMPLING) -> list[Completion]:
    return list(model.complete(requests(*contents), sampling))


def raw_answers(model: EmbeddedModel, contents: list[str], max_tokens: int) -> list[list[int]]:
    """Return what transformers' own greedy search gives for each prompt alone, ended at an end token."""
    loaded = model._started()
    answers = []
    for content in contents:
        prompt = loaded.tokenizer(f"<user> {content} <end> <assistant>", return_tensors="pt")
        config = transformers.GenerationConfig(
            do_sample=False, num_beams=1, max_new_tokens=max_tokens, eos_token_id=[1, 50], pad_token_id=0,
            repetition_penalty=1.0, temperature=1.0, max_length=None,
        )  # fmt: skip
        inputs = {"input_ids": prompt["input_ids"], "attention_mask": prompt["attention_mask"]}
        output = loaded.model.generate(**inputs, generation_config=config)[0]
        answers.append(output[prompt["input_ids"].shape[1] :].tolist())
    return answers


def test_batches_give_what_greedy_search_gives_alone(model: EmbeddedModel) -> None:
    completions = ask(model, *QUESTIONS)
    expected = raw_answers(model, QUESTIONS, SAMPLING.max_tokens)
    lengths = {len(tokens) for tokens in expected}
    assert len(lengths) > 1, "rows must finish at different steps for this test to mean something"
    for completion, tokens in zip(completions, expected, strict=True):
        ended = tokens[-1] in (1, 50)
        words = [[*SPECIAL, *WORDS][token] for token in tokens if token not in (1, 50)]
        text = " ".join(word for word in words if word not in (END, PAD, UNKNOWN))
        assert completion.completion_tokens == len(tokens)
        assert completion.finish_reason == ("stop" if ended else "length")
        assert (completion.text or "") == text
        assert completion.failure == (None if text else FailureKind.INVALID_OUTPUT)


def test_the_same_batch_gives_the_same_answers_and_the_batch_size_changes_nothing(
    model: EmbeddedModel,
) -> None:
    first, second = ask(model, *QUESTIONS), ask(model, *QUESTIONS)
    assert [c.text for c in first] == [c.text for c in second]
    alone = [ask(model, question)[0].text for question in QUESTIONS]
    assert [c.text for c in first] == alone


def test_a_library_that_calls_the_cache_by_its_newer_name_is_told_that(
    model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [completion.text for completion in ask(model, *QUESTIONS)]
    inner = model._started().model
    forward, name = inner.forward, cache_argument(inner.forward)

    def renamed(cache: Any, **others: Any) -> Any:
        assert "past_key_values" not in others
        return forward(**{name: cache}, **others)

    monkeypatch.setattr(inner, "forward", renamed)
    assert [completion.text for completion in ask(model, *QUESTIONS)] == expected


def test_tokens_and_times_are_counted(model: EmbeddedModel) -> None:
    completions = ask(model, "w1", "w2 w3")
    assert [c.prompt_tokens for c in completions] == [4, 5]
    for completion in completions:
        assert completion.seconds > 0 and (completion.first_token_seconds or 0) > 0


def test_a_prompt_beyond_the_context_is_too_long_and_the_others_go_on(model: EmbeddedModel) -> None:
    fits, beyond = "w2 " * (64 - 12 - 3), "w2 " * (64 - 12 - 2)
    completions = {c.key: c for c in ask(model, "w1", beyond, fits)}
    assert completions["1"].failure == FailureKind.PROMPT_TOO_LONG
    assert completions["1"].text is None and completions["1"].completion_tokens is None
    assert completions["0"].completion_tokens and completions["2"].prompt_tokens == 64 - 12


def test_messages_that_the_template_refuses_fail_without_their_text(model: EmbeddedModel) -> None:
    completions = {c.key: c for c in ask(model, "refuse", "w1")}
    assert completions["0"].failure == FailureKind.LLM_ERROR
    assert "refused" in completions["0"].detail and "CANARY" not in completions["0"].detail
    assert completions["1"].completion_tokens


def test_more_than_a_batch_is_a_mistake_of_the_caller(model: EmbeddedModel) -> None:
    with pytest.raises(ValueError, match="9 requests for a batch size of 8"):
        ask(model, *["w1"] * 9)


@pytest.mark.parametrize(
    "change", [{"temperature": 0.5}, {"repetition_penalty": 1.1}, {"presence_penalty": 1.0}]
)
def test_sampling_that_is_not_greedy_is_refused(model: EmbeddedModel, change: dict[str, float]) -> None:
    sampling = Sampling(max_tokens=4, **change)  # type: ignore[arg-type]
    with pytest.raises(BackendError, match=next(iter(change))):
        ask(model, "w1", sampling=sampling)
    with pytest.raises(BackendError, match="greedily"):
        model.warm_up(sampling)


def test_running_out_of_memory_is_a_failure_that_says_what_to_do(
    model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*args: Any, **kwargs: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr("misheard.language_models.embedded.decode_greedily", exhausted)
    completions = ask(model, "w1", "w2")
    assert [c.failure for c in completions] == [FailureKind.LLM_ERROR] * 2
    assert "batch_size" in completions[0].detail


def test_the_fingerprint_follows_content_and_template(tiny: Path, tmp_path: Path) -> None:
    def fingerprint(folder: Path, **options: Any) -> dict[str, Any]:
        model = EmbeddedModel(EmbeddedSettings(model=str(folder), **options), cpu=True)
        model.start()
        try:
            return model.fingerprint()
        finally:
            model.close()

    original = fingerprint(tiny)
    assert (original["device"], original["dtype"], original["max_context"]) == ("cpu", "float32", 64)
    copy = tmp_path / tiny.name
    shutil.copytree(tiny, copy)
    assert fingerprint(copy) == original
    (copy / "chat_template.jinja").write_text(TEMPLATE + " ")
    edited = fingerprint(copy)
    assert {name for name in edited if edited[name] != original[name]} == {
        "content_sha256",
        "chat_template_sha256",
    }
    assert fingerprint(tiny, dtype="bfloat16", max_context=32)["dtype"] == "bfloat16"


def broken(tiny: Path, tmp_path: Path, *remove: str) -> str:
    copy = tmp_path / "copy"
    shutil.copytree(tiny, copy)
    for pattern in remove:
        for path in copy.glob(pattern):
            path.unlink()
    return str(copy)


@pytest.mark.parametrize(
    ("remove", "says"),
    [
        (["chat_template.jinja"], "no chat template"),
        (["config.json"], "no config.json"),
        (["*.safetensors"], "no .safetensors weights"),
    ],
)
def test_an_unusable_folder_says_what_it_lacks(
    tiny: Path, tmp_path: Path, remove: list[str], says: str
) -> None:
    with pytest.raises(BackendError, match=says):
        EmbeddedModel(EmbeddedSettings(model=broken(tiny, tmp_path, *remove)), cpu=True).start()


def test_pickled_weights_and_code_of_the_model_are_never_run(tiny: Path, tmp_path: Path) -> None:
    folder = Path(broken(tiny, tmp_path, "*.safetensors"))
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch pickled'\ntR.")
    (folder / "x.safetensors").write_bytes(b"not weights")
    with pytest.raises(BackendError, match="cannot be loaded"):
        EmbeddedModel(EmbeddedSettings(model=str(folder)), cpu=True).start()
    config = json.loads((folder / "config.json").read_text())
    config |= {"auto_map": {"AutoModelForCausalLM": "evil.Model"}, "model_type": "evil"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text("raise SystemExit('code of the model ran')")
    with pytest.raises(BackendError, match="cannot be loaded"):
        EmbeddedModel(EmbeddedSettings(model=str(folder)), cpu=True).start()


def test_weights_that_the_files_lack_are_not_made_up(tiny: Path, tmp_path: Path) -> None:
    folder = Path(broken(tiny, tmp_path))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with pytest.raises(BackendError, match=r"lack 9 of the weights .* such as model\.layers\.2"):
        EmbeddedModel(EmbeddedSettings(model=str(folder)), cpu=True).start()


def test_an_architecture_that_cannot_be_decoded_is_refused_before_the_run(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*args: Any, **kwargs: Any) -> None:
        raise TypeError("forward() got an unexpected keyword argument 'position_ids'")

    monkeypatch.setattr(transformers.LlamaForCausalLM, "forward", unsupported)
    with pytest.raises(BackendError, match="serve it with vllm"):
        EmbeddedModel(EmbeddedSettings(model=str(tiny)), cpu=True).start()


def test_a_hub_id_must_be_pinned() -> None:
    with pytest.raises(BackendError, match="revision"):
        EmbeddedModel(EmbeddedSettings(model="someone/no-such-model"), cpu=True).start()


def test_a_context_beyond_the_models_is_refused(tiny: Path) -> None:
    with pytest.raises(BackendError, match="more than the model's 64"):
        EmbeddedModel(EmbeddedSettings(model=str(tiny), max_context=65), cpu=True).start()


def test_loading_and_answering_write_nothing_to_the_terminal(
    tiny: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bars = transformers.utils.logging.is_progress_bar_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EmbeddedModel(EmbeddedSettings(model=str(tiny)), cpu=True)
        model.start()
        model.warm_up(SAMPLING)
        ask(model, "w88")
        model.close()
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert "w88" not in caplog.text
    assert transformers.utils.logging.is_progress_bar_enabled() == bars


def test_the_module_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys, misheard.language_models.embedded, misheard.language_models.vllm_server\n"
        "sys.exit(bool({'torch', 'transformers', 'openai', 'httpx', 'httpx2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.models
@pytest.mark.slow
def test_a_real_model_answers_the_same_alone_and_in_a_batch(models_dir: Path, record_property: Any) -> None:
    questions = [
        "What is the capital of France?",
        "What is the currency of Japan?",
        "How many days are in a week?",
        "Name the longest river in Africa.",
        "What is the chemical symbol for gold?",
        "Hi",
        "What language is spoken in Brazil?",
        "What is the boiling point of water in Celsius?",
    ]
    settings = EmbeddedSettings(model=str(models_dir / "smollm2-135m-instruct"), batch_size=8, threads=1)
    model = EmbeddedModel(settings, cpu=True)
    model.start()
    sampling = Sampling(max_tokens=16)
    batched = [c.text for c in ask(model, *questions, sampling=sampling)]
    again = [c.text for c in ask(model, *questions, sampling=sampling)]
    alone = [ask(model, question, sampling=sampling)[0].text for question in questions]
    model.close()
    assert "Paris" in (batched[0] or "")
    assert batched == again
    equal = sum(a == b for a, b in zip(alone, batched, strict=True))
    record_property("equal answers of batch sizes 1 and 8", f"{equal} of {len(questions)}")
    assert equal == len(questions)
