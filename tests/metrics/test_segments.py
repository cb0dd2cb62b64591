"""How many pieces a recognizer cuts speech into: shown, and never ranked."""

import json
from pathlib import Path

import numpy as np
import pytest

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.metrics.segments import Segments
from misheard.recognizers.command_output import parse_row
from misheard.recognizers.protocol import AudioWindow
from misheard.recognizers.transcription_reply import read_reply
from misheard.stages.recognize import WindowOutcome
from misheard.suite.items import Item, ItemKind


def row(segments: int | None, kind: ItemKind = ItemKind.SPEECH) -> ScoredRow:
    item = Item("a", "a.wav", "hello" if kind is ItemKind.SPEECH else "", kind)
    return ScoredRow(item, Arm.AUDIO, ArmOutput("hello", segments=segments))


def test_speech_whose_recognizer_tells_counts_and_nothing_can_be_ranked() -> None:
    family = Segments()
    counts = family.counts([row(3), row(None), row(0), row(9, ItemKind.NON_SPEECH), row(6)])
    assert counts.present.tolist() == [True, False, True, False, True]
    (rate,) = family.rates
    assert rate.better is None
    assert float(rate.compute(counts.values.sum(axis=0))) == pytest.approx(3.0)


TIMES = {"text": "so", "audio_ms": 1, "load_ms": 1, "transcribe_ms": 1}


@pytest.mark.parametrize(
    ("given", "told"),
    [(4, 4), (0, 0), ([{}, {}], 2), (None, None), (True, None), (-1, None), ("4", None), (1e3, None)],
)
def test_a_program_tells_its_segments_as_a_number_or_a_list(given: object, told: int | None) -> None:
    assert parse_row(json.dumps({**TIMES, "segments": given}).encode(), 10).segments == told


def test_a_server_tells_its_segments_in_the_verbose_format() -> None:
    window = AudioWindow(np.zeros(16_000, np.float32), "en", Path("a.wav"))
    verbose = {"text": "so it goes", "segments": [{"id": 0}, {"id": 1}]}
    assert read_reply(json.dumps(verbose).encode(), window, 10, 0.1).segments == 2
    assert read_reply(b'{"text": "so"}', window, 10, 0.1).segments is None


def test_the_journal_keeps_them() -> None:
    window = AudioWindow(np.zeros(16_000, np.float32), "en", Path("a.wav"))
    for count in (0, 2):
        heard = read_reply(json.dumps({"text": "so", "segments": [{}] * count}).encode(), window, 10, 0.1)
        kept = WindowOutcome.from_row(WindowOutcome(heard, None, "", 0.1).row()).transcript
        assert kept is not None and kept.segments == count
