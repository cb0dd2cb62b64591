"""The ways in which an item can fail.

A failure is an outcome, not an exception of the program: it is journaled, written to `failures.csv` and
counted beside every metric.
"""

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """Typed reasons; the text of an error is never used as an answer."""

    AUDIO_MISSING = "audio_missing"
    AUDIO_UNDECODABLE = "audio_undecodable"
    AUDIO_EMPTY = "audio_empty"
    AUDIO_TRUNCATED = "audio_truncated"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    EMPTY_TRANSCRIPT = "empty_transcript"
    ASR_ERROR = "asr_error"
    TIMEOUT = "timeout"
    LLM_ERROR = "llm_error"
    PROMPT_TOO_LONG = "prompt_too_long"
    INVALID_OUTPUT = "invalid_output"
    PLANNER_ERROR = "planner_error"
    RENDERER_ERROR = "renderer_error"
    BUDGET_EXHAUSTED = "budget_exhausted"


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed: the stage (`recognize`, `respond`, …), the kind, and a detail without transcript text."""

    stage: str
    kind: FailureKind
    detail: str


class ItemFailedError(Exception):
    """Raised below a stage where one item cannot go on; the stage turns it into a `Failure`."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
