"""The workbench of a check: recordings, recognizers, plans over recordings, and comparing words."""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from misheard.audio.decode import decode
from misheard.audio.windows import SAMPLE_RATE, WINDOW_SAMPLES
from misheard.recognizers.protocol import AudioWindow, WindowTranscript
from misheard.recognizers.settings import TransformersSettings
from misheard.run.executors.protocol import PlannedBatch
from misheard.run.plan import PlannedWindow
from misheard_kernels.small_inputs import count_edits


@dataclass(frozen=True)
class Recording:
    """A recording and what is said in it."""

    file: Path
    reference: str


@dataclass(frozen=True)
class Bench:
    """What a check works with. `folder` is as in `material`; `scratch` is for what a check makes."""

    folder: Path
    scratch: Path
    cpu: bool

    @property
    def model(self) -> Path:
        return self.folder / "model"

    @property
    def ctranslate2_model(self) -> Path | None:
        found = self.folder / "ctranslate2"
        return found if found.is_dir() else None

    @cached_property
    def recordings(self) -> tuple[Recording, ...]:
        rows = map(json.loads, (self.folder / "items.jsonl").read_text("utf-8").splitlines())
        found = [Recording(self.folder / row["audio"], row["reference"]) for row in rows]
        # a processor is slow: some of either kind of recording
        return tuple(found[:2] + found[-2:] if self.cpu and len(found) > 4 else found)

    @cached_property
    def clips(self) -> tuple[AudioWindow, ...]:
        """One window per recording."""
        return tuple(AudioWindow(decode(found.file).samples, "en") for found in self.recordings)

    def repeated(self, count: int) -> list[AudioWindow]:
        """Return so many windows: the recordings over and over."""
        return list(itertools.islice(itertools.cycle(self.clips), count))

    def full_windows(self, count: int) -> list[AudioWindow]:
        """Return so many windows of 30 s: the recordings one after the other, each beginning elsewhere."""
        joined = np.concatenate([clip.samples for clip in self.clips])
        joined = np.tile(joined, 2 + WINDOW_SAMPLES // len(joined))
        starts = [7919 * place % (len(joined) - WINDOW_SAMPLES) for place in range(count)]
        return [AudioWindow(joined[start : start + WINDOW_SAMPLES], "en") for start in starts]

    def recognizer(self, folder: Path | None = None, *, cpu: bool | None = None, **options: Any) -> Any:
        """Return a loaded recognizer `transformers`; `dtype` is that of either device."""
        from misheard.recognizers.transformers import TransformersRecognizer

        dtype = options.pop("dtype", "float32")
        on_cpu = self.cpu if cpu is None else cpu
        types = {"cpu_dtype": dtype} if on_cpu else {"dtype": dtype, "device": "cuda"}
        settings = TransformersSettings(model=str(folder or self.model), **types, **options)
        made = TransformersRecognizer(settings, cpu=on_cpu)
        made.load()
        return made


def heard(recognizer: Any, windows: Sequence[AudioWindow], size: int) -> list[WindowTranscript]:
    """Recognize windows in batches of `size`; raises RuntimeError where one has no transcript."""
    found = []
    for start in range(0, len(windows), size):
        found += recognizer.recognize(windows[start : start + size]).windows
    if not all(isinstance(one, WindowTranscript) for one in found):
        raise RuntimeError("a window has no transcript")
    return found


def texts(transcripts: Sequence[WindowTranscript]) -> list[str]:
    return [found.text for found in transcripts]


def planned(windows: Sequence[AudioWindow], size: int) -> list[PlannedBatch]:
    """Return a plan over windows that are named by their place."""
    batches = []
    for number, start in enumerate(range(0, len(windows), size)):
        part = [
            PlannedWindow(str(place), 0, 0, len(windows[place].samples), "", 0.0, number)
            for place in range(start, min(start + size, len(windows)))
        ]
        batches.append(PlannedBatch(number, tuple(part)))
    return batches


@dataclass(frozen=True)
class Difference:
    """How far two lists of texts are apart: `texts` that are not equal, and edits of words."""

    total: int
    texts: int
    words: int
    edits: int

    @property
    def rate(self) -> float:
        return self.edits / max(1, self.words)

    def __str__(self) -> str:
        return f"{self.texts} of {self.total} texts differ, {100 * self.rate:.1f} % of words"


def compare(reference: Sequence[str], hypothesis: Sequence[str]) -> Difference:
    """Count texts whose words are not the same, and the edits without regard to case and punctuation."""
    edits = words = 0
    for one, other in zip(reference, hypothesis, strict=True):
        plain = _plain(one)
        edits += sum(count_edits(plain, _plain(other))[:3])
        words += len(plain)
    unlike = sum(one.split() != other.split() for one, other in zip(reference, hypothesis, strict=True))
    return Difference(len(reference), unlike, words, edits)


def _plain(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def hours(windows: Sequence[AudioWindow]) -> float:
    return sum(len(window.samples) for window in windows) / SAMPLE_RATE / 3600
