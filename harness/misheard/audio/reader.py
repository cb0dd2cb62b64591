"""Reading recordings block by block with libsndfile, and what makes one unusable.

A file that cannot be used raises ItemFailedError with `audio_missing`, `audio_undecodable`, `audio_empty` or
`audio_truncated`. Its detail names neither the item nor the file; who asks knows both.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from misheard.audio.containers import Layout, inspect
from misheard.audio.files import open_regular
from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.failures import FailureKind, ItemFailedError

FORMATS = frozenset({"WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3", "AIFF", "AU", "NIST"})
MAX_SECONDS = 24 * 3600
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 1_000, 768_000
MAX_CHANNELS = 64
MAX_AMPLITUDE = 100.0
"""Full scale is 1; a float file far beyond holds unscaled integers or garbage."""

_BLOCK_SAMPLES = 1 << 18
_UNKNOWN_FRAMES_SECONDS = 1 << 30
"""libsndfile gives 2^63 - 1 frames where a FLAC does not state its length."""


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the metadata says: frames per channel, Hz, channels, seconds, libsndfile's format and subtype."""

    frames: int
    sample_rate: int
    channels: int
    seconds: float
    format: str
    subtype: str


class AudioReader:
    """An open recording; `frames` is None where the container does not state it."""

    def __init__(self, sound: Any, truncated: str | None) -> None:
        self._sound = sound
        self._truncated = truncated
        self.sample_rate: int = sound.samplerate
        self.channels: int = sound.channels
        self.format: str = sound.format
        self.subtype: str = sound.subtype
        known = sound.frames < self.sample_rate * _UNKNOWN_FRAMES_SECONDS
        self.frames: int | None = sound.frames if known else None
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
        if self.frames is not None and seen < self.frames:
            raise self._cut(seen)

    def _read(self, size: int, seen: int) -> npt.NDArray[np.float32]:
        import soundfile

        try:
            block: npt.NDArray[np.float32] = self._sound.read(size, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise self._cut(seen) from error
        return block

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
    """Open a recording. Raises ItemFailedError, and BackendError where soundfile is not installed."""
    forward_sound_file = _forward_sound_file()
    with _open_file(path) as file:
        size = file.seek(0, io.SEEK_END)
        if size == 0:
            raise ItemFailedError(FailureKind.AUDIO_EMPTY, "the file has 0 bytes")
        layout = _inspect(file, size)
        # libsndfile reads from the descriptor's own position, which a seek of the buffered file may not move.
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        source: Any = _Spliced(layout.head, file, layout.offset) if layout.head else file.fileno()
        with _open_sound(forward_sound_file, source, layout) as sound:
            yield AudioReader(sound, layout.truncated)


def _open_file(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ItemFailedError(FailureKind.AUDIO_MISSING, "there is no such file") from error
    except OSError as error:
        raise _undecodable(f"it cannot be opened: {error.strerror}") from error


def _inspect(file: BinaryIO, size: int) -> Layout:
    try:
        return inspect(file, size)
    except OSError as error:
        raise _undecodable(f"it cannot be read: {error.strerror}") from error


def _open_sound(forward_sound_file: Any, source: Any, layout: Layout) -> Any:
    import soundfile

    try:
        return (
            forward_sound_file(source, closefd=False)
            if isinstance(source, int)
            else forward_sound_file(source)
        )
    except soundfile.LibsndfileError as error:
        if layout.truncated is not None:
            raise ItemFailedError(
                FailureKind.AUDIO_TRUNCATED, f"the file is cut: {layout.truncated}"
            ) from error
        raise _undecodable(f"libsndfile cannot open it: {error.error_string.strip()}") from error


@cache
def _forward_sound_file() -> Any:
    """Return a soundfile.SoundFile that reads forward only.

    soundfile seeks after every read of a seekable file. That fails at the end of a FLAC of unknown length and
    loses its last block; a file that says that it cannot seek is read on.
    """
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise BackendError(f"recordings are decoded with soundfile ({error}): {INSTALL_ADVICE}") from error

    class ForwardSoundFile(soundfile.SoundFile):  # type: ignore[misc]
        def seekable(self) -> bool:
            return False

    return ForwardSoundFile


class _Spliced(io.RawIOBase):
    """Reads as `head` followed by the content of `file` from `offset` on."""

    def __init__(self, head: bytes, file: BinaryIO, offset: int) -> None:
        self._head, self._file, self._offset = head, file, offset
        self._size = len(head) + file.seek(0, io.SEEK_END) - offset
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if self._position < len(self._head):
            part = self._head[self._position : self._position + len(view)]
        else:
            self._file.seek(self._position - len(self._head) + self._offset)
            part = self._file.read(len(view))
        view[: len(part)] = part
        self._position += len(part)
        return len(part)


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
