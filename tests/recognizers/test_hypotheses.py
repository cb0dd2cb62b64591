"""Lists of hypotheses: the options, the fake, windows joined by rank, and beam search on real speech."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from misheard.config import parse_config
from misheard.errors import ConfigError
from misheard.recognizers.fake import FakeRecognizer, samples_sha256
from misheard.recognizers.protocol import AudioWindow, WindowTranscript
from misheard.recognizers.settings import CTranslate2Settings, FakeRecognizerSettings, gives_n_best
from misheard.stages.recognize import join_n_best, join_windows


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"n_best": 2}, "n_best: 2 hypotheses need a beam_size of at least 2, not 1"),
        ({"n_best": 6, "beam_size": 5}, "need a beam_size of at least 6, not 5"),
        ({"beam_size": 0}, "greater than or equal to 1"),
        ({"beam_size": 17}, "less than or equal to 16"),
    ],
)
def test_a_list_needs_a_beam(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        CTranslate2Settings.model_validate({"model": "m", **options})


@pytest.mark.parametrize(
    ("recognizer", "gives"),
    [
        ({"kind": "ctranslate2", "model": "m"}, False),
        ({"kind": "ctranslate2", "model": "m", "beam_size": 5}, False),
        ({"kind": "ctranslate2", "model": "m", "beam_size": 5, "n_best": 5}, True),
        ({"kind": "fake"}, False),
        ({"kind": "fake", "n_best": {"0": ["a"]}}, True),
        ({"kind": "command", "command": ["x", "{wav}"]}, False),
    ],
)
def test_a_corrector_gets_a_list_only_where_the_recognizer_gives_one(
    recognizer: dict[str, Any], gives: bool
) -> None:
    data = {"recognizer": recognizer, "language_model": {"kind": "fake"}, "correct": {"n_best": True}}
    assert gives_n_best(parse_config("c", {"recognizer": recognizer}).recognizer) is gives
    if gives:
        assert parse_config("c", data).correct is not None
    else:
        with pytest.raises(ConfigError, match=r"correct\.n_best: the recognizer gives no list"):
            parse_config("c", data)


def window(seed: int) -> AudioWindow:
    samples = np.random.default_rng(seed).uniform(-1, 1, 800).astype(np.float32)
    return AudioWindow(samples, "en")


def test_the_fake_gives_its_list_and_other_windows_as_before() -> None:
    listed, plain = window(1), window(2)
    table = {samples_sha256(listed): ("red", "read")}
    before, after = (
        FakeRecognizer(FakeRecognizerSettings()),
        FakeRecognizer(FakeRecognizerSettings(n_best=table)),
    )
    first, second = after.recognize([listed, plain]).windows
    assert first == WindowTranscript("red", "en", n_best=("red", "read"))
    assert (second,) == before.recognize([plain]).windows
    assert before.fingerprint().keys() < after.fingerprint().keys()


def test_a_window_of_the_fake_has_one_text() -> None:
    with pytest.raises(ValidationError, match="give it once"):
        FakeRecognizerSettings(transcripts={"0": "a"}, n_best={"0": ("b",)})
    with pytest.raises(ValidationError, match="at least 1 item"):
        FakeRecognizerSettings(n_best={"0": ()})


def heard(*hypotheses: str) -> WindowTranscript:
    return WindowTranscript(hypotheses[0], n_best=hypotheses)


@pytest.mark.parametrize(
    ("windows", "language", "joined"),
    [
        ([], None, ()),
        ([WindowTranscript("a"), WindowTranscript("b")], "en", ()),
        ([heard("a", "b", "c")], "en", ("a", "b", "c")),
        ([heard("a", "b", "c"), heard("x", "y")], "en", ("a x", "b y", "c x")),
        ([heard("a", "b"), WindowTranscript("x")], "en", ("a x", "b x")),
        ([heard("我", "握"), heard("想")], "zh", ("我想", "握想")),
        ([heard("a", ""), heard("", "a")], "en", ("a",)),
        ([heard("a")], "en", ("a",)),
    ],
)
def test_windows_are_joined_by_rank(
    windows: list[WindowTranscript], language: str | None, joined: tuple[str, ...]
) -> None:
    assert join_n_best(windows, language) == joined


lists = st.lists(st.text("ab ", max_size=3), min_size=1, max_size=4).map(lambda texts: heard(*texts))


@given(st.lists(lists, min_size=1, max_size=4))
def test_the_first_of_the_joined_list_is_the_transcript(windows: list[WindowTranscript]) -> None:
    joined = join_n_best(windows, "en")
    assert joined[0] == join_windows([one.text for one in windows], "en")
    assert len(set(joined)) == len(joined) <= max(len(one.n_best) for one in windows)


def load(folder: Path, **options: Any) -> Any:
    from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

    recognizer = CTranslate2Recognizer(CTranslate2Settings(model=str(folder), **options), cpu=True)
    recognizer.load()
    return recognizer


@pytest.fixture(scope="module")
def clips(real_speech: Path) -> list[AudioWindow]:
    from misheard.audio.decode import decode
    from misheard.suite.manifest import load_suite

    suite = load_suite(real_speech)
    return [AudioWindow(decode(suite.audio_path(item)).samples, "en") for item in suite.items[:6]]


def hypotheses_of(folder: Path, clips: Sequence[AudioWindow], beam_size: int) -> list[list[str]]:
    """What CTranslate2 gives, called as its documentation has it, one clip at a time; features by torch."""
    import ctranslate2
    import tokenizers

    from misheard.audio.features import log_mel

    model = ctranslate2.models.Whisper(str(folder), compute_type="int8")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    prompt = ["<|startoftranscript|>", "<|notimestamps|>"]
    found = []
    for clip in clips:
        features = ctranslate2.StorageView.from_array(log_mel([clip.samples], model.n_mels).numpy())
        (result,) = model.generate(features, [prompt], beam_size=beam_size, num_hypotheses=beam_size)
        ids = result.sequences_ids
        found.append([tokenizer.decode(one, skip_special_tokens=True).strip() for one in ids])
    return found


@pytest.mark.models
def test_hypotheses_are_those_of_the_library_best_first(models_dir: Path, clips: list[AudioWindow]) -> None:
    folder = models_dir / "whisper-tiny.en"
    expected = hypotheses_of(folder, clips, 4)
    windows = load(folder, beam_size=4, n_best=4).recognize(clips).windows
    for one, texts in zip(windows, expected, strict=True):
        assert one.text == texts[0] == one.n_best[0]
        assert list(one.n_best) == list(dict.fromkeys(texts))
    assert max(len(one.n_best) for one in windows) > 1


@pytest.mark.models
def test_a_beam_without_a_list_finds_the_same_text_and_no_list(
    models_dir: Path, clips: list[AudioWindow]
) -> None:
    folder = models_dir / "whisper-tiny.en"
    windows = load(folder, beam_size=3).recognize(clips).windows
    assert [one.n_best for one in windows] == [()] * len(clips)
    assert [one.text for one in windows] == [texts[0] for texts in hypotheses_of(folder, clips, 3)]


@pytest.mark.models
def test_the_default_is_greedy_and_keeps_its_fingerprint(models_dir: Path, clips: list[AudioWindow]) -> None:
    folder = models_dir / "whisper-tiny.en"
    greedy = load(folder)
    windows = greedy.recognize(clips).windows
    assert [[one.text] for one in windows] == hypotheses_of(folder, clips, 1)
    assert greedy.fingerprint()["decoding"] == {
        "beam_size": 1, "temperature": 0, "max_length": 448, "timestamps": False,
    }  # fmt: skip
    others = [load(folder, beam_size=2), load(folder, beam_size=2, n_best=2)]
    decodings = [str(one.fingerprint()["decoding"]) for one in (greedy, *others)]
    assert len(set(decodings)) == 3
