"""Reading recordings block by block, with libsndfile or else FFmpeg, and what makes one unusable.

A file that cannot be used raises ItemFailedError with `audio_missing`, `audio_undecodable`, `audio_empty` or
`audio_truncated`. Its detail names neither the item nor the file; who asks knows both.
"""

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from misheard.audio import ffmpeg, sndfile
from misheard.audio.containers import Layout, inspect
from misheard.audio.files import open_regular
from misheard.audio.sound import DamagedError, Sound
from misheard.failures import FailureKind, ItemFailedError

FORMATS = frozenset({"WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3", "AIFF", "AU", "NIST"}) | ffmpeg.FORMATS
MAX_SECONDS = 24 * 3600
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 1_000, 768_000
MAX_CHANNELS = 64
MAX_AMPLITUDE = 100.0
"""Full scale is 1; a float file far beyond holds unscaled integers or garbage."""

_BLOCK_SAMPLES = 1 << 18
_HEAD_BYTES = 64


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the metadata says: frames per channel, Hz, channels, seconds, and names of format and coding."""

    frames: int
    sample_rate: int
    channels: int
    seconds: float
    format: str
    subtype: str


class AudioReader:
    """An open recording; `frames` is None where the container does not state it."""

    def __init__(self, sound: Sound, truncated: str | None) -> None:
        self._sound = sound
        self._truncated = truncated
        self.sample_rate = sound.sample_rate
        self.channels = sound.channels
        self.format = sound.format
        self.subtype = sound.subtype
        self.frames = sound.frames
        self.lossy = sound.lossy
        self._check()

    def info(self, frames: int) -> AudioInfo:
        """Return the metadata with this number of frames."""
        seconds = frames / self.sample_rate
        return AudioInfo(frames, self.sample_rate, self.channels, seconds, self.format, self.subtype)

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        """Yield all samples once as float32[n, channels], full scale 1; raises ItemFailedError."""
        seen = 0
        size = max(1, _BLOCK_SAMPLES // self.channels)
        while True:
            block = self._read(size, seen)
            if not len(block):
                break
            seen += len(block)
            if seen > MAX_SECONDS * self.sample_rate:
                raise _too_long()
            _check_samples(block)
            yield block
        if seen == 0:
            raise ItemFailedError(FailureKind.AUDIO_EMPTY, "no samples could be decoded")
        if self.frames is not None and seen < self.frames - self._sound.slack:
            raise self._cut(seen)

    def _read(self, size: int, seen: int) -> npt.NDArray[np.float32]:
        try:
            return self._sound.read(size)
        except DamagedError as error:
            raise self._cut(seen) from error

    def _cut(self, seen: int) -> ItemFailedError:
        declared = f" of {self.frames}" if self.frames is not None else ""
        detail = f"decoding stopped in the block after frame {seen}{declared}: the file is damaged or cut"
        return ItemFailedError(FailureKind.AUDIO_TRUNCATED, detail)

    def _check(self) -> None:
        if self.format not in FORMATS:
            raise _undecodable(f"the format {self.format} is not read; convert the file to WAV or FLAC")
        if not MIN_SAMPLE_RATE <= self.sample_rate <= MAX_SAMPLE_RATE:
            limits = f"{MIN_SAMPLE_RATE} to {MAX_SAMPLE_RATE} Hz"
            raise _undecodable(f"its sampling rate of {self.sample_rate} Hz is outside {limits}")
        if self.channels > MAX_CHANNELS:
            raise _undecodable(f"it has {self.channels} channels, more than {MAX_CHANNELS}")
        if self.frames == 0 and self.format != "OGG":
            raise ItemFailedError(FailureKind.AUDIO_EMPTY, "the file holds no samples")
        if self._truncated is not None:
            raise ItemFailedError(FailureKind.AUDIO_TRUNCATED, f"the file is cut: {self._truncated}")
        if self.frames is not None and self.frames > MAX_SECONDS * self.sample_rate:
            raise _too_long()


@contextmanager
def open_audio(path: Path) -> Iterator[AudioReader]:
    """Open a recording. Raises ItemFailedError, and BackendError where a library is not installed."""
    sndfile.require()
    with _open_file(path) as file:
        size = file.seek(0, io.SEEK_END)
        if size == 0:
            raise ItemFailedError(FailureKind.AUDIO_EMPTY, "the file has 0 bytes")
        layout, head = _inspect(file, size)
        file.seek(0)
        found = ffmpeg.demuxer_of(head)
        opened: Any = (
            sndfile.open_sndfile(file, layout) if found is None else ffmpeg.open_ffmpeg(file, *found)
        )
        with ExitStack() as stack:
            yield AudioReader(_entered(stack, opened, layout), layout.truncated)


def _entered(stack: ExitStack, opened: Any, layout: Layout) -> Sound:
    try:
        sound: Sound = stack.enter_context(opened)
    except ValueError as error:
        if layout.truncated is not None:
            detail = f"the file is cut: {layout.truncated}"
            raise ItemFailedError(FailureKind.AUDIO_TRUNCATED, detail) from error
        raise _undecodable(str(error)) from error
    return sound


def _open_file(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ItemFailedError(FailureKind.AUDIO_MISSING, "there is no such file") from error
    except OSError as error:
        raise _undecodable(f"it cannot be opened: {error.strerror}") from error


def _inspect(file: BinaryIO, size: int) -> tuple[Layout, bytes]:
    try:
        layout = inspect(file, size)
        file.seek(0)
        return layout, file.read(_HEAD_BYTES)
    except OSError as error:
        raise _undecodable(f"it cannot be read: {error.strerror}") from error


def _check_samples(block: npt.NDArray[np.float32]) -> None:
    # NaN fails every comparison, so it is caught here as well.
    if not np.abs(block).max() <= MAX_AMPLITUDE:
        if not np.isfinite(block).all():
            raise _undecodable("it holds samples that are not finite numbers")
        raise _undecodable(
            f"it holds float samples beyond {MAX_AMPLITUDE:g} times full scale; scale them to [-1, 1]"
        )


def _undecodable(detail: str) -> ItemFailedError:
    return ItemFailedError(FailureKind.AUDIO_UNDECODABLE, detail)


def _too_long() -> ItemFailedError:
    return _undecodable(f"it is longer than {MAX_SECONDS // 3600} hours; split it")
