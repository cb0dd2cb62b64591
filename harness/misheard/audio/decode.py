"""Recordings as every recognizer gets them: mono float32 samples at 16 kHz.

Sample formats are honoured (8 to 32-bit integers, floats). Channels are averaged; where they cancel each
other the loudest is taken, and `mixdown` says so. Memory stays bounded: recordings over ten minutes go
through a temporary file that the returned array maps.

The fingerprint of a recording is made so that it is the same on every machine. Lossless codings: the sha256
of sampling rate, channels and the samples as decoded (float32, little-endian, interleaved), before mixing and
resampling, whose last bits depend on the processor. Lossy codings (MP3, Vorbis, Opus, all that FFmpeg
decodes), whose decoders differ in the last bits too: the sha256 of the file's bytes. What turns the samples
into 16 kHz mono is named by `decoder_fingerprint`.
"""

import hashlib
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.audio.files import open_regular
from misheard.audio.reader import AudioInfo, AudioReader, open_audio
from misheard.audio.resample import BlockResampler
from misheard.audio.windows import SAMPLE_RATE
from misheard.errors import INSTALL_ADVICE, BackendError

SPOOL_SAMPLES = 600 * SAMPLE_RATE
"""Longer recordings (10 minutes) are kept in a temporary file instead of memory."""

CANCELLED_ENERGY = 1 / 16
"""Channels cancel where their mean has less than this share (-12 dB) of the loudest one's energy."""

_DECODER_VERSION = 1

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CheckedAudio:
    """A recording that decodes to its end, and its fingerprint."""

    info: AudioInfo
    sha256: str


@dataclass(frozen=True, slots=True)
class DecodedAudio:
    """A decoded recording.

    `samples` is float32[n], mono, 16 kHz, read-only, full scale 1. `mixdown` is `mono`, `mean`, or
    `channel k` (counted from 1) where the channels cancel. `sha256` is the fingerprint described above.
    """

    samples: FloatArray
    info: AudioInfo
    mixdown: str
    sha256: str


