"""The session's audio as a microphone gives it: chunk by chunk, one piece of a recording in memory."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing

import numpy as np
import numpy.typing as npt

from misheard.audio.decode import check, stream
from misheard.audio.windows import SAMPLE_RATE
from misheard.errors import InputError
from misheard.failures import FailureKind, ItemFailedError
from misheard.soak.replay.values import CHUNK_SAMPLES, Chunk, Script, Segment
from misheard.suite.items import Item, Suite
from misheard.suite.mixing.seeds import generator

DITHER_AMPLITUDE = 2.0**-15
"""What a pause holds at most: the smallest step of 16-bit audio. No microphone gives zeros."""

_DITHER_SAMPLES = 1 << 16
_DITHER_BITS = 24

FloatArray = npt.NDArray[np.float32]
Read = Callable[[str], Generator[FloatArray]]
"""Gives the samples of an item at 16 kHz, float32[n] by float32[n]."""


def chunks(script: Script, read: Read, seed: int = 0) -> Iterator[Chunk]:
    """Yield the audio of a session: every sample of its segments once, in order.

    The last chunk is filled with zeros. Pauses hold dither, which depends on the seed and the place alone; so
    does what a recording lacks of the length that its segment has. Raises what `read` raises.
    """
    number = filled = 0
    item: str | None = None
    samples = np.zeros(CHUNK_SAMPLES, np.float32)
    for owner, piece in _pieces(script, read, seed):
        taken = 0
        while taken < len(piece):
            if filled == 0:
                item = owner
            size = min(CHUNK_SAMPLES - filled, len(piece) - taken)
            samples[filled : filled + size] = piece[taken : taken + size]
            filled, taken = filled + size, taken + size
            if filled == CHUNK_SAMPLES:
                yield Chunk(number, samples, item)
                number, filled, samples = number + 1, 0, np.zeros(CHUNK_SAMPLES, np.float32)
    if filled:
        yield Chunk(number, samples, item)


def suite_reader(suite: Suite) -> Read:
    """Return what reads the recordings of a suite; it raises InputError for one that cannot be decoded."""
    items = {item.id: item for item in suite.items}

    def read(name: str) -> Generator[FloatArray]:
        try:
            yield from stream(suite.audio_path(items[name]))
        except ItemFailedError as error:
            raise _undecodable(items[name], error) from error

    return read


def recordings(script: Script, suite: Suite) -> tuple[dict[str, str], dict[str, FailureKind]]:
    """Decode every recording that a session plays to its end, so that the session does not end with one.

    Returns the fingerprint of each by item, and why others cannot be decoded.
    """
    played = {segment.item for segment in script.segments}
    found, undecodable = {}, {}
    for item in suite.items:
        if item.id in played:
            try:
                found[item.id] = check(suite.audio_path(item)).sha256
            except ItemFailedError as error:
                undecodable[item.id] = error.kind
    return found, undecodable


def _undecodable(item: Item, error: ItemFailedError) -> InputError:
    return InputError(f"item {item.id}: {error}; mend the recording or leave the item out")


def _pieces(script: Script, read: Read, seed: int) -> Iterator[tuple[str | None, FloatArray]]:
    """Yield the segments in pieces, each with the item that it is of."""
    dither = _dither(seed)
    for segment in script.segments:
        position, end = round(segment.start * SAMPLE_RATE), round(segment.end * SAMPLE_RATE)
        if segment.item is not None:
            for piece in _played(segment, read(segment.item), end - position):
                position += len(piece)
                yield segment.item, piece
        while position < end:
            start = position % _DITHER_SAMPLES
            piece = dither[start : start + end - position]
            position += len(piece)
            yield segment.item, piece


def _played(segment: Segment, pieces: Generator[FloatArray], wanted: int) -> Iterator[FloatArray]:
    """Yield the part of a recording that a segment plays, in pieces; less where the recording is shorter."""
    skip = round(segment.offset * SAMPLE_RATE)
    with closing(pieces):
        for piece in pieces:
            part = piece[skip : skip + wanted]
            skip = max(0, skip - len(piece))
            wanted -= len(part)
            yield part
            if not wanted:
                break


def _dither(seed: int) -> FloatArray:
    """Return evenly distributed noise, made of whole numbers so that it is the same on every machine."""
    words = generator(seed, "dither").bit_generator.random_raw(_DITHER_SAMPLES)
    steps = (words >> np.uint64(64 - _DITHER_BITS)).astype(np.int64) - (1 << _DITHER_BITS - 1)
    return (steps / (1 << _DITHER_BITS - 1) * DITHER_AMPLITUDE).astype(np.float32)
