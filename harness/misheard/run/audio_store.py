"""Decoded recordings, kept in memory up to a bound, decoded again beyond it."""

from collections import OrderedDict

from misheard.audio.decode import DecodedAudio, decode
from misheard.run.clock import Clock
from misheard.suite.items import Item, Suite


class AudioStore:
    """Hands out decoded audio and counts the time that decoding took.

    The plan reads every recording in suite order, inference reads them in batch order; a suite that fits is
    decoded once, a larger one twice, and memory stays bounded either way.
    """

    def __init__(self, suite: Suite, clock: Clock, max_bytes: int = 512 * 1024 * 1024) -> None:
        self._suite = suite
        self._clock = clock
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, DecodedAudio] = OrderedDict()
        self._bytes = 0

    def get(self, item: Item) -> DecodedAudio:
        """Return an item's audio. Raises ItemFailedError where it cannot be decoded."""
        if item.id in self._kept:
            self._kept.move_to_end(item.id)
            return self._kept[item.id]
        with self._clock.measure("decode"):
            audio = decode(self._suite.audio_path(item))
        self._keep(item.id, audio)
        return audio

    def _keep(self, key: str, audio: DecodedAudio) -> None:
        self._kept[key] = audio
        self._bytes += audio.samples.nbytes
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.samples.nbytes
