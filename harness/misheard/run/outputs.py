"""From journal to outputs: what every arm produced for every item, with timings and flags.

Reads a suite, a plan and a journal and nothing else, so that scoring can be repeated without a model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.errors import IncompleteRunError
from misheard.failures import Failure, FailureKind
from misheard.metrics.base import Arm, ArmOutput
from misheard.metrics.table import TIMING_COLUMNS
from misheard.run.journal import Batch
from misheard.run.plan import Plan, PlannedItem
from misheard.stages.recognize import WindowOutcome, has_repetition, is_sparse, join_windows
from misheard.stages.respond import completion_failure
from misheard.suite.items import Item
from misheard.text.languages import primary_subtag

RECOGNITION_FLAGS = ("repetition", "token_limit", "sparse")
ANSWER_FLAGS = ("answer_truncated", "answer_retried")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs, timings (float64[n] by name) and flags (bool[n] by name) per arm, in suite order."""

    arms: Mapping[Arm, tuple[ArmOutput, ...]]
    timings: Mapping[Arm, Mapping[str, npt.NDArray[np.float64]]]
    flags: Mapping[Arm, Mapping[str, npt.NDArray[np.bool_]]]


@dataclass(frozen=True, slots=True)
class Recognized:
    """One item's transcript over all its windows, or why there is none."""

    transcript: str | None
    failure: Failure | None
    seconds: float
    flags: Mapping[str, bool]


def read_recognized(items: Sequence[Item], plan: Plan, batches: Iterable[Batch]) -> list[Recognized | None]:
    """Return what was recognized, per item in suite order; None where the journal does not have it yet."""
    outcomes: dict[tuple[str, int], WindowOutcome] = {}
    for batch in batches:
        for row in batch.rows:
            outcomes[row["item"], row["window"]] = WindowOutcome.from_row(row)
    speech: dict[str, list[float]] = {}
    for window in sorted(plan.windows, key=lambda w: w.index):
        speech.setdefault(window.item, []).append(window.speech_seconds)
    recognized: list[Recognized | None] = []
    for item, planned in zip(items, plan.items, strict=True):
        active = speech.get(item.id, [])
        found = [outcomes[item.id, i] for i in range(len(active)) if (item.id, i) in outcomes]
        complete = len(found) == len(active)
        recognized.append(_join(item, planned, found, active) if complete else None)
    return recognized


def _join(
    item: Item, planned: PlannedItem, outcomes: Sequence[WindowOutcome], active: Sequence[float]
) -> Recognized:
    if planned.failure is not None:
        return Recognized(None, planned.failure, 0.0, {})
    seconds = sum(outcome.seconds for outcome in outcomes)
    failed = next((o for o in outcomes if o.failure_kind is not None), None)
    if failed is not None and failed.failure_kind is not None:
        return Recognized(None, Failure("recognize", failed.failure_kind, failed.failure_detail), seconds, {})
    windows = [outcome.transcript for outcome in outcomes if outcome.transcript is not None]
    language = item.language or (windows[0].language if windows else None)
    text = join_windows([window.text for window in windows], primary_subtag(language))
    flags = {
        "repetition": any(map(has_repetition, windows)),
        "token_limit": any(bool(window.token_limit) for window in windows),
        "sparse": any(map(is_sparse, windows, active)),
    }
    failure: Failure | None = None
    if item.is_speech and not text:
        failure = Failure("recognize", FailureKind.EMPTY_TRANSCRIPT, "nothing was recognized in speech")
    return Recognized(text if failure is None else None, failure, seconds, flags)


def read_outputs(
    items: Sequence[Item],
    plan: Plan,
    recognized: Sequence[Recognized],
    arms: Sequence[Arm],
    respond_batches: Iterable[Batch],
    *,
    asks: bool,
) -> Outputs:
    """Return the outputs of every arm; `asks` says that a language model answers the questions.

    Raises IncompleteRunError for an item that has neither an output nor a failure: nothing is left out in
    silence.
    """
    completions: dict[str, dict[str, Any]] = {}
    answers: dict[tuple[str, str], str] = {}
    owner: dict[str, str] = {}
    for batch in respond_batches:
        for row in batch.rows:
            if "arm" in row:
                answers[row["arm"], row["item"]] = row["key"]
            else:
                completions[row["key"]] = row
                owner[row["key"]] = batch.name.partition(":")[0]
    builders = {arm: _ArmBuilder(len(items), arm) for arm in arms}
    for index, (item, planned, heard) in enumerate(zip(items, plan.items, recognized, strict=True)):
        for arm, builder in builders.items():
            key = answers.get((str(arm), item.id))
            completion = None if key is None else completions.get(key)
            if asks and completion is None and _must_answer(item, arm, heard):
                raise IncompleteRunError(
                    f"item {item.id} has no answer in the {arm} arm; go on with --resume"
                )
            builder.add(index, item, planned, heard, completion, fresh=key is None or owner[key] == str(arm))
    return Outputs(
        {arm: tuple(builder.outputs) for arm, builder in builders.items()},
        {arm: builder.timings for arm, builder in builders.items()},
        {arm: builder.flags for arm, builder in builders.items()},
    )


def _must_answer(item: Item, arm: Arm, heard: Recognized) -> bool:
    return item.reference_answer is not None and (arm is not Arm.AUDIO or heard.transcript is not None)


class _ArmBuilder:
    """Collects one arm, item after item."""

    def __init__(self, count: int, arm: Arm) -> None:
        self.arm = arm
        self.outputs: list[ArmOutput] = []
        self.timings = {name: np.full(count, np.nan) for name in TIMING_COLUMNS}
        names = (*RECOGNITION_FLAGS, *ANSWER_FLAGS) if arm is Arm.AUDIO else ANSWER_FLAGS
        self.flags = {name: np.zeros(count, np.bool_) for name in names}

    def add(
        self,
        index: int,
        item: Item,
        planned: PlannedItem,
        heard: Recognized,
        completion: dict[str, Any] | None,
        *,
        fresh: bool,
    ) -> None:
        """Add one item; `fresh` says that the completion ran in this arm, so that its time counts here."""
        transcript, failure = (
            (heard.transcript, heard.failure) if self.arm is Arm.AUDIO else (item.reference, None)
        )
        if self.arm is Arm.AUDIO:
            if planned.seconds is not None:
                self.timings["audio_seconds"][index] = planned.seconds
            if heard.seconds:
                self.timings["recognize_seconds"][index] = heard.seconds
            for name, value in heard.flags.items():
                self.flags[name][index] = value
        answer = None
        if completion is not None:
            answer = completion["text"]
            failure = completion_failure(completion)
            self._add_completion(index, completion, fresh=fresh)
        self.outputs.append(ArmOutput(transcript, answer, failure))

    def _add_completion(self, index: int, completion: dict[str, Any], *, fresh: bool) -> None:
        self.flags["answer_truncated"][index] = completion["finish_reason"] == "length"
        self.flags["answer_retried"][index] = completion["attempts"] > 1
        if fresh:
            self.timings["llm_seconds"][index] = completion["seconds"]
            for name in ("first_token_seconds", "prompt_tokens", "completion_tokens"):
                if completion[name] is not None:
                    self.timings[name][index] = completion[name]
