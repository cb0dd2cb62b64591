"""Whisper in torch: the words of CTranslate2 and of transformers' own generation, whatever the batch."""

import importlib.machinery
import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misheard.config import parse_config
from misheard.errors import BackendError, ConfigError, InputError
from misheard.failures import ItemFailedError
from misheard.language_models.greedy import cache_argument
from misheard.recognizers.protocol import SAMPLE_RATE, AudioWindow, OutOfMemoryError, WindowTranscript
from misheard.recognizers.settings import CTranslate2Settings, TransformersSettings
from misheard.run.resolve import resolve_config

pytest.importorskip("torch", reason="needs the extra run")

import torch

from misheard.recognizers.ctranslate2 import CTranslate2Recognizer
from misheard.recognizers.transformers import TransformersRecognizer
from misheard.recognizers.transformers_decoders import GrowingDecoder, StaticDecoder

ROOT = Path(__file__).parents[2]
SILENCE = AudioWindow(np.zeros(SAMPLE_RATE, np.float32), None)


def load(folder: Path, **options: Any) -> TransformersRecognizer:
    made = TransformersRecognizer(TransformersSettings(model=str(folder), **options), cpu=True)
    made.load()
    return made


def transcripts(
    recognizer: TransformersRecognizer | CTranslate2Recognizer, windows: Sequence[AudioWindow], size: int
) -> list[WindowTranscript]:
    return [
        found
        for start in range(0, len(windows), size)
        for found in recognizer.recognize(windows[start : start + size]).windows
        if isinstance(found, WindowTranscript)
    ]


