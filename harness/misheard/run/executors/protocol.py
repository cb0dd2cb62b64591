"""What carries out a batch plan: planned batches in, outcomes in plan order out."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from misheard.recognizers.protocol import AudioWindow
from misheard.run.plan import PlannedWindow
from misheard.stages.recognize import BatchOutcome

ReadWindow = Callable[[PlannedWindow], AudioWindow]
"""Cuts a window out of its recording; raises ItemFailedError where it can no longer be read."""


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch of the plan and its number there."""

    number: int
    windows: tuple[PlannedWindow, ...]


@dataclass(frozen=True, slots=True)
class DoneBatch:
    """What became of a planned batch.

    Attributes:
        number: of the batch in the plan.
        outcome: of its windows, in their order.
        decode_seconds: reading and decoding its recordings.
        wall_seconds: from the batch before to this one, as the run saw it: what goes on at the same time
            counts once.
        note: what else the journal keeps of it.
    """

    number: int
    outcome: BatchOutcome
    decode_seconds: float
    wall_seconds: float
    note: dict[str, Any] = field(default_factory=dict)


class RecognitionExecutor(Protocol):
    """A recognizer, here or elsewhere, that is given a whole plan.

    `load`, `warm_up`, `fingerprint`, `supports`, `whole_clips` and `close` are as in `Recognizer`.
    `loads_warm` says that `load` warms up as well, so that nothing is left to `warm_up`, nor a time to tell.
    `recognize` yields the batches in the order in which they are given. `facts` says how they were carried
    out, as JSON values for `run.json`.
    """

    @property
    def whole_clips(self) -> bool: ...

    @property
    def loads_warm(self) -> bool: ...

    def load(self) -> None: ...

    def warm_up(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def supports(self, language: str | None) -> bool: ...

    def recognize(self, batches: Sequence[PlannedBatch], read: ReadWindow) -> Iterator[DoneBatch]: ...

    def facts(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


def as_generator(
    executor: RecognitionExecutor, batches: Sequence[PlannedBatch], read: ReadWindow
) -> Generator[DoneBatch, None, None]:
    """Return the batches as a generator, which can be closed: nothing is read ahead then any more."""
    yield from executor.recognize(batches, read)
