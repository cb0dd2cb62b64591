"""Decoding with libsndfile."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from misheard.audio.containers import Layout
from misheard.audio.sound import DamagedError
from misheard.errors import INSTALL_ADVICE, BackendError

_UNKNOWN_FRAMES_SECONDS = 1 << 30
"""libsndfile gives 2^63 - 1 frames where a FLAC does not state its length."""

_LOSSY = ("VORBIS", "OPUS", "MPEG")
_LENGTH_GUESSED = ("MPEG_LAYER_I", "MPEG_LAYER_II")
"""libmpg123 takes the length of these from the bit rate, and is off by some frames."""


class SndfileSound:
    """A recording that libsndfile reads."""

    slack = 0

    def __init__(self, sound: Any) -> None:
        self._sound = sound
        self.sample_rate: int = sound.samplerate
        self.channels: int = sound.channels
        self.format: str = sound.format
        self.subtype: str = sound.subtype
        self.lossy = self.subtype.startswith(_LOSSY)
        known = sound.frames < self.sample_rate * _UNKNOWN_FRAMES_SECONDS
        known = known and self.subtype not in _LENGTH_GUESSED
        self.frames: int | None = sound.frames if known else None

    def read(self, frames: int) -> npt.NDArray[np.float32]:
        """Return up to `frames` frames."""
        import soundfile

        try:
            block: npt.NDArray[np.float32] = self._sound.read(frames, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise DamagedError from error
        return block


def require() -> None:
    """Raise BackendError where soundfile is not installed."""
    _forward_sound_file()


@contextmanager
def open_sndfile(file: BinaryIO, layout: Layout) -> Iterator[SndfileSound]:
    """Open a file that stands at its start. Raises ValueError with libsndfile's reason."""
    import soundfile

    forward = _forward_sound_file()
    try:
        if layout.head:
            sound = forward(_Spliced(layout.head, file, layout.offset))
        else:
            # libsndfile reads from the descriptor's own position, which a seek of the buffered file may not
            # move. Moved like this, the file can no longer be read through its buffer.
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            sound = forward(file.fileno(), closefd=False)
    except soundfile.LibsndfileError as error:
        raise ValueError(f"libsndfile cannot open it: {error.error_string.strip()}") from error
    with sound:
        yield SndfileSound(sound)


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
