"""A report clip by clip, as one document: word error rates under several profiles side by side, and times.

Unlike report.json it pools every clip, those without speech included: their insertions count, as everything
else, over the sum of reference words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.failures import FailureKind
from misheard.report.values import Document
from misheard.scoring.texts import ItemCounts, TextSettings, count_texts, item_rows
from misheard.text.profiles import profile_named

FORMAT = "misheard-clips"
COMPARISON_FORMAT = "misheard-clips-comparison"
FORMAT_VERSION = 1

PROFILES = ("exact", "plain")

TIMES = ("audio_ms", "load_ms", "transcribe_ms", "process_ms")


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording: its truth, what was recognized or why nothing was, and its times in seconds.

    `hypothesis` is None for a clip that failed and is left out of the sums; one that failed and is scored as
    all wrong has empty text and its `failure` still set. `language` is its BCP-47 tag, None where none is
    given. A time is None where it was not told.
    """

    id: str
    reference: str
    language: str | None
    hypothesis: str | None
    failure: FailureKind | None
    audio_seconds: float | None
    load_seconds: float | None
    inference_seconds: float | None
    process_seconds: float | None


def build_clips_report(
    clips: Sequence[Clip], profiles: Sequence[str], *, run: Document, with_text: bool
) -> Document:
    """Return the report as JSON values; times are in milliseconds.

    Args:
        clips: in suite order.
        profiles: normalisation profiles to count words under.
        run: which suite and system it was, passed through.
        with_text: whether references and hypotheses are in it.

    Raises InputError for a profile that does not exist.
    """
    counts = {profile: _counts(clips, profile) for profile in profiles}
    scored = [clip for clip in clips if clip.hypothesis is not None]
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "run": run,
        "profiles": {profile: profile_named(profile).version for profile in profiles},
        "clips": [
            _clip_document(clip, {profile: counts[profile].get(clip.id) for profile in profiles}, with_text)
            for clip in clips
        ],
        "aggregate": {
            "clips": len(clips),
            "scored": len(scored),
            "failed": sum(clip.failure is not None for clip in clips),
            **_times([_clip_times(clip) for clip in scored]),
            "wer": {profile: _rates(list(counts[profile].values())) for profile in profiles},
        },
    }


def build_clips_comparison(
    runs: Sequence[tuple[str, Document, Sequence[Clip]]], profiles: Sequence[str]
) -> Document:
    """Return the sums of several runs over the same clips side by side, without text.

    `runs` are (name, which suite and system it was, clips in suite order). `transcripts_changed` counts the
    clips whose transcript differs from the first run's, a failure from a transcript included.
    """
    reports = [build_clips_report(clips, profiles, run=run, with_text=False) for _, run, clips in runs]
    first = [clip.hypothesis for clip in runs[0][2]]
    return {
        "format": COMPARISON_FORMAT,
        "format_version": FORMAT_VERSION,
        "profiles": reports[0]["profiles"],
        "runs": [
            {
                "name": name,
                "run": report["run"],
                "transcripts_changed": sum(
                    clip.hypothesis != before for clip, before in zip(clips, first, strict=True)
                ),
                "aggregate": report["aggregate"],
            }
            for (name, _, clips), report in zip(runs, reports, strict=True)
        ],
    }


def _counts(clips: Sequence[Clip], profile: str) -> dict[str, ItemCounts]:
    """Return substitutions, deletions, insertions and hits in words of every scored clip, by id."""
    by_language: dict[str | None, list[tuple[str, str, str]]] = {}
    for clip in clips:
        if clip.hypothesis is not None:
            pair = (clip.id, clip.reference, clip.hypothesis)
            by_language.setdefault(clip.language, []).append(pair)
    found: dict[str, ItemCounts] = {}
    for language, pairs in by_language.items():
        settings = TextSettings(profile, language=language)
        references = settings.normalised([reference for _, reference, _ in pairs])
        hypotheses = settings.normalised([hypothesis for _, _, hypothesis in pairs])
        counts = item_rows(count_texts(references, hypotheses, settings))
        found |= {identifier: row for (identifier, _, _), row in zip(pairs, counts, strict=True)}
    return found


def _clip_document(clip: Clip, counts: Mapping[str, ItemCounts | None], with_text: bool) -> Document:
    text = {"reference": clip.reference, "hypothesis": clip.hypothesis} if with_text else {}
    return {
        "id": clip.id,
        "failure": None if clip.failure is None else str(clip.failure),
        **_times([_clip_times(clip)]),
        "wer": {profile: None if row is None else _rates([row]) for profile, row in counts.items()},
        **text,
    }


def _clip_times(clip: Clip) -> dict[str, float | None]:
    seconds = (clip.audio_seconds, clip.load_seconds, clip.inference_seconds, clip.process_seconds)
    return dict(zip(TIMES, seconds, strict=True))


def _times(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the sum of each time in milliseconds, None where a row lacks it; and the real-time factor."""
    sums: dict[str, float | None] = {}
    for name in TIMES:
        values = [row[name] for row in rows]
        known = [value for value in values if value is not None]
        sums[name] = round(1000.0 * sum(known), 3) if rows and len(known) == len(values) else None
    audio, inference = sums["audio_ms"], sums["transcribe_ms"]
    sums["real_time_factor"] = inference / audio if audio and inference is not None else None
    return sums


def _rates(rows: Sequence[ItemCounts]) -> dict[str, Any]:
    """Return counts summed over rows and the word error rate of the sums, None without reference words."""
    substitutions, deletions, insertions, hits = (sum(row[column] for row in rows) for column in range(4))
    words = substitutions + deletions + hits
    edits = substitutions + deletions + insertions
    return {
        "reference_words": words,
        "hypothesis_words": substitutions + insertions + hits,
        "substitutions": substitutions,
        "deletions": deletions,
        "insertions": insertions,
        "hits": hits,
        "wer": edits / words if words else None,
    }
