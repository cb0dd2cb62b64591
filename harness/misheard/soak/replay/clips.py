"""The recordings of a suite as clips of a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from misheard.audio.activity import FRAME_SAMPLES, active_frames
from misheard.audio.decode import decode, probe
from misheard.audio.windows import SAMPLE_RATE
from misheard.errors import InputError
from misheard.failures import FailureKind, ItemFailedError
from misheard.soak.replay.microphone import recordings
from misheard.soak.replay.script import MIXED_MINUTES, Clip, stitch
from misheard.soak.replay.values import Script
from misheard.soak_config import SessionConfig
from misheard.suite.items import Item, Suite

_MARGIN_SAMPLES = SAMPLE_RATE // 10
"""A tenth of a second next to what is active belongs to it: speech may begin and end softly."""


_SHORTEST_SAMPLES = SAMPLE_RATE // 10
"""A shorter recording holds no word, and a session of them would have no end of segments."""


@dataclass(frozen=True, slots=True)
class Clips:
    """The recordings of speech of a suite, in its order, and why others of its items cannot be played."""

    usable: tuple[Clip, ...]
    unusable: Mapping[str, FailureKind]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session that can be played.

    Attributes:
        script: what is played when.
        recordings: fingerprints of what is played, by item.
        unusable: why items of speech cannot be played, of those that were looked at.
    """

    script: Script
    recordings: Mapping[str, str]
    unusable: Mapping[str, FailureKind]


def prepare(suite: Suite, config: SessionConfig, minutes: int) -> Prepared:
    """Return a session of so many minutes, of recordings that can be decoded to their end.

    Raises InputError where none is left, and BackendError where soundfile is not installed.
    """
    clips = clips_of(suite, config, minutes)
    usable, unusable = clips.usable, dict(clips.unusable)
    while True:
        script = stitch(usable, config, minutes)
        found, undecodable = recordings(script, suite)
        if not undecodable:
            return Prepared(script, found, unusable)
        unusable |= undecodable
        usable = tuple(clip for clip in usable if clip.item not in undecodable)
        if not usable:
            raise InputError(_nothing_to_play(suite, unusable))


def clips_of(suite: Suite, config: SessionConfig, minutes: int) -> Clips:
    """Return the recordings that a session of so many minutes is made of.

    Lengths are those that the files state. Where `stitch` makes long turns, every recording is decoded to
    find the silence at its ends. Raises InputError where no recording can be played, and BackendError where
    soundfile is not installed.
    """
    examine = _heard if config.source == "stitched" and minutes >= MIXED_MINUTES else _stated
    usable, unusable = [], {}
    for item in suite.items:
        if item.is_speech:
            try:
                clip = examine(item, suite.audio_path(item))
            except ItemFailedError as error:
                unusable[item.id] = error.kind
                continue
            if clip.samples < _SHORTEST_SAMPLES:
                unusable[item.id] = FailureKind.AUDIO_EMPTY
            else:
                usable.append(clip)
    if not usable:
        raise InputError(_nothing_to_play(suite, unusable))
    return Clips(tuple(usable), unusable)


def _stated(item: Item, path: Path) -> Clip:
    info = probe(path)
    samples = -(-info.frames * SAMPLE_RATE // info.sample_rate)
    return Clip(item.id, samples / SAMPLE_RATE, item.session, item.language)


def _heard(item: Item, path: Path) -> Clip:
    samples = decode(path).samples
    seconds = len(samples) / SAMPLE_RATE
    active = np.flatnonzero(active_frames(samples)) * FRAME_SAMPLES
    if not len(active):
        return Clip(item.id, seconds, item.session, item.language)
    before = max(0, int(active[0]) - _MARGIN_SAMPLES)
    after = max(0, len(samples) - int(active[-1]) - FRAME_SAMPLES - _MARGIN_SAMPLES)
    return Clip(item.id, seconds, item.session, item.language, before / SAMPLE_RATE, after / SAMPLE_RATE)


def _nothing_to_play(suite: Suite, unusable: Mapping[str, FailureKind]) -> str:
    what = f"suite {suite.name}: a session needs at least one recording of speech that can be played"
    if not unusable:
        return f"{what}, and no item of the suite is one"
    item, kind = next(iter(unusable.items()))
    return f"{what}: {len(unusable)} cannot, such as item {item} ({kind}); run `misheard suite validate`"
