"""What a session may do: limits, which a small YAML file, `misheard-soak/1`, replaces one by one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from misheard.gate.options import Part, Reason, Seconds, Share, Span
from misheard.soak.options import load_part
from misheard.suite.problems import shown, suggestion

FORMAT = "misheard-soak/1"

STAGES = ("recognize", "correct", "plan", "render", "respond")

Size = Annotated[int, Field(strict=True, ge=0, le=2**50)]
Stage = Literal["recognize", "correct", "plan", "render", "respond"]


def known_check(name: str) -> str:
    """Return the name of a check of the mechanism. Raises ValueError for any other name."""
    from misheard.soak.checks.registry import CHECKS

    known = [check.name for check in CHECKS]
    if name not in known:
        raise ValueError(f"{shown(name)} is no check{suggestion(name, known)}")
    return name


CheckName = Annotated[str, Field(strict=True, min_length=1, max_length=80), AfterValidator(known_check)]

DEFAULT_LATENCY: Mapping[str, float] = {
    "recognize": 2.0, "correct": 2.0, "plan": 4.0, "render": 1.0, "respond": 4.0,
}  # fmt: skip
"""Seconds that the 95th percentile of a stage may take where the limits do not say."""


class Limits(Part):
    """What a session may do; see docs/soak.md.

    Attributes:
        format: `misheard-soak/1`.
        failed_share_at_most: of turns, those without any transcript because recognition failed.
        empty_share_at_most: of turns, those whose transcripts are all empty.
        failed_replies_at_most: of turns with a plan, an answer or a correction, those of which one failed.
        resolve_seconds: in which the turn after a failed one has its own outcome.
        merge_seconds: of the next turn's audio that a final may reach into.
        audio_gap_seconds: between two stretches of received audio.
        latency_p95_seconds: per stage.
        drift_seconds: by which the line through a stage's times may rise over the session.
        memory_rise_bytes: by which the line through the memory samples may rise over the session.
        memory_warm_up_seconds: after the first sample, in which memory may rise.
        queue_depth: of any queue.
        first_partial_p95_seconds, first_final_p95_seconds: from the opening of a turn.
        end_of_speech_lag_p95_seconds: from the end of speech to the final.
        rewritten_share_at_most: of the words that were shown, those changed afterwards.
        require: checks that decide also where what they look for never happened.
        waived: checks that do not decide, each with the reason.
    """

    format: Literal["misheard-soak/1"] = "misheard-soak/1"
    failed_share_at_most: Share = 0.0
    empty_share_at_most: Share = 0.1
    failed_replies_at_most: Share = 0.1
    resolve_seconds: Seconds = 30.0
    merge_seconds: Span = 0.5
    audio_gap_seconds: Span = 0.25
    latency_p95_seconds: Mapping[Stage, Seconds] = Field(default_factory=dict)
    drift_seconds: Seconds = 1.0
    memory_rise_bytes: Size = 100 * 2**20
    memory_warm_up_seconds: Span = 60.0
    queue_depth: Size = 64
    first_partial_p95_seconds: Seconds = 2.0
    first_final_p95_seconds: Seconds = 60.0
    end_of_speech_lag_p95_seconds: Seconds = 3.0
    rewritten_share_at_most: Share = 0.3
    require: Annotated[tuple[CheckName, ...], Field(max_length=100)] = ()
    waived: Annotated[Mapping[CheckName, Reason], Field(max_length=100)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        both = sorted({*self.require} & {*self.waived})
        if both:
            raise ValueError(f"{', '.join(both)}: give require or waived, not both")
        return self

    def latency(self, stage: str) -> float:
        """Return the budget of a stage in seconds."""
        given: Mapping[str, float] = {str(name): value for name, value in self.latency_p95_seconds.items()}
        return given.get(stage, DEFAULT_LATENCY[stage])


def load_limits(path: Path) -> Limits:
    """Read limits. Raises SoakError with every problem, InputError for what is no such file."""
    return load_part(path, Limits, FORMAT)
