"""Recordings in every format that is read, made by the tests themselves."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile


@dataclass(frozen=True)
class Form:
    """How one format is written: by libsndfile, or by FFmpeg where a codec is named."""

    suffix: str
    options: dict[str, Any] = field(default_factory=dict)
    codec: str = ""
    container: str = ""
    rate: int = 16_000
    lossless: bool = False
    bit_rate: int = 64_000

    def write(self, path: Path, samples: npt.NDArray[np.float32]) -> Path:
        """Write float32[n] or float32[n, channels], full scale 1."""
        if not self.codec:
            soundfile.write(path, samples, self.rate, **self.options)
        else:
            encode(path, self, samples)
        return path


def encode(path: Path, form: Form, samples: npt.NDArray[np.float32]) -> None:
    import av

    columns = samples.reshape(len(samples), -1)
    layout = {1: "mono", 2: "stereo"}[columns.shape[1]]
    with av.open(str(path), "w", format=form.container, options=form.options) as container:
        stream = container.add_stream(form.codec, rate=form.rate, layout=layout, bit_rate=form.bit_rate)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(columns.T), format="fltp", layout=layout)
        frame.sample_rate, frame.pts = form.rate, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


SNDFILE_FORMS = {
    "wav": Form("wav", {"format": "WAV", "subtype": "PCM_16"}, lossless=True),
    "wav8": Form("wav", {"format": "WAV", "subtype": "PCM_U8"}, lossless=True),
    "wav24": Form("wav", {"format": "WAVEX", "subtype": "PCM_24"}, lossless=True),
    "wav32": Form("wav", {"format": "WAV", "subtype": "PCM_32"}, lossless=True),
    "float": Form("wav", {"format": "WAV", "subtype": "FLOAT"}, lossless=True),
    "ulaw": Form("wav", {"format": "WAV", "subtype": "ULAW"}),
    "rf64": Form("rf64", {"format": "RF64", "subtype": "PCM_16"}, lossless=True),
    "aiff": Form("aiff", {"format": "AIFF", "subtype": "PCM_16"}, lossless=True),
    "au": Form("au", {"format": "AU", "subtype": "PCM_16"}, lossless=True),
    "sph": Form("sph", {"format": "NIST", "subtype": "PCM_16"}, lossless=True),
    "flac": Form("flac", {"format": "FLAC", "subtype": "PCM_16"}, lossless=True),
    "vorbis": Form("ogg", {"format": "OGG", "subtype": "VORBIS"}),
    "opus": Form("opus", {"format": "OGG", "subtype": "OPUS"}),
    "mp3": Form("mp3", {"format": "MP3"}),
}
FFMPEG_FORMS = {
    "m4a": Form("m4a", codec="aac", container="ipod"),
    "faststart": Form("m4a", {"movflags": "faststart"}, codec="aac", container="ipod"),
    "fragments": Form("mp4", {"movflags": "frag_keyframe+empty_moov"}, codec="aac", container="mp4"),
    "alac": Form("m4a", codec="alac", container="ipod", lossless=True),
    "mov": Form("mov", codec="pcm_s16be", container="mov", lossless=True),
    "3gp": Form("3gp", codec="libopencore_amrnb", container="3gp", rate=8_000, bit_rate=12_200),
    "webm": Form("webm", codec="libopus", container="webm", rate=48_000),
    "mkv": Form("mkv", codec="flac", container="matroska", lossless=True),
    "adts": Form("aac", codec="aac", container="adts"),
    "amr": Form("amr", codec="libopencore_amrnb", container="amr", rate=8_000, bit_rate=12_200),
    "wma": Form("wma", codec="wmav2", container="asf"),
    "wavpack": Form("wv", codec="wavpack", container="wv", lossless=True),
    "tta": Form("tta", codec="tta", container="tta", lossless=True),
    "oga": Form("oga", codec="flac", container="ogg", lossless=True),
}
FORMS = {**SNDFILE_FORMS, **FFMPEG_FORMS}


def wave(seconds: float, rate: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """A tone that comes and goes, with a little noise, at multiples of 1/128 so that 8 bits hold it."""
    time = np.arange(round(seconds * rate)) / rate
    samples = 0.5 * np.sin(2 * np.pi * 220 * time) * np.sin(2 * np.pi * 1.5 * time)
    samples += 0.02 * np.random.default_rng(seed).standard_normal(len(time))
    return (np.round(samples * 128) / 128).astype(np.float32)
