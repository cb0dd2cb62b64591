"""Decoded recordings: in memory up to a bound, beyond it in a scratch file, so that each is decoded once."""

import contextlib
import dataclasses
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from misheard.audio.decode import DecodedAudio, decode
from misheard.run.clock import Clock
from misheard.suite.items import Item, Suite

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class _Spilled:
    """A recording whose samples lie in the scratch file, `count` of them from byte `offset` on."""

    audio: DecodedAudio
    offset: int
    count: int


class AudioStore:
    """Hands out decoded audio and counts the time that decoding took.

    The plan reads every recording in suite order, inference reads them in batch order, a window of this one
    and a window of that one. What does not fit into `max_bytes` of memory goes to a temporary file without a
    name, at most `max_scratch_bytes` and half of what is free there; only what fits in neither is decoded
    again when it is needed. Long recordings, which `decode` maps from files of their own, stay mapped as long
    as those bounds allow.
    """

    def __init__(
        self,
        suite: Suite,
        clock: Clock,
        max_bytes: int = _GIB // 2,
        max_scratch_bytes: int = 64 * _GIB,
    ) -> None:
        self._suite = suite
        self._clock = clock
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, DecodedAudio] = OrderedDict()
        self._bytes = 0
        self._mapped: dict[str, DecodedAudio] = {}
        self._spilled: dict[str, _Spilled] = {}
        self._scratch: Any = None
        self._scratch_left = min(max_scratch_bytes, shutil.disk_usage(tempfile.gettempdir()).free // 2)

    def get(self, item: Item) -> DecodedAudio:
        """Return an item's audio. Raises ItemFailedError where it cannot be decoded."""
        if item.id in self._kept:
            self._kept.move_to_end(item.id)
            return self._kept[item.id]
        if item.id in self._mapped:
            return self._mapped[item.id]
        if (spilled := self._spilled.get(item.id)) is not None:
            return self._read(spilled)
        with self._clock.measure("decode"):
            audio = decode(self._suite.audio_path(item))
        self._keep(item.id, audio)
        return audio

    def close(self) -> None:
        """Let go of everything; the scratch file's space is free then."""
        self._kept.clear()
        self._mapped.clear()
        self._spilled.clear()
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    def _keep(self, key: str, audio: DecodedAudio) -> None:
        if isinstance(audio.samples, np.memmap):
            if audio.samples.nbytes <= self._scratch_left:
                self._scratch_left -= audio.samples.nbytes
                self._mapped[key] = audio
            return
        self._kept[key] = audio
        self._bytes += audio.samples.nbytes
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            oldest, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.samples.nbytes
            self._spill(oldest, dropped)

    def _spill(self, key: str, audio: DecodedAudio) -> None:
        """Write a recording's samples to the scratch file, if they fit there."""
        if key in self._spilled or audio.samples.nbytes > self._scratch_left:
            return
        # a full disk costs time, not the run: the recording is decoded again
        with contextlib.suppress(OSError):
            if self._scratch is None:
                self._scratch = tempfile.TemporaryFile(prefix="misheard-")  # noqa: SIM115 - closed by close
            offset = self._scratch.seek(0, 2)
            self._scratch.write(audio.samples.tobytes())
            self._scratch.flush()
            self._scratch_left -= audio.samples.nbytes
            empty = dataclasses.replace(audio, samples=audio.samples[:0].copy())
            self._spilled[key] = _Spilled(empty, offset, len(audio.samples))

    def _read(self, spilled: _Spilled) -> DecodedAudio:
        """Return a recording whose samples are mapped for as long as somebody holds them."""
        samples = np.memmap(self._scratch, np.float32, "r", offset=spilled.offset, shape=(spilled.count,))
        return dataclasses.replace(spilled.audio, samples=np.asarray(samples))