@pytest.fixture(scope="module")
def converted(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives a model of the cache in Hugging Face form, the same weights."""
    pytest.importorskip("transformers", reason="needs the extra run")
    script = str(ROOT / "scripts" / "convert_whisper")
    loader = importlib.machinery.SourceFileLoader("convert_whisper", script)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("convert_whisper", loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    folder = tmp_path_factory.mktemp("hugging-face")

    def convert(name: str) -> Path:
        if not (folder / name).is_dir():
            module.convert(models_dir / name, folder / name)
        return folder / name

    return convert


@pytest.fixture(scope="module")
def clips(real_speech: Path) -> list[AudioWindow]:
    from misheard.audio.decode import decode
    from misheard.suite.manifest import load_suite

    suite = load_suite(real_speech)
    chosen = (*suite.items[:2], suite.items[-1])
    return [AudioWindow(decode(suite.audio_path(item)).samples, "en") for item in chosen]


@pytest.fixture(scope="module")
def tiny(converted: Callable[[str], Path]) -> Iterator[TransformersRecognizer]:
    made = load(converted("whisper-tiny.en"))
    made.warm_up()
    yield made
    made.close()


@pytest.fixture(scope="module")
def heard(tiny: TransformersRecognizer, clips: list[AudioWindow]) -> list[WindowTranscript]:
    return transcripts(tiny, clips, len(clips))


def assert_same(ours: Sequence[WindowTranscript], theirs: Sequence[WindowTranscript]) -> None:
    for own, other in zip(ours, theirs, strict=True):
        assert (own.text, own.language, own.tokens, own.token_limit, own.compression_ratio) == (
            other.text, other.language, other.tokens, other.token_limit, other.compression_ratio,
        )  # fmt: skip
        assert own.no_speech_prob == pytest.approx(other.no_speech_prob, abs=1e-4)
        assert own.avg_logprob == pytest.approx(other.avg_logprob, abs=1e-3)


@pytest.mark.models
def test_an_english_model_hears_what_it_hears_on_ctranslate2(
    models_dir: Path, clips: list[AudioWindow], heard: list[WindowTranscript]
) -> None:
    settings = CTranslate2Settings(model=str(models_dir / "whisper-tiny.en"), cpu_compute_type="float32")
    other = CTranslate2Recognizer(settings, cpu=True)
    other.load()
    assert_same(heard, transcripts(other, clips, len(clips)))
    assert any(found.text.startswith("And Mr. John Dashwood had then leisure") for found in heard)
    assert all(found.language == "en" and found.tokens for found in heard)


@pytest.mark.models
def test_a_multilingual_model_hears_what_it_hears_on_ctranslate2(
    models_dir: Path, converted: Callable[[str], Path], clips: list[AudioWindow]
) -> None:
    """A language that is given and one that is detected, in one batch."""
    folder = converted("whisper-base")
    settings = CTranslate2Settings(model=str(models_dir / "whisper-base"), cpu_compute_type="float32")
    batch = [clips[1], AudioWindow(clips[2].samples, None)]
    other = CTranslate2Recognizer(settings, cpu=True)
    other.load()
    ours = load(folder)
    found = transcripts(ours, batch, len(batch))
    assert_same(found, transcripts(other, batch, len(batch)))
    assert [one.language for one in found] == ["en", "en"]
    for language in ("ml", "tlh", None, "en"):
        assert ours.supports(language) is other.supports(language)


@pytest.mark.models
@pytest.mark.parametrize("options", [{"batch_size": 1}, {"batch_size": 2, "compile": True}])
def test_words_do_not_depend_on_the_batch_or_on_static_shapes(
    converted: Callable[[str], Path],
    clips: list[AudioWindow],
    heard: list[WindowTranscript],
    options: dict[str, Any],
) -> None:
    recognizer = load(converted("whisper-tiny.en"), **options)
    windows = clips[: options["batch_size"] + 1]
    assert_same(transcripts(recognizer, windows, options["batch_size"]), heard[: len(windows)])


@pytest.mark.models
def test_words_are_those_of_the_librarys_own_greedy_generation(
    tiny: TransformersRecognizer, clips: list[AudioWindow], heard: list[WindowTranscript]
) -> None:
    loaded = tiny._ready()
    mel = tiny.features(clips)
    assert mel is not None and mel.seconds > 0
    generated = loaded.model.generate(input_features=mel.value, num_beams=1, do_sample=False)
    texts = [loaded.tokenizer.decode(row, skip_special_tokens=True).strip() for row in generated.tolist()]
    assert texts == [found.text for found in heard]
    # and features that were computed ahead change nothing
    ahead = tiny.recognize(clips, mel)
    assert ahead.features_seconds == mel.seconds
    assert [found.text for found in ahead.windows if isinstance(found, WindowTranscript)] == texts


@pytest.mark.models
@pytest.mark.parametrize("make", [GrowingDecoder, partial(StaticDecoder, size=1)])
def test_a_library_that_calls_the_cache_by_its_newer_name_is_told_that(
    tiny: TransformersRecognizer,
    clips: list[AudioWindow],
    heard: list[WindowTranscript],
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Any], Any],
) -> None:
    decoder = tiny._ready().model.model.decoder
    forward, name = decoder.forward, cache_argument(decoder.forward)

    def renamed(cache: Any, **others: Any) -> Any:
        assert "past_key_values" not in others
        return forward(**{name: cache}, **others)

    monkeypatch.setattr(decoder, "forward", renamed)
    monkeypatch.setattr(tiny, "_decoder", lambda loaded: make(loaded.model))
    assert_same(transcripts(tiny, clips[:1], 1), heard[:1])


@pytest.mark.models
def test_a_fingerprint_names_what_decides_the_text(
    tiny: TransformersRecognizer, converted: Callable[[str], Path]
) -> None:
    folder = converted("whisper-tiny.en")
    shown = tiny.fingerprint()
    assert {"config.json", "generation_config.json", "model.safetensors"} <= set(shown["content"])
    assert (shown["backend"], shown["device"], shown["dtype"]) == ("transformers", "cpu", "float32")
    assert str(folder) not in str(shown)
    assert load(folder, cpu_dtype="bfloat16").fingerprint() == {**shown, "dtype": "bfloat16"}


@pytest.mark.models
@pytest.mark.parametrize("options", [{}, {"compile": True}])
def test_a_batch_that_does_not_fit_can_be_tried_in_halves(
    converted: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    made = load(converted("whisper-tiny.en"), batch_size=4, **options)
    encoder, cleared = made._encode, []

    def no_room(loaded: Any, mel: Any) -> Any:
        if len(mel) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. canary\nmore")
        return encoder(loaded, mel)

    monkeypatch.setattr(made, "_encode", no_room)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: cleared.append(True))
    batch = [AudioWindow(SILENCE.samples, "en")] * 4
    with pytest.raises(OutOfMemoryError, match="out of memory") as raised:
        made._run(batch, None, 2)
    # an error that was kept would hold on to the batch's memory
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    assert cleared == [True]
    assert len(made._run(batch[:2], None, 2).windows) == 2
    if options:
        with pytest.raises(OutOfMemoryError, match="3 windows, and room for 2"):
            made._run(batch[:3], None, 2)


@pytest.mark.models
def test_shapes_that_are_larger_than_the_batch_give_way_first(
    converted: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = load(converted("whisper-tiny.en"), batch_size=4, compile=True)
    encoder, sizes = made._encode, []

    def no_room_for_four(loaded: Any, mel: Any) -> Any:
        sizes.append(made._static_size)
        if made._static_size == 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encoder(loaded, mel)

    monkeypatch.setattr(made, "_encode", no_room_for_four)
    assert len(made._run([AudioWindow(SILENCE.samples, "en")], None, 2).windows) == 1
    assert sizes == [4, 1]


@pytest.mark.models
def test_features_that_find_no_memory_are_left_to_recognition(
    tiny: TransformersRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*arguments: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(tiny, "_log_mel", no_room)
    assert tiny.features([SILENCE]) is None
    with pytest.raises(OutOfMemoryError):
        tiny.recognize([SILENCE])


@pytest.mark.models
def test_another_failure_is_the_windows_own(
    tiny: TransformersRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*arguments: Any) -> Any:
        raise RuntimeError("an illegal memory access")

    monkeypatch.setattr(tiny, "_encode", breaks)
    with pytest.raises(ItemFailedError, match="illegal memory access"):
        tiny.recognize([SILENCE])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model, without weights that could be loaded."""
    for name in ("config.json", "generation_config.json", "tokenizer.json", "preprocessor_config.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "whisper"}))
    (tmp_path / "model.safetensors").write_bytes(b"\x00garbage")
    return tmp_path


@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "tokenizer.json"])
def test_a_file_that_is_missing_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BackendError, match=rf"has no {name}"):
        load(folder)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", '{"model_type": "wav2vec2"}', "holds a model of type 'wav2vec2', not whisper"),
        ("config.json", "[]", "cannot be loaded: config.json"),
        ("config.json", "\0", "cannot be loaded: config.json"),
        ("preprocessor_config.json", '{"hop_length": 320}', "wants hop_length 320"),
        ("model.safetensors", "\0garbage", "cannot be loaded"),
    ],
)
def test_a_model_that_cannot_be_used_is_one_clear_error(
    folder: Path, name: str, content: str, words: str
) -> None:
    (folder / name).write_text(content)
    with pytest.raises(BackendError) as raised:
        load(folder)
    assert words in str(raised.value)


