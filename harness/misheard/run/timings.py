"""Where a run's time went, summed from what its journal notes about each batch.

A resumed run adds up: a batch counts once, in the process that ran it, and what came from the journal counts
in no timing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from misheard.metrics.base import Arm
from misheard.run.journal import Batch
from misheard.run.plan import Plan

_ARM_SECONDS = {
    Arm.AUDIO: "llm_seconds",
    Arm.TRANSCRIPT: "clean_llm_seconds",
    Arm.CONTROL: "control_llm_seconds",
}


def summarise_timings(plan: Plan, recognize: Iterable[Batch], respond: Iterable[Batch]) -> dict[str, Any]:
    """Return seconds per phase and real-time factors; what the journal says nothing about is None.

    `rtf_inference` is recognizer inference over audio; `rtf_end_to_end` is decoding, features, inference and
    the audio arm's language model over audio. Both weigh by duration, leave model loading and the golden
    arms out, and are None without audio. The length of audio is the files' metadata's.
    """
    recognized = _sums(recognize, ("load", "warm_up", "plan", "decode", "features", "inference"))
    answers = list(respond)
    answered, language_model = _answered(answers), _sums(answers, ("load", "warm_up"))
    audio = sum(item.seconds for item in plan.items if item.seconds is not None and item.failure is None)
    pipeline = _sum(recognized["decode"], recognized["features"], recognized["inference"])
    if pipeline is not None and answered["llm_seconds"] is not None:
        pipeline += answered["llm_seconds"]
    return {
        "audio_seconds": audio,
        "recognizer_load_seconds": recognized["load"],
        "recognizer_warm_up_seconds": recognized["warm_up"],
        "plan_seconds": recognized["plan"],
        "decode_seconds": recognized["decode"],
        "features_seconds": recognized["features"],
        "inference_seconds": recognized["inference"],
        "language_model_load_seconds": language_model["load"],
        "language_model_warm_up_seconds": language_model["warm_up"],
        **answered,
        "rtf_inference": _ratio(recognized["inference"], audio),
        "rtf_end_to_end": _ratio(pipeline, audio),
    }


def _sums(batches: Iterable[Batch], names: Sequence[str]) -> dict[str, float | None]:
    """Return the seconds noted under each name, None where no batch notes any."""
    sums: dict[str, float | None] = dict.fromkeys(names)
    for batch in batches:
        for name in names:
            if f"{name}_seconds" in batch.note:
                sums[name] = (sums[name] or 0.0) + batch.note[f"{name}_seconds"]
    return sums


def _answered(batches: Iterable[Batch]) -> dict[str, float | None]:
    sums: dict[str, float | None] = dict.fromkeys(_ARM_SECONDS.values())
    for batch in batches:
        phase = batch.name.partition(":")[0]
        if phase in _ARM_SECONDS and "wall_seconds" in batch.note:
            name = _ARM_SECONDS[Arm(phase)]
            sums[name] = (sums[name] or 0.0) + batch.note["wall_seconds"]
    return sums


def _sum(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _ratio(seconds: float | None, audio: float) -> float | None:
    return seconds / audio if audio and seconds is not None else None
