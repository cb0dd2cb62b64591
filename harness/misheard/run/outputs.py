"""From journal to outputs: what every arm produced for every item, with timings and flags.

Reads a suite, a plan and a journal and nothing else, so that scoring can be repeated without a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from misheard.errors import IncompleteRunError
from misheard.failures import Failure
from misheard.metrics.base import Arm, ArmOutput, Correction
from misheard.metrics.table import TIMING_COLUMNS
from misheard.run.arms import HEARD
from misheard.run.boards import Boards, planned, read_boards
from misheard.run.plan import Plan, PlannedItem
from misheard.run.recognized import RECOGNITION_FLAGS, Recognized
from misheard.run.replies import Replies, replies_of
from misheard.stages.correct import read_correction
from misheard.stages.prompted import completion_failure
from misheard.suite.items import Item

ANSWER_FLAGS = ("answer_truncated", "answer_retried")
CORRECTION_FLAGS = ("correction_unused",)
_NONE = replies_of(())


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs, timings (float64[n] by name) and flags (bool[n] by name) per arm, in suite order."""

    arms: Mapping[Arm, tuple[ArmOutput, ...]]
    timings: Mapping[Arm, Mapping[str, npt.NDArray[np.float64]]]
    flags: Mapping[Arm, Mapping[str, npt.NDArray[np.bool_]]]


