"""Where a run's time went, summed from what its journal notes about each batch.

A resumed run adds up: a batch counts once, in the process that ran it, and what came from the journal counts
in no timing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from misheard.execution import Schedule
from misheard.metrics.base import Arm
from misheard.run.journal import Batch
from misheard.run.plan import Plan

_ARM_SECONDS = {
    Arm.AUDIO: "llm_seconds",
    Arm.TRANSCRIPT: "clean_llm_seconds",
    Arm.CONTROL: "control_llm_seconds",
}

_BATCH = "batch:"
_RECOGNIZE = ("load", "warm_up", "plan", "decode", "features", "inference", "program", "program_load")


_STAGE_SECONDS = {
    "correct": "correction_seconds",
    "plans": "planning_seconds",
    "boards": "rendering_seconds",
}


def summarise_timings(
    plan: Plan,
    recognize: Iterable[Batch],
    respond: Iterable[Batch],
    stages: Mapping[str, Sequence[Batch]] | None = None,
    schedule: Schedule = "serial",
) -> dict[str, Any]:
    """Return seconds per phase and real-time factors; what the journal says nothing about is None.

    `rtf_inference` is recognizer inference over audio; `rtf_end_to_end` is decoding, features, inference and
    what the audio arm took after it, over audio. Both weigh by duration, leave model loading and the golden
    arms out, and are None without audio. The length of audio is the files' metadata's; recordings that failed
    count in no factor. `program_seconds` is the wall time of a recognizer's programs,
    loading and failed ones included; where a program does not tell its inference apart, that is None.
    With the schedule `overlap` stages share the machine, and no factor is published; `rtf_reason` says so.
    """
    batches = list(recognize)
    recognized = _sums(batches, _RECOGNIZE)
    if any(_hides_inference(batch) for batch in batches):
        recognized["inference"] = None
    answers = list(respond)
    further = {name: list(batches) for name, batches in (stages or {}).items()}
    asked = [*answers, *(batch for listed in further.values() for batch in listed)]
    answered, language_model = _answered(answers), _sums(asked, ("load", "warm_up"))
    staged = {_STAGE_SECONDS[name]: _audio_seconds(listed) for name, listed in further.items()}
    audio = sum(item.seconds for item in plan.items if item.seconds is not None and item.failure is None)
    heard = audio - _failed_seconds(plan, batches)
    pipeline = _recognition_seconds(batches, recognized)
    if pipeline is not None:
        pipeline += sum(seconds or 0.0 for seconds in (answered["llm_seconds"], *staged.values()))
    return {
        "audio_seconds": audio,
        "recognizer_load_seconds": recognized["load"],
        "recognizer_warm_up_seconds": recognized["warm_up"],
        "plan_seconds": recognized["plan"],
        "decode_seconds": recognized["decode"],
        "features_seconds": recognized["features"],
        "inference_seconds": recognized["inference"],
        "program_seconds": recognized["program"],
        "program_load_seconds": recognized["program_load"],
        "language_model_load_seconds": language_model["load"],
        "language_model_warm_up_seconds": language_model["warm_up"],
        **answered,
        **staged,
        "rtf_inference": _ratio(recognized["inference"], heard) if schedule == "serial" else None,
        "rtf_end_to_end": _ratio(pipeline, heard) if schedule == "serial" else None,
        "rtf_reason": None if schedule == "serial" else "schedule overlap",
    }


def _recognition_seconds(batches: Sequence[Batch], recognized: Mapping[str, float | None]) -> float | None:
    """Return the seconds from recordings to transcripts; what went on at the same time counts once.

    Decoding for the batch plan comes before the first batch, so it is added to the batches' own wall time.
    Programs load a model each, which counts in no factor, so their inference is taken as they tell it.
    """
    parts = _sum(recognized["decode"], recognized["features"], recognized["inference"])
    done = [batch.note for batch in batches if batch.name.startswith(_BATCH)]
    if parts is None or recognized["program"] is not None or not all("wall_seconds" in note for note in done):
        return parts
    others = (batch.note for batch in batches if not batch.name.startswith(_BATCH))
    planned: float = sum(note.get("decode_seconds", 0.0) for note in others)
    walls: list[float] = [note["wall_seconds"] for note in done]
    return planned + sum(walls)


def _hides_inference(batch: Batch) -> bool:
    """Whether something was recognized in a time that the batch does not tell."""
    return "inference_seconds" not in batch.note and any(row.get("failure") is None for row in batch.rows)


def _failed_seconds(plan: Plan, batches: Iterable[Batch]) -> float:
    """Return the length of the recordings that were planned, and failed when they were recognized."""
    failed = {row["item"] for batch in batches for row in batch.rows if row.get("failure") is not None}
    return sum(item.seconds for item in plan.items if item.id in failed and item.seconds is not None)


def _sums(batches: Iterable[Batch], names: Sequence[str]) -> dict[str, float | None]:
    """Return the seconds noted under each name, None where no batch notes any."""
    sums: dict[str, float | None] = dict.fromkeys(names)
    for batch in batches:
        for name in names:
            if f"{name}_seconds" in batch.note:
                sums[name] = (sums[name] or 0.0) + batch.note[f"{name}_seconds"]
    return sums


def _answered(batches: Iterable[Batch]) -> dict[str, float | None]:
    """Return the seconds of the answers per arm; an arm without a corrector only where it was run."""
    sums: dict[str, float | None] = dict.fromkeys(_ARM_SECONDS.values())
    names = {**_ARM_SECONDS, Arm.UNCORRECTED: "uncorrected_llm_seconds"}
    for batch in batches:
        phase = batch.name.partition(":")[0]
        if phase in names and "wall_seconds" in batch.note:
            name = names[Arm(phase)]
            sums[name] = (sums.get(name) or 0.0) + batch.note["wall_seconds"]
    return sums


def _audio_seconds(batches: Iterable[Batch]) -> float | None:
    """Return the seconds of one stage in the audio arm; None where it ran in no batch of it."""
    found = [
        batch.note["wall_seconds"]
        for batch in batches
        if batch.name.partition(":")[0].partition(".")[0] == Arm.AUDIO and "wall_seconds" in batch.note
    ]
    return sum(found) if found else None


def _sum(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _ratio(seconds: float | None, audio: float) -> float | None:
    return seconds / audio if audio and seconds is not None else None
