"""Whisper on CTranslate2, with real checkpoints on real speech; each is loaded once."""

import functools
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from misheard.errors import BackendError
from misheard.failures import ItemFailedError
from misheard.recognizers.protocol import SAMPLE_RATE, AudioWindow, OutOfMemoryError, WindowTranscript
from misheard.recognizers.settings import CTranslate2Settings


@functools.cache
def load(folder: Path, compute_type: str = "int8"):  # type: ignore[no-untyped-def]
    from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

    settings = CTranslate2Settings.model_validate({"model": str(folder), "cpu_compute_type": compute_type})
    recognizer = CTranslate2Recognizer(settings, cpu=True)
    recognizer.load()
    return recognizer


@pytest.fixture(scope="module")
def clips(real_speech: Path) -> list[AudioWindow]:
    from misheard.audio.decode import decode
    from misheard.suite.manifest import load_suite

    suite = load_suite(real_speech)
    return [AudioWindow(decode(suite.audio_path(item)).samples, "en") for item in suite.items]


def recognize(recognizer, windows: Sequence[AudioWindow], size: int) -> list[WindowTranscript]:  # type: ignore[no-untyped-def]
    return [
        transcript
        for start in range(0, len(windows), size)
        for transcript in recognizer.recognize(windows[start : start + size]).windows
    ]


@pytest.mark.models
@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny.en"])
@pytest.mark.parametrize("compute_type", ["int8", "float32"])
def test_transcripts_do_not_depend_on_the_batch_size(
    models_dir: Path, clips: list[AudioWindow], name: str, compute_type: str
) -> None:
    recognizer = load(models_dir / name, compute_type)
    texts = {
        size: [transcript.text for transcript in recognize(recognizer, clips, size)] for size in (1, 4, 16)
    }
    assert texts[1] == texts[4] == texts[16]
    assert "He might even have been made amiable himself." in texts[1]


@pytest.mark.models
def test_figures_of_a_window_are_plausible(models_dir: Path, clips: list[AudioWindow]) -> None:
    recognizer = load(models_dir / "whisper-base")
    silence = AudioWindow(np.zeros(2 * SAMPLE_RATE, np.float32), "en")
    *spoken, silent = recognize(recognizer, [*clips[:4], silence], 8)
    for transcript in spoken:
        assert transcript.tokens
        assert transcript.tokens >= len(transcript.text.split())
        assert transcript.token_limit is False
        assert transcript.language == "en"
        assert transcript.no_speech_prob is not None
        assert transcript.avg_logprob is not None
        assert -3 < transcript.avg_logprob < 0
        assert transcript.compression_ratio is not None
        assert math.isfinite(transcript.compression_ratio)
    assert silent.no_speech_prob is not None
    assert silent.no_speech_prob > max(t.no_speech_prob or 0 for t in spoken)


@pytest.mark.models
def test_language_is_detected_on_speech_and_never_on_silence(
    models_dir: Path, clips: list[AudioWindow]
) -> None:
    recognizer = load(models_dir / "whisper-base")
    windows = [AudioWindow(clips[0].samples, None), AudioWindow(np.zeros(8000, np.float32), None)]
    spoken, silent = recognizer.recognize(windows).windows
    assert spoken.language == "en"
    assert silent.language is None


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "language", "supported"),
    [
        ("whisper-base", "ml", True),
        ("whisper-base", "tlh", False),
        ("whisper-base", None, True),
        ("whisper-tiny.en", "en", True),
        ("whisper-tiny.en", "hi", False),
        ("whisper-tiny.en", None, True),
    ],
)
def test_supported_languages(models_dir: Path, name: str, language: str | None, supported: bool) -> None:
    assert load(models_dir / name).supports(language) is supported


@pytest.mark.models
def test_a_fingerprint_names_what_decides_the_text(models_dir: Path) -> None:
    base, tiny = (load(models_dir / n).fingerprint() for n in ("whisper-base", "whisper-tiny.en"))
    assert base["content"]["model.bin"] != tiny["content"]["model.bin"]
    assert str(models_dir) not in str(base)
    assert load(models_dir / "whisper-base", "float32").fingerprint() != base


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"model\.bin"):
        load(tmp_path)


@pytest.mark.models
@pytest.mark.parametrize("damage", ["model.bin", "tokenizer.json", "config.json"])
def test_a_damaged_model_is_one_clear_error(models_dir: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(models_dir / "whisper-tiny.en", folder)
    (folder / damage).write_bytes(b"\x00garbage")
    with pytest.raises(BackendError, match="cannot be loaded"):
        load(folder)


@pytest.mark.models
def test_asking_for_cuda_without_a_device_says_what_to_do(models_dir: Path) -> None:
    import ctranslate2

    if ctranslate2.get_cuda_device_count():
        pytest.skip("this machine has a CUDA device")
    from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

    settings = CTranslate2Settings(model=str(models_dir / "whisper-tiny.en"), device="cuda")
    with pytest.raises(BackendError, match="--cpu"):
        CTranslate2Recognizer(settings, cpu=False).load()


@pytest.mark.models
def test_features_may_come_ahead_and_memory_may_run_out(
    models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recognizer = load(models_dir / "whisper-tiny.en")
    batch = [AudioWindow(np.zeros(SAMPLE_RATE, np.float32), "en")]
    ahead = recognizer.features(batch)
    assert ahead.seconds > 0
    found = recognizer.recognize(batch, ahead)
    assert found.features_seconds == ahead.seconds
    assert found.windows == recognizer.recognize(batch).windows

    class Fails:
        n_mels = 80

        def __init__(self, words: str) -> None:
            self.words = words

        def encode(self, features: object) -> object:
            raise RuntimeError(self.words)

    monkeypatch.setattr(recognizer, "_model", Fails("CUDA failed with error out of memory"))
    with pytest.raises(OutOfMemoryError, match="out of memory"):
        recognizer.recognize(batch)
    monkeypatch.setattr(recognizer, "_model", Fails("CUDA failed with error an illegal memory access"))
    with pytest.raises(ItemFailedError, match="illegal memory access"):
        recognizer.recognize(batch)
