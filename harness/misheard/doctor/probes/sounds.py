"""Writes and reads a tone in several codings with libsndfile, or reads them with FFmpeg's libraries.

python -P -m misheard.doctor.probes.sounds soundfile|av
"""

import io
import sys

import numpy as np
import numpy.typing as npt

from misheard.doctor.probes import die_with_parent, tell
from misheard.doctor.probes.libraries import import_all

_RATE = 16_000
_CODINGS = (("WAV", "PCM_16"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III"))
_DECODERS = ("aac", "mp3", "opus", "vorbis", "flac")


def main(library: str) -> None:
    """Say how a library does."""
    if not import_all([f"{library}={library}"]):
        return
    if library == "av":
        _ffmpeg()
    else:
        _sndfile()


def _ffmpeg() -> None:
    """Encode a tone as FLAC and read it back; other codings must have a decoder."""
    import av

    refused = [name for name in _DECODERS if name not in av.codecs_available]
    file = io.BytesIO()
    with av.open(file, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=_RATE)
        stream.layout = "mono"
        tone = (_tone() * 32_767).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(tone, format="s16", layout="mono")
        frame.sample_rate = _RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with av.open(io.BytesIO(file.getvalue())) as container:
        if sum(frame.samples for frame in container.decode(audio=0)) != tone.size:
            refused.append("a tone of our own")
    tell(avcodec=".".join(map(str, av.library_versions["libavcodec"])), refused=refused)


def _sndfile() -> None:
    import soundfile

    tone, refused = _tone(), []
    for name, subtype in _CODINGS:
        file = io.BytesIO()
        try:
            soundfile.write(file, tone, _RATE, format=name, subtype=subtype)
            read, _ = soundfile.read(io.BytesIO(file.getvalue()))
        except (soundfile.LibsndfileError, ValueError):
            refused.append(name)
            continue
        if len(read) < len(tone):
            refused.append(name)
    tell(sndfile=str(soundfile.__libsndfile_version__), refused=refused)


def _tone() -> npt.NDArray[np.float32]:
    return (0.3 * np.sin(2 * np.pi * 440 * np.arange(_RATE // 10) / _RATE)).astype(np.float32)


if __name__ == "__main__":
    die_with_parent()
    main(sys.argv[1])
