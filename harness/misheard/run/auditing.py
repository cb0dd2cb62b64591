"""Audit: everything that a model was asked is asked again, in journals of its own, to see what changes."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from misheard.execution import ExecutionConfig
from misheard.metrics.base import Arm
from misheard.run.arms import Pass
from misheard.run.asking import Asker, Executor, Phase, R
from misheard.run.context import RunContext
from misheard.run.journal import Journal, read_batches
from misheard.run.replies import OF_ARM

ALONE = "alone"
"""The part of a recognizer's audit in which every window is a batch of its own."""


def repeats(execution: ExecutionConfig) -> range:
    """Return the numbers of the repetitions, from 1; none outside an audit."""
    return range(1, execution.repeats + 1) if execution.mode == "audit" else range(0)


def repetition(number: int) -> str:
    """Return the name of a repetition, of its phase and of its execution."""
    return f"repeat.{number}"


def audited_arm(arms: tuple[Arm, ...]) -> Arm:
    """Return the arm whose requests are asked again: the transcript arm, where the run has it."""
    return Arm.TRANSCRIPT if Arm.TRANSCRIPT in arms else Arm.AUDIO


def is_audited(path: Path, execution: ExecutionConfig) -> bool:
    """Whether a stage's audit journal has every repetition that the config asks for."""
    wanted = {OF_ARM + repetition(number) for number in repeats(execution)}
    done = {batch.name for batch in read_batches(path)} if wanted and path.is_file() else set()
    return done >= wanted


def ask_again(
    context: RunContext,
    stage: str,
    executor: Executor[Any],
    one: Pass,
    requests: Callable[[Arm, str], Mapping[str, R]],
) -> None:
    """Ask an arm's requests again, once per repetition, if this pass has the audited arm.

    `requests` returns the requests of an arm in an execution, by item. What fails here fails no item.
    """
    arm = audited_arm(context.arms)
    numbers = repeats(context.config.execution)
    if arm not in one.arms or not numbers:
        return
    with contextlib.closing(Journal(context.directory.audit(stage))) as journal:
        asker: Asker[Any] = Asker(context, "audit", journal, executor, lambda row: None)
        for number in numbers:
            name = repetition(number)
            asker.run(Phase(name, arm, f"audit of {stage}, {number} of {len(numbers)}"), requests(arm, name))
