"""Decoded recordings are decoded once, whatever fits into memory."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from misheard.audio.decode import DecodedAudio, decode
from misheard.run import audio_store
from misheard.run.audio_store import AudioStore
from misheard.run.clock import Clock
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite

MakePath = Callable[..., Path]
MakeStore = Callable[..., AudioStore]


@pytest.fixture
def suite(make_suite: MakePath) -> Suite:
    return load_suite(make_suite())


@pytest.fixture
def make_store(suite: Suite) -> Iterator[MakeStore]:
    """Return a function that makes a store over the suite; stores are closed at the end."""
    with contextlib.ExitStack() as stack:

        def make(**bounds: int) -> AudioStore:
            return stack.enter_context(contextlib.closing(AudioStore(suite, Clock(), **bounds)))

        yield make


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are decoded from here on."""
    names: list[str] = []

    def counting(path: Path) -> DecodedAudio:
        names.append(path.name)
        return decode(path)

    monkeypatch.setattr(audio_store, "decode", counting)
    return names


def rounds(store: AudioStore, suite: Suite, times: int = 3) -> list[list[Any]]:
    return [[store.get(item).samples.copy() for item in suite.items] for _ in range(times)]


@pytest.mark.parametrize("max_bytes", [0, 100_000, 1 << 30])
def test_every_recording_is_decoded_once(
    suite: Suite, make_store: MakeStore, decoded: list[str], max_bytes: int
) -> None:
    store = make_store(max_bytes=max_bytes)
    found = rounds(store, suite)
    assert len(decoded) == len(suite.items)
    whole = [decode(suite.audio_path(item)) for item in suite.items]
    for samples in found:
        for one, truth in zip(samples, whole, strict=True):
            np.testing.assert_array_equal(one, truth.samples)
    assert [store.get(item).sha256 for item in suite.items] == [one.sha256 for one in whole]


def test_samples_cannot_be_written_wherever_they_lie(suite: Suite, make_store: MakeStore) -> None:
    store = make_store(max_bytes=0)
    for _ in range(2):
        for item in suite.items:
            with pytest.raises(ValueError, match="read-only"):
                store.get(item).samples[0] = 1.0


def test_what_fits_nowhere_is_decoded_again(suite: Suite, make_store: MakeStore, decoded: list[str]) -> None:
    rounds(make_store(max_bytes=0, max_scratch_bytes=0), suite)
    assert len(decoded) == 3 * len(suite.items)


def test_a_disk_that_refuses_costs_time_and_not_the_run(
    suite: Suite, make_store: MakeStore, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refusing)
    found = rounds(make_store(max_bytes=0), suite)
    assert len(decoded) == 3 * len(suite.items)
    np.testing.assert_array_equal(found[0][1], found[2][1])


def test_long_recordings_stay_mapped(
    suite: Suite, make_store: MakeStore, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misheard.audio.decode.SPOOL_SAMPLES", 1000)
    rounds(make_store(max_bytes=0), suite)
    assert len(decoded) == len(suite.items)


def test_a_closed_store_decodes_anew(suite: Suite, make_store: MakeStore, decoded: list[str]) -> None:
    store = make_store(max_bytes=0)
    rounds(store, suite, 1)
    store.close()
    rounds(store, suite, 1)
    assert len(decoded) == 2 * len(suite.items)
