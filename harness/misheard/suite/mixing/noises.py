"""Noises to mix in: generated, from recordings, or from the voices of a suite's other sessions.

Every noise is a loop of at most 65 s (a recording: of its own length). Recordings and voices are entered at a
drawn place. The generated ones:

* `white`: Gaussian, equal power per Hz.
* `pink`: Gaussian with 3 dB less power per Hz and octave, flat below 20 Hz.
* `hum`: 50 Hz mains and its harmonics up to 800 Hz, the amplitude of harmonic k being 1/k, random phases.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from pathlib import Path
from typing import Protocol

import numpy as np

from misheard.audio.decode import DecodedAudio, decode
from misheard.audio.windows import SAMPLE_RATE
from misheard.errors import InputError
from misheard.failures import ItemFailedError
from misheard.suite.items import Item, Suite
from misheard.suite.mixing.levels import FloatArray, active_part, power
from misheard.suite.mixing.seeds import rank
from misheard.suite.problems import shown, suggestion

LOOP_SAMPLES = 1 << 20
BABBLE = "babble"
BABBLE_VOICES = 6
FEWEST_VOICES = 3
AUDIO_SUFFIXES = frozenset(
    {
        ".wav",
        ".flac",
        ".mp3",
        ".ogg",
        ".opus",
        ".m4a",
        ".aac",
        ".mp4",
        ".aiff",
        ".aif",
        ".au",
        ".sph",
        ".webm",
    }
)
MAX_FILES = 100_000

_PINK_LOWEST_HZ = 20.0
_MAINS_HZ = 50
_HARMONICS = 16


@dataclass(frozen=True, slots=True)
class Noise:
    """A loop float32[m] at 16 kHz that is entered at `start`; `name` says what it is made of."""

    name: str
    loop: FloatArray
    start: int = 0

    def block(self, first: int, count: int) -> FloatArray:
        """Return `count` samples from sample `first` of the noise on."""
        position = (self.start + first) % len(self.loop)
        parts = []
        while count > 0:
            part = self.loop[position : position + count]
            parts.append(part)
            count -= len(part)
            position = 0
        return np.concatenate(parts)


class NoiseSource(Protocol):
    """Makes the noise of an item."""

    def draw(self, item: Item, tier: str, samples: int, random: np.random.Generator) -> Noise: ...


@dataclass(frozen=True, slots=True)
class Generated:
    """A built-in generator."""

    name: str
    make: Callable[[int, np.random.Generator], FloatArray]

    def draw(self, item: Item, tier: str, samples: int, random: np.random.Generator) -> Noise:
        return Noise(self.name, self.make(min(samples, LOOP_SAMPLES), random))


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recordings, of which each item takes one; names are relative to what the user named."""

    files: tuple[tuple[str, Path], ...]

    def draw(self, item: Item, tier: str, samples: int, random: np.random.Generator) -> Noise:
        name, path = self.files[int(random.integers(len(self.files)))]
        try:
            audio = _decoded(path)
        except ItemFailedError as error:
            raise InputError(f"noise {shown(name)}: {error.kind}: {error.detail}") from error
        return Noise(f"file {name}", audio.samples, int(random.integers(len(audio.samples))))


