"""Stages: prompts, keys, windows joined to transcripts, signs of trouble."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from misheard.errors import InputError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.protocol import Sampling
from misheard.recognizers.protocol import AudioWindow, Features, RecognizedBatch, WindowTranscript
from misheard.stages.prompted import Prompted
from misheard.stages.prompts import load_prompt
from misheard.stages.recognize import (
    WindowOutcome,
    has_repetition,
    is_sparse,
    join_windows,
    recognize_batch,
)


def responder(**changes: Any) -> Prompted:
    sampling = Sampling(max_tokens=changes.pop("max_tokens", 8))
    return Prompted(load_prompt("respond-v1"), sampling, changes.pop("engine", {"model": "m"}))


def test_equal_transcripts_have_equal_keys_and_any_change_another() -> None:
    base = responder().request({"transcript": "hello"}).key
    assert responder().request({"transcript": "hello"}).key == base
    others = [
        responder().request({"transcript": "hello "}),
        responder(max_tokens=9).request({"transcript": "hello"}),
        responder(engine={"model": "n"}).request({"transcript": "hello"}),
        responder().request({"transcript": "hello"}, execution="control:q1"),
        responder().request({"transcript": "hello"}, execution="control:q2"),
    ]
    assert len({base, *(request.key for request in others)}) == 6


@pytest.mark.parametrize("text", ["{transcript}", "{0} {x!r} %s $HOME", "", "\ud800"])
def test_a_transcript_goes_into_the_prompt_as_it_is(text: str) -> None:
    assert load_prompt("respond-v1").messages({"transcript": text})[-1].content == text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("user: hello", "transcript"),
        ("- a\n- b", "mapping"),
        ("user: '{transcript}'\nsystem: 3", "system must be a text"),
        ("user: '{transcript}'\nassistant: x", "mapping"),
        ("user: !!python/object/apply:os.system ['true']", "tags are not allowed"),
        ("user: [", "not valid YAML"),
    ],
)
def test_a_prompt_file_that_is_none_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=complaint):
        load_prompt(str(path))


def test_a_prompt_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(InputError, match="respond-v1"):
        load_prompt("respond-v9")


def test_a_prompt_file_without_a_system_message(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("user: 'Q: {transcript}'")
    assert [m.role for m in load_prompt(str(path)).messages({"transcript": "x"})] == ["user"]


@pytest.mark.parametrize(
    ("texts", "language", "joined"),
    [
        ([" a b ", "", "c"], "en", "a b c"),
        (["我想", "喝"], "zh", "我想喝"),
        ([], None, ""),
        (["  "], None, ""),
    ],
)
def test_windows_are_joined(texts: list[str], language: str | None, joined: str) -> None:
    assert join_windows(texts, language) == joined


@pytest.mark.parametrize(
    ("transcript", "repeats"),
    [
        (WindowTranscript("x", compression_ratio=2.5), True),
        (WindowTranscript("x", compression_ratio=2.4), False),
        (WindowTranscript("x", token_limit=True), True),
        (WindowTranscript("x"), False),
    ],
)
def test_loops_are_flagged(transcript: WindowTranscript, repeats: bool) -> None:
    assert has_repetition(transcript) is repeats


@pytest.mark.parametrize(
    ("tokens", "speech", "sparse"), [(2, 20.0, True), (30, 20.0, False), (0, 2.0, False), (None, 20.0, False)]
)
def test_speech_without_tokens_is_flagged(tokens: int | None, speech: float, sparse: bool) -> None:
    assert is_sparse(WindowTranscript("x", tokens=tokens), speech) is sparse


class Picky:
    """Refuses every batch with an empty window in it."""

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        if any(len(window.samples) == 0 for window in batch):
            raise ItemFailedError(FailureKind.ASR_ERROR, "empty window")
        return RecognizedBatch(tuple(WindowTranscript(str(len(w.samples))) for w in batch), 0.5, 1.5)


def test_one_bad_window_fails_alone() -> None:
    import numpy as np

    batch = [AudioWindow(np.zeros(n, np.float32), None) for n in (3, 0, 5)]
    found = recognize_batch(Picky(), batch)  # type: ignore[arg-type]
    texts = [None if o.transcript is None else o.transcript.text for o in found.windows]
    assert texts == ["3", None, "5"]
    assert found.windows[1].failure_kind is FailureKind.ASR_ERROR
    assert (found.features_seconds, found.inference_seconds, found.program_seconds) == (1.0, 3.0, None)


def test_an_outcome_survives_the_journal() -> None:
    for outcome in (
        WindowOutcome(WindowTranscript("hé", "en", 3, False, 0.1, -0.2, 1.0), None, "", 0.25),
        WindowOutcome(None, FailureKind.TIMEOUT, "too slow", 0.0),
    ):
        assert WindowOutcome.from_row(outcome.row()) == outcome
