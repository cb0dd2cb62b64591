"""Where a run's time went, summed from what its journal notes about each batch.

A resumed run adds up: a batch counts once, in the process that ran it, and what came from the journal counts
in no timing.
"""

from collections.abc import Iterable
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
    """Return seconds per phase and real-time factors.

    `rtf_inference` is recognizer inference over audio; `rtf_end_to_end` is decoding, features, inference and
    the audio arm's language model over audio. Both weigh by duration, leave model loading and the golden
    arms out, and are None without audio. The length of audio is the files' metadata's.
    """
    seconds = dict.fromkeys(("load", "warm_up", "plan", "decode", "features", "inference"), 0.0)
    for batch in recognize:
        for name in seconds:
            seconds[name] += batch.note.get(f"{name}_seconds", 0.0)
    answered = dict.fromkeys(_ARM_SECONDS.values(), 0.0)
    language_model = {"load": 0.0, "warm_up": 0.0}
    for batch in respond:
        phase = batch.name.partition(":")[0]
        if phase in _ARM_SECONDS:
            answered[_ARM_SECONDS[Arm(phase)]] += batch.note.get("wall_seconds", 0.0)
        for name in language_model:
            language_model[name] += batch.note.get(f"{name}_seconds", 0.0)
    audio = sum(item.seconds for item in plan.items if item.seconds is not None and item.failure is None)
    pipeline = seconds["decode"] + seconds["features"] + seconds["inference"] + answered["llm_seconds"]
    return {
        "audio_seconds": audio,
        "recognizer_load_seconds": seconds["load"],
        "recognizer_warm_up_seconds": seconds["warm_up"],
        "plan_seconds": seconds["plan"],
        "decode_seconds": seconds["decode"],
        "features_seconds": seconds["features"],
        "inference_seconds": seconds["inference"],
        "language_model_load_seconds": language_model["load"],
        "language_model_warm_up_seconds": language_model["warm_up"],
        **answered,
        "rtf_inference": seconds["inference"] / audio if audio else None,
        "rtf_end_to_end": pipeline / audio if audio else None,
    }
