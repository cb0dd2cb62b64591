"""Recordings and parts of them as files of the new suite: copied, linked, or cut without loss.

A clip holds exactly the samples that its recording decodes to: FLAC for integers of up to 24 bits, WAV of
32-bit floats for everything else, lossy codings among it. A recording is decoded once, in blocks, for all its
clips.
"""

import heapq
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from misheard.audio.reader import AudioInfo, AudioReader, open_audio
from misheard.audio.writing import SoundWriter
from misheard.failures import FailureKind, ItemFailedError
from misheard.suite.importers.rows import Clip

OVERSHOOT_SECONDS = 0.5
"""An end this far behind the recording's is the recording's end, as in Kaldi's extract-segments."""

WHOLE_SECONDS = 0.05
"""A clip from the start to within this of the end is the recording: manifests round durations."""

_OPEN_CLIPS = 64
_INTEGER_BITS = {"PCM_S8": 16, "PCM_U8": 16, "ULAW": 16, "ALAW": 16, "PCM_16": 16, "PCM_24": 24}
_FLAC_CHANNELS, _FLAC_RATE = 8, 655_350
_MAX_WAVE_BYTES = (1 << 32) - 4_096

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cut:
    """One clip to cut: its part of the recording, and the file to write, without a suffix."""

    clip: Clip
    target: Path


@dataclass(frozen=True, slots=True)
class _Frames:
    """A clip in frames of its recording."""

    start: int
    end: int
    channel: int | None
    place: int


def is_whole(clip: Clip | None, seconds: float, channels: int) -> bool:
    """Whether a clip is all of a recording."""
    if clip is None:
        return True
    whole_end = clip.end is None or seconds - WHOLE_SECONDS <= clip.end <= seconds + OVERSHOOT_SECONDS
    return clip.start == 0 and whole_end and (clip.channel is None or channels == 1)


def cut(path: Path, info: AudioInfo, cuts: Sequence[Cut]) -> list[Path | str]:
    """Write clips of a recording. Returns the file of each, or what is wrong with the clip.

    `info` is what `misheard.audio.decode.check` found. Raises ItemFailedError where a clip is too long.
    """
    out: list[Path | str] = ["" for _ in cuts]
    usable = []
    for place, wanted in enumerate(cuts):
        found = _frames(wanted.clip, place, info)
        if isinstance(found, str):
            out[place] = found
        else:
            usable.append(found)
    for together in _passes(usable):
        for place, written in _cut_pass(path, together, cuts):
            out[place] = written
    return out


def _frames(clip: Clip, place: int, info: AudioInfo) -> _Frames | str:
    rate, frames = info.sample_rate, info.frames
    start = round(clip.start * rate)
    end = frames if clip.end is None else round(clip.end * rate)
    if clip.channel is not None and clip.channel >= info.channels:
        return f"takes channel {clip.channel + 1} of a recording that has {info.channels}"
    if end > frames + OVERSHOOT_SECONDS * rate:
        return f"ends at {end / rate:.3f} s, and its recording has {frames / rate:.3f} s"
    if start >= frames:
        return f"begins at {start / rate:.3f} s, and its recording has {frames / rate:.3f} s"
    end = min(end, frames)
    if start >= end:
        return f"from {start / rate:.3f} s to {end / rate:.3f} s is empty"
    return _Frames(start, end, clip.channel, place)


def _passes(clips: Sequence[_Frames]) -> Iterator[list[_Frames]]:
    """Divide clips so that at most _OPEN_CLIPS files are open at once; a pass reads the recording once."""
    rest = sorted(clips, key=lambda clip: (clip.start, clip.end))
    while rest:
        ends: list[int] = []
        taken, left = [], []
        for clip in rest:
            while ends and ends[0] <= clip.start:
                heapq.heappop(ends)
            if len(ends) < _OPEN_CLIPS:
                heapq.heappush(ends, clip.end)
                taken.append(clip)
            else:
                left.append(clip)
        yield taken
        rest = left


def _cut_pass(path: Path, clips: Sequence[_Frames], cuts: Sequence[Cut]) -> Iterator[tuple[int, Path]]:
    """Read a recording once and write clips of it, which are sorted by their start."""
    waiting = list(reversed(clips))
    active: list[tuple[_Frames, _Writer]] = []
    with ExitStack() as stack, open_audio(path) as reader:
        position = 0
        for block in reader.blocks():
            end = position + len(block)
            while waiting and waiting[-1].start < end:
                clip = waiting.pop()
                writer = _writer(reader, cuts[clip.place].target, clip)
                stack.callback(writer.close)
                active.append((clip, writer))
            for clip, writer in active:
                part = block[max(0, clip.start - position) : clip.end - position]
                writer.write(part if clip.channel is None else part[:, [clip.channel]])
            for clip, writer in active:
                if clip.end <= end:
                    writer.close()
                    yield clip.place, writer.path
            active = [(clip, writer) for clip, writer in active if clip.end > end]
            position = end


class _Writer(Protocol):
    path: Path

    def write(self, samples: FloatArray) -> None: ...

    def close(self) -> None: ...


def _writer(reader: AudioReader, target: Path, clip: _Frames) -> _Writer:
    channels = reader.channels if clip.channel is None else 1
    bits = _INTEGER_BITS.get(reader.subtype)
    if bits is not None and channels <= _FLAC_CHANNELS and reader.sample_rate <= _FLAC_RATE:
        return _FlacWriter(target.with_name(f"{target.name}.flac"), reader.sample_rate, channels, bits)
    size = (clip.end - clip.start) * channels * 4
    if size > _MAX_WAVE_BYTES:
        raise ItemFailedError(FailureKind.AUDIO_UNDECODABLE, "a clip of it is longer than a WAV can be")
    return _WaveWriter(target.with_name(f"{target.name}.wav"), reader.sample_rate, channels, size)


class _FlacWriter:
    """Writes samples that came from integers back as integers, bit by bit."""

    def __init__(self, path: Path, rate: int, channels: int, bits: int) -> None:
        self.path = path
        self._scale = np.float32(1 << (bits - 1))
        self._type: Any = np.int16 if bits == 16 else np.int32
        self._shift = 0 if bits == 16 else 32 - bits
        self._file = SoundWriter(path, rate, channels, "FLAC", f"PCM_{bits}")

    def write(self, samples: FloatArray) -> None:
        # libsndfile scales floats by 2^15 when it reads them and by 2^15 - 1 when it writes them
        self._file.write((samples * self._scale).astype(self._type) << self._shift)

    def close(self) -> None:
        self._file.close()


class _WaveWriter:
    """Writes 32-bit floats; libsndfile would put the time of day into the file (chunk PEAK)."""

    def __init__(self, path: Path, rate: int, channels: int, size: int) -> None:
        self.path = path
        self._file: BinaryIO = path.open("xb")
        frame = 4 * channels
        form = struct.pack("<HHIIHHH", 3, channels, rate, rate * frame, frame, 32, 0)
        fact = struct.pack("<I", size // frame)
        chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"fact" + struct.pack("<I", 4) + fact
        self._file.write(b"RIFF" + struct.pack("<I", 4 + len(chunks) + 8 + size) + b"WAVE" + chunks)
        self._file.write(b"data" + struct.pack("<I", size))

    def write(self, samples: FloatArray) -> None:
        self._file.write(np.ascontiguousarray(samples, "<f4").tobytes())

    def close(self) -> None:
        self._file.close()