@dataclass(frozen=True, slots=True)
class StageReplies:
    """What the journals say of every stage after the recognition.

    Attributes:
        correct, respond, plans, boards, judge: per stage; without any where the system lacks it.
    """

    correct: Replies = _NONE
    respond: Replies = _NONE
    plans: Replies = _NONE
    boards: Replies = _NONE
    judge: Replies = _NONE


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asks for, so that a missing reply is told from one that was never wanted.

    Attributes:
        corrects: whether there is a corrector.
        answers, scenes: ids of the items that are answered, or planned and drawn.
        in_sessions: whether boards go on over a session.
    """

    corrects: bool = False
    answers: frozenset[str] = frozenset()
    scenes: frozenset[str] = frozenset()
    in_sessions: bool = False


def correction_of(text: str, row: Mapping[str, Any] | None) -> Correction | None:
    """Return what a completion of the correct journal makes of a transcript; None where it was not asked."""
    if row is None:
        return None
    return read_correction(text, row["text"], row["failure"], row["finish_reason"])


def read_outputs(
    items: Sequence[Item],
    plan: Plan,
    recognized: Sequence[Recognized],
    arms: Sequence[Arm],
    replies: StageReplies,
    asked: Asked,
) -> Outputs:
    """Return the outputs of every arm.

    Raises IncompleteRunError for an item that has neither an output nor a failure: nothing is left out in
    silence.
    """
    drawn = [item for item in items if item.id in asked.scenes]
    builders = []
    for arm in arms:
        builder = _ArmBuilder(
            len(items), arm, replies, asked, read_boards(arm, drawn, asked.in_sessions, replies.boards)
        )
        for index, (item, planned_item, heard) in enumerate(zip(items, plan.items, recognized, strict=True)):
            builder.add(index, item, planned_item, heard)
        builders.append(builder)
    return Outputs(
        {builder.arm: tuple(builder.outputs) for builder in builders},
        {builder.arm: builder.timings for builder in builders},
        {builder.arm: builder.flags for builder in builders},
    )


class _ArmBuilder:
    """Collects one arm, item after item."""

    def __init__(self, count: int, arm: Arm, replies: StageReplies, asked: Asked, boards: Boards) -> None:
        self.arm = arm
        self.outputs: list[ArmOutput] = []
        self.timings = {name: np.full(count, np.nan) for name in TIMING_COLUMNS}
        self._replies, self._asked, self._boards = replies, asked, boards
        names = (*RECOGNITION_FLAGS, *ANSWER_FLAGS) if arm is Arm.AUDIO else ANSWER_FLAGS
        names = (*names, *CORRECTION_FLAGS) if asked.corrects else names
        self.flags = {name: np.zeros(count, np.bool_) for name in names}

    def add(self, index: int, item: Item, planned_item: PlannedItem, heard: Recognized) -> None:
        """Add one item with everything that its arm made of it."""
        output = self._begin(index, item, planned_item, heard)
        if item.id in self._asked.answers or self._replies.respond.of(self.arm, item.id) is not None:
            output = self._answer(index, item, output)
        if item.id in self._asked.scenes:
            output = self._scene(index, item, output)
        self.outputs.append(output)

    def _begin(self, index: int, item: Item, planned_item: PlannedItem, heard: Recognized) -> ArmOutput:
        """Return what the arm begins with: a transcript, and its correction."""
        if self.arm is Arm.PLAN:
            return ArmOutput(item.reference)
        if self.arm not in HEARD:
            return self._corrected(index, item, ArmOutput(item.reference))
        if self.arm is Arm.AUDIO:
            if planned_item.seconds is not None:
                self.timings["audio_seconds"][index] = planned_item.seconds
            if heard.seconds:
                self.timings["recognize_seconds"][index] = heard.seconds
            for name, value in heard.flags.items():
                self.flags[name][index] = value
        return self._corrected(
            index,
            item,
            ArmOutput(heard.transcript, None, heard.failure, n_best=heard.n_best, segments=heard.segments),
        )

    def _corrected(self, index: int, item: Item, output: ArmOutput) -> ArmOutput:
        if output.transcript is None or not self._asked.corrects or self.arm is Arm.UNCORRECTED:
            return output
        row = self._replies.correct.of(self.arm, item.id)
        correction = correction_of(output.transcript, row)
        if row is None or correction is None:
            if self.arm is Arm.AUDIO and item.is_speech:
                raise self._missing(item, "correction")
            return output
        self.flags["correction_unused"][index] = correction.problem is not None
        if self._replies.correct.is_fresh(self.arm, item.id):
            self._time(index, "correct_seconds", row["seconds"])
            for name in ("prompt_tokens", "completion_tokens"):
                self._time(index, f"correct_{name}", row[name])
        return replace(output, correction=correction)

    def _answer(self, index: int, item: Item, output: ArmOutput) -> ArmOutput:
        row = self._replies.respond.of(self.arm, item.id)
        if row is None and (output.transcript is None or self.arm is Arm.PLAN):
            return output
        if row is None:
            raise self._missing(item, "answer")
        self._add_completion(
            index, row, "llm_seconds", fresh=self._replies.respond.is_fresh(self.arm, item.id)
        )
        return replace(output, answer=row["text"], failure=completion_failure(row))

    def _scene(self, index: int, item: Item, output: ArmOutput) -> ArmOutput:
        if output.transcript is None:
            return output
        row = self._replies.plans.of(self.arm, item.id)
        if row is not None:
            self._add_completion(
                index, row, "plan_seconds", fresh=self._replies.plans.is_fresh(self.arm, item.id)
            )
        plan = planned(self.arm, item, self._replies.plans)
        if plan is None:
            raise self._missing(item, "plan")
        if isinstance(plan, Failure):
            return replace(output, failure=plan)
        row = self._replies.boards.of(self.arm, item.id)
        if row is None:
            raise self._missing(item, "board")
        self._time(index, "render_seconds", row["seconds"])
        if item.id in self._boards.failures:
            return replace(output, plan=plan, failure=self._boards.failures[item.id])
        drawn = self._boards.drawn[item.id]
        return replace(output, plan=plan, board=drawn.board, refused=len(drawn.refused))

    def _missing(self, item: Item, what: str) -> IncompleteRunError:
        return IncompleteRunError(f"item {item.id} has no {what} in the {self.arm} arm; go on with --resume")

    def _add_completion(self, index: int, row: Mapping[str, Any], seconds: str, *, fresh: bool) -> None:
        """Note a completion; its time counts where it ran in this arm, and was not shared from another."""
        self.flags["answer_truncated"][index] = row["finish_reason"] == "length"
        self.flags["answer_retried"][index] = row["attempts"] > 1
        if fresh:
            self._time(index, seconds, row["seconds"])
            for name in ("first_token_seconds", "prompt_tokens", "completion_tokens"):
                self._time(index, name, row[name])

    def _time(self, index: int, column: str, value: float | None) -> None:
        if value is not None:
            self.timings[column][index] = value
