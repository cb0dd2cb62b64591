"""The recognizer's audit: every window again, in the same batches and alone, in a journal of its own."""

import contextlib
from collections.abc import Iterator

from misheard.failures import FailureKind
from misheard.run.auditing import ALONE, repeats, repetition
from misheard.run.context import RunContext
from misheard.run.executors.protocol import PlannedBatch, ReadWindow, RecognitionExecutor, as_generator
from misheard.run.journal import Journal
from misheard.run.plan import Plan
from misheard.run.replies import OF_ARM


def audit_recognition(
    context: RunContext, plan: Plan, read: ReadWindow, executor: RecognitionExecutor
) -> None:
    """Recognize everything again: in the same batches once per repetition, and each window alone.

    Nothing happens outside an audit. What fails here fails no item.
    """
    if not repeats(context.config.execution):
        return
    with (
        contextlib.closing(Journal(context.directory.audit("recognize"))) as journal,
        context.measured.stage("audit", "recognition"),
    ):
        for name, title, batches in _parts(context, plan):
            left = [batch for batch in batches if _name(name, batch) not in journal.committed]
            context.progress.begin(f"audit of recognition, {title}", len(plan.windows))
            context.progress.advance(len(plan.windows) - sum(len(batch.windows) for batch in left))
            with contextlib.closing(as_generator(executor, left, read)) as done:
                for batch, one in zip(left, done, strict=True):
                    rows = [
                        {
                            "item": window.item,
                            "window": window.index,
                            "text": None if outcome.transcript is None else outcome.transcript.text,
                        }
                        for window, outcome in zip(batch.windows, one.outcome.windows, strict=True)
                        # what there was no time for is no change
                        if outcome.failure_kind is not FailureKind.BUDGET_EXHAUSTED
                    ]
                    journal.commit(_name(name, batch), rows, dict(one.note))
                    context.progress.advance(len(batch.windows))
                    context.beside.check_stopped()
            if OF_ARM + name not in journal.committed:
                journal.commit(OF_ARM + name, [], {})


def _parts(context: RunContext, plan: Plan) -> Iterator[tuple[str, str, list[PlannedBatch]]]:
    """Yield name, title and batches of what is recognized again.

    The last repetition comes last, and says that all is done.
    """
    alone = [PlannedBatch(number, (window,)) for number, window in enumerate(plan.windows)]
    yield ALONE, "each window alone", alone
    numbers = repeats(context.config.execution)
    for number in numbers:
        batches = [PlannedBatch(n, batch) for n, batch in enumerate(plan.batches())]
        yield repetition(number), f"{number} of {len(numbers)}", batches


def _name(part: str, batch: PlannedBatch) -> str:
    return f"{part}:batch:{batch.number}"