def decoder_fingerprint() -> dict[str, Any]:
    """Return what decides the samples that a file decodes to, as JSON values. Raises BackendError."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise BackendError(f"recordings are decoded with soundfile ({error}): {INSTALL_ADVICE}") from error
    versions = {name: _version(name) for name in ("av", "torchaudio")}
    return {"decoder": _DECODER_VERSION, "libsndfile": soundfile.__libsndfile_version__, **versions}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def probe(path: Path) -> AudioInfo:
    """Return the metadata of a recording without decoding it.

    Only where the container does not state its length (a FLAC or WebM written to a pipe, bare AAC) it is
    decoded and counted. Raises ItemFailedError for a file that its metadata already shows to be unusable.
    """
    with open_audio(path) as reader:
        frames = reader.frames
        if not frames:
            frames = sum(len(block) for block in reader.blocks())
        return reader.info(frames)


def check(path: Path, watch: Callable[[FloatArray], None] | None = None) -> CheckedAudio:
    """Decode a recording to its end without keeping it. Raises ItemFailedError.

    `watch` is called with every block of samples, float32[n, channels].
    """
    with open_audio(path) as reader:
        fingerprint = _Fingerprint(reader)
        for block in reader.blocks():
            fingerprint.add(block)
            if watch is not None:
                watch(block)
        return CheckedAudio(reader.info(fingerprint.frames), fingerprint.sha256(path))


def decode(path: Path) -> DecodedAudio:
    """Decode a recording. Raises ItemFailedError, and BackendError where a library is missing."""
    with open_audio(path) as reader, closing(_SampleStore()) as store:
        fingerprint, energies = _Fingerprint(reader), _Energies(reader.channels)
        resampler = BlockResampler(reader.sample_rate, SAMPLE_RATE)
        for block in reader.blocks():
            mixed = block[:, 0] if reader.channels == 1 else block.mean(axis=1, dtype=np.float32)
            fingerprint.add(block)
            energies.add(block, mixed)
            store.append(resampler.feed(mixed))
        store.append(resampler.finish())
        samples, info = store.samples(), reader.info(fingerprint.frames)
    channel = energies.instead_of_mean()
    if channel is not None:
        samples = _decode_channel(path, channel)
    mixdown = "mono" if info.channels == 1 else "mean" if channel is None else f"channel {channel + 1}"
    return DecodedAudio(samples, info, mixdown, fingerprint.sha256(path))


def stream(path: Path) -> Generator[FloatArray]:
    """Yield the samples that `decode` gives in pieces, float32[n], of which it keeps none.

    A recording with several channels is read twice, as the mixdown depends on all of it. Raises
    ItemFailedError, where a file is cut after what could be read, and BackendError.
    """
    with open_audio(path) as reader:
        energies = _Energies(reader.channels)
        for block in reader.blocks() if reader.channels > 1 else ():
            energies.add(block, block.mean(axis=1, dtype=np.float32))
    yield from _stream(path, energies.instead_of_mean())


def _stream(path: Path, channel: int | None) -> Generator[FloatArray]:
    """Yield one channel, or the mean of all, at 16 kHz."""
    with open_audio(path) as reader:
        only = 0 if reader.channels == 1 else channel
        resampler = BlockResampler(reader.sample_rate, SAMPLE_RATE)
        for block in reader.blocks():
            mixed = block.mean(axis=1, dtype=np.float32) if only is None else block[:, only]
            yield resampler.feed(np.ascontiguousarray(mixed))
        yield resampler.finish()


def _decode_channel(path: Path, channel: int) -> FloatArray:
    with closing(_SampleStore()) as store, closing(_stream(path, channel)) as pieces:
        for piece in pieces:
            store.append(piece)
        return store.samples()


class _Fingerprint:
    """The sha256 of a recording, and its number of frames."""

    def __init__(self, reader: AudioReader) -> None:
        self.frames = 0
        self._lossy = reader.lossy
        self._digest = hashlib.sha256(f"samples {reader.sample_rate} {reader.channels}\n".encode())

    def add(self, block: FloatArray) -> None:
        self.frames += len(block)
        if not self._lossy:
            # Adding 0 makes 0 of the -0 that only float files know.
            self._digest.update((block + np.float32(0)).astype("<f4", copy=False).tobytes())

    def sha256(self, path: Path) -> str:
        if not self._lossy:
            return self._digest.hexdigest()
        digest = hashlib.sha256(b"file\n")
        with open_regular(path) as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()


class _Energies:
    """Energies (without the constant part) of the channels and of their mean."""

    def __init__(self, channels: int) -> None:
        self._channels = channels
        self._frames = 0
        self._sums = np.zeros(channels + 1)
        self._squares = np.zeros(channels + 1)

    def add(self, block: FloatArray, mean: FloatArray) -> None:
        if self._channels == 1:
            return
        columns = np.column_stack([block, mean]).astype(np.float64)
        self._frames += len(columns)
        self._sums += columns.sum(axis=0)
        self._squares += np.square(columns).sum(axis=0)

    def instead_of_mean(self) -> int | None:
        """Return the channel (from 0) to take because the channels cancel; None where the mean serves."""
        if self._channels == 1:
            return None
        energies = self._squares - np.square(self._sums) / self._frames
        loudest = int(np.argmax(energies[:-1]))
        return loudest if energies[-1] < CANCELLED_ENERGY * energies[loudest] else None


class _SampleStore:
    """Collects samples: in memory, and beyond SPOOL_SAMPLES in an unnamed temporary file."""

    def __init__(self) -> None:
        self._parts: list[FloatArray] = []
        self._length = 0
        self._file: Any = None

    def append(self, samples: FloatArray) -> None:
        self._length += len(samples)
        self._parts.append(samples)
        if self._length > SPOOL_SAMPLES:
            self._spool()

    def samples(self) -> FloatArray:
        """Return everything as one read-only array."""
        if self._file is None:
            whole = np.concatenate(self._parts)
            whole.setflags(write=False)
            return whole
        # The mapping outlives the file: the space is freed when the array is gone.
        return np.memmap(self._file, np.float32, "r", shape=(self._length,))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _spool(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="misheard-")  # noqa: SIM115  (closed by close)
            for part in self._parts:
                self._file.write(np.ascontiguousarray(part))
            self._file.flush()
        except OSError as error:
            detail = (
                f"no space for a long recording in {tempfile.gettempdir()} ({error.strerror}); set TMPDIR"
            )
            raise BackendError(detail) from error
        self._parts.clear()