@dataclass(frozen=True, slots=True)
class Babble:
    """Voices of other sessions at one level: six, or as many as there are, and at least three."""

    suite: Suite
    seed: int
    voices: tuple[Item, ...]

    def check(self) -> None:
        """Raise InputError where an item would lack voices."""
        by_session = Counter(voice.session for voice in self.voices if voice.session is not None)
        own = {voice.id for voice in self.voices if voice.session is None}
        for item in self.suite.items:
            alone = not own.isdisjoint((item.id, item.source))
            if (
                len(self.voices) - (by_session[item.session] if item.session is not None else 0) - alone
                < FEWEST_VOICES
            ):
                raise InputError(
                    f"item {item.id}: babble takes at least {FEWEST_VOICES} speech items of other sessions, "
                    "and the suite has fewer; use another --noise"
                )

    def draw(self, item: Item, tier: str, samples: int, random: np.random.Generator) -> Noise:
        others = (voice for voice in self.voices if _is_elsewhere(voice, item))
        chosen = nsmallest(BABBLE_VOICES, others, key=lambda voice: rank(self.seed, item.id, tier, voice.id))
        loop = np.zeros(min(samples, LOOP_SAMPLES), np.float32)
        for voice in sorted(chosen, key=lambda voice: voice.id):
            loop += self._voice(voice, len(loop), random)
        return Noise(f"{BABBLE} of {', '.join(sorted(voice.id for voice in chosen))}", loop)

    def _voice(self, voice: Item, length: int, random: np.random.Generator) -> FloatArray:
        try:
            samples = _decoded(self.suite.audio_path(voice)).samples
        except ItemFailedError as error:
            raise InputError(f"item {voice.id}: {error.kind}: {error.detail}") from error
        start = int(random.integers(len(samples)))
        level = np.sqrt(power(samples, active_part(samples)))
        said = Noise(voice.id, samples, start).block(0, length)
        return said / np.float32(level) if level > 0 else said


def _is_elsewhere(voice: Item, item: Item) -> bool:
    """Whether a voice is of another session than an item, and not the item itself."""
    if voice.session is not None and voice.session == item.session:
        return False
    return voice.id not in (item.id, item.source)


def read_noises(specs: Sequence[str], suite: Suite, seed: int) -> tuple[NoiseSource, ...]:
    """Return the noises that were asked for: names of generators, files, folders. Raises InputError."""
    return tuple(_read_noise(spec, suite, seed) for spec in specs)


def _read_noise(spec: str, suite: Suite, seed: int) -> NoiseSource:
    if spec in GENERATORS:
        return Generated(spec, GENERATORS[spec])
    if spec == BABBLE:
        voices = tuple(item for item in suite.items if item.is_speech and item.source is None)
        babble = Babble(suite, seed, voices)
        babble.check()
        return babble
    path = Path(spec)
    if path.is_file():
        return Recorded(((path.name, path),))
    if not path.is_dir():
        known = (*GENERATORS, BABBLE)
        raise InputError(f"--noise {shown(spec)}: no such file, folder or generator{suggestion(spec, known)}")
    files = tuple(_audio_files(path))
    if not files:
        raise InputError(f"--noise {shown(spec)}: the folder holds no recordings")
    return Recorded(files)


def _audio_files(folder: Path) -> list[tuple[str, Path]]:
    found = []
    for path in folder.rglob("*"):
        if path.suffix.lower() in AUDIO_SUFFIXES and path.is_file():
            found.append((path.relative_to(folder).as_posix(), path))
            if len(found) > MAX_FILES:
                raise InputError(f"--noise {shown(str(folder))}: more than {MAX_FILES} recordings")
    return sorted(found)


@lru_cache(maxsize=4)
def _decoded(path: Path) -> DecodedAudio:
    return decode(path)


def white(samples: int, random: np.random.Generator) -> FloatArray:
    """Return white Gaussian noise, float32[samples]."""
    return np.asarray(random.standard_normal(samples, np.float32))


def pink(samples: int, random: np.random.Generator) -> FloatArray:
    """Return pink Gaussian noise, float32[samples], by shaping a spectrum."""
    length = 1 << max(10, (samples - 1).bit_length())
    spectrum = np.fft.rfft(random.standard_normal(length))
    hertz = np.fft.rfftfreq(length, 1 / SAMPLE_RATE)
    shaped = spectrum / np.sqrt(np.maximum(hertz, _PINK_LOWEST_HZ))
    return np.fft.irfft(shaped, length)[:samples].astype(np.float32)


def hum(samples: int, random: np.random.Generator) -> FloatArray:
    """Return one second of mains hum, whole periods whatever `samples` is: float32[16000]."""
    numbers = np.arange(1, _HARMONICS + 1)[:, None]
    phases = random.uniform(0, 2 * np.pi, (_HARMONICS, 1))
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    waves = np.sin(2 * np.pi * _MAINS_HZ * numbers * time + phases) / numbers
    return np.asarray(waves.sum(axis=0), np.float32)


GENERATORS: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "white": white,
    "pink": pink,
    "hum": hum,
}