def test_pickled_weights_are_not_loaded(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(BackendError, match=r"no model\.safetensors; weights in other formats"):
        load(folder)


@pytest.mark.models
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"decoder_layers": 5}, r"lack 24 of the weights .* such as model\.decoder\.layers\.4"),
        ({"dropout": float("inf")}, "was loaded and cannot be used: ValueError: dropout"),
    ],
)
def test_a_config_that_does_not_fit_the_weights_is_one_clear_error(
    converted: Callable[[str], Path], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    for path in converted("whisper-tiny.en").iterdir():
        (tmp_path / path.name).symlink_to(path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(BackendError, match=words):
        load(tmp_path).warm_up()


@pytest.mark.models
@pytest.mark.parametrize("tokens", [[99_999_999], "many", [True]])
def test_suppressed_tokens_are_checked(converted: Callable[[str], Path], tmp_path: Path, tokens: Any) -> None:
    from misheard.recognizers.transformers_loading import _suppressed

    shutil.copy(converted("whisper-tiny.en") / "generation_config.json", tmp_path)
    assert 220 in _suppressed(tmp_path, 51_864).first
    (tmp_path / "generation_config.json").write_text(json.dumps({"suppress_tokens": tokens}))
    with pytest.raises(BackendError, match="suppress_tokens is no list of tokens"):
        _suppressed(tmp_path, 51_864)


def test_asking_for_cuda_without_a_device_says_what_to_do(folder: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    settings = TransformersSettings(model=str(folder), device="cuda")
    with pytest.raises(BackendError, match="--cpu"):
        TransformersRecognizer(settings, cpu=False).load()


def test_the_config_finds_a_folder_and_asks_for_a_pinned_id(folder: Path) -> None:
    def config(**recognizer: Any) -> Any:
        return parse_config("run.yaml", {"recognizer": {"kind": "transformers", **recognizer}})

    found = resolve_config(config(model=f"./{folder.name}"), folder.parent)
    assert found.recognizer.model == str(folder)  # type: ignore[union-attr]
    with pytest.raises(InputError, match="pin it with a revision"):
        resolve_config(config(model="openai/whisper-tiny"), folder)
    with pytest.raises(ConfigError, match=r"recognizer\.cpu_dtype"):
        config(model="x", cpu_dtype="float16")
