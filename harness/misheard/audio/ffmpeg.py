"""Decoding with FFmpeg's libraries, which the wheels of PyAV bring along: what libsndfile does not read.

A demuxer is chosen by the first bytes of the file, never guessed by FFmpeg, and reads the one open file: no
playlist, no other file, no network. The samples come in the codec's own format and are scaled here, 8 to
64-bit integers by their full scale.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from misheard.audio.sound import DamagedError
from misheard.errors import INSTALL_ADVICE, BackendError

DEMUXERS = (
    (4, b"ftyp", "mov", "MP4"),
    (4, b"moov", "mov", "MP4"),
    (4, b"mdat", "mov", "MP4"),
    (4, b"wide", "mov", "MP4"),
    (0, b"\x1a\x45\xdf\xa3", "matroska", "MATROSKA"),
    (0, b"\xff\xf1", "aac", "ADTS"),
    (0, b"\xff\xf9", "aac", "ADTS"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf", "ASF"),
    (0, b"#!AMR", "amr", "AMR"),
    (0, b"wvpk", "wv", "WAVPACK"),
    (0, b"TTA1", "tta", "TTA"),
    (28, b"\x7fFLAC", "ogg", "OGG"),
)
"""Where a file has which bytes, the demuxer that reads it, and its format's name."""

FORMATS = frozenset(name for *_, name in DEMUXERS)

_CHECKS = {"err_detect": "crccheck+explode"}

_NO_LENGTH = frozenset({"aac", "amr"})
"""FFmpeg guesses the length of these from the bit rate."""

_SLACK_SECONDS = 0.1
"""Lengths in milliseconds, and samples that encoders add in front, make declared lengths that much longer."""


def demuxer_of(head: bytes) -> tuple[str, str] | None:
    """Return (demuxer, format) for the first bytes of a file; None where it is not for FFmpeg."""
    for offset, magic, demuxer, name in DEMUXERS:
        if head[offset : offset + len(magic)] == magic:
            return demuxer, name
    return None


class FFmpegSound:
    """The first audio stream of a recording."""

    lossy = True

    def __init__(self, container: Any, demuxer: str, name: str) -> None:
        if not container.streams.audio:
            raise ValueError("it has no audio track")
        stream = container.streams.audio[0]
        if stream.codec_context is None:
            raise ValueError("its audio is in a coding that FFmpeg does not know")
        # Those of the container do not reach the decoder, which checks no sum (TTA, WavPack) unless told to.
        stream.codec_context.options = _CHECKS
        self._decoded = container.decode(stream)
        self.format, self.subtype = name, stream.codec_context.name.upper()
        # The container may state another rate than its stream has (HE-AAC): the first frame is asked.
        self._pending: Any = self._first_frame()
        self.sample_rate: int = self._pending.sample_rate
        self.channels = len(self._pending.layout.channels)
        self.slack = round(_SLACK_SECONDS * self.sample_rate)
        self.frames = None if demuxer in _NO_LENGTH else self._declared(container, stream)

    def read(self, frames: int) -> npt.NDArray[np.float32]:
        """Return the samples of as many packets as give `frames` frames."""
        parts: list[npt.NDArray[np.float32]] = []
        count = 0
        while count < frames and self._pending is not None:
            part = self._samples(self._pending)
            parts.append(part)
            count += len(part)
            self._pending = self._next_frame()
        return np.concatenate(parts) if parts else np.empty((0, self.channels), np.float32)

    def _declared(self, container: Any, stream: Any) -> int | None:
        if stream.duration:
            seconds = float(stream.duration * stream.time_base)
        elif container.duration and len(container.streams) == 1:
            # Of several streams the longest gives the container its length.
            late = float(stream.start_time * stream.time_base) if stream.start_time else 0.0
            seconds = container.duration / 1e6 - late
        else:
            return None
        return max(0, round(seconds * self.sample_rate))

    def _first_frame(self) -> Any:
        try:
            first = self._next_frame()
        except DamagedError as error:
            raise ValueError("its first audio cannot be decoded") from error
        if first is None:
            raise ValueError("it holds no audio")
        return first

    def _next_frame(self) -> Any:
        import av

        try:
            return next(self._decoded, None)
        except (av.error.FFmpegError, OSError) as error:
            raise DamagedError from error

    def _samples(self, frame: Any) -> npt.NDArray[np.float32]:
        if (frame.sample_rate, len(frame.layout.channels)) != (self.sample_rate, self.channels):
            raise DamagedError
        raw = frame.to_ndarray()
        samples = raw.T if frame.format.is_planar else raw.reshape(-1, self.channels)
        if samples.dtype == np.uint8:
            return np.asarray((samples.astype(np.float32) - 128) / 128, np.float32)
        if samples.dtype.kind == "i":
            scale = float(np.iinfo(samples.dtype).max) + 1
            return np.asarray(samples / scale, np.float32)
        return np.asarray(samples, np.float32)


@contextmanager
def open_ffmpeg(file: BinaryIO, demuxer: str, name: str) -> Iterator[FFmpegSound]:
    """Open a file that stands at its start. Raises ValueError with FFmpeg's reason, and BackendError."""
    try:
        import av
    except (ImportError, OSError) as error:
        detail = f"recordings in the format {name} are decoded with av ({error}): {INSTALL_ADVICE}"
        raise BackendError(detail) from error
    options = {"protocol_whitelist": "", **_CHECKS}
    try:
        container = av.open(_Bounded(file), format=demuxer, options=options, metadata_errors="replace")
    except (av.error.FFmpegError, OSError) as error:
        raise ValueError(f"FFmpeg cannot open it: {error.strerror}") from error
    with container:
        yield FFmpegSound(container, demuxer, name)


class _Bounded:
    """A file whose positions end with it: damaged containers point anywhere, which PyAV would print."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, io.SEEK_END)
        file.seek(0)
        self.read, self.tell = file.read, file.tell

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._file.tell(), io.SEEK_END: self._size}[whence]
        return self._file.seek(min(max(0, base + offset), self._size))
