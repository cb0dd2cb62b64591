"""Reading the windows of a planned batch, and putting outcomes and failed reads back into its order."""

import dataclasses
import time
from dataclasses import dataclass

from misheard.failures import ItemFailedError
from misheard.recognizers.protocol import AudioWindow
from misheard.run.executors.protocol import PlannedBatch, ReadWindow
from misheard.stages.recognize import BatchOutcome, WindowOutcome


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """The windows of a batch by their position in it, what failed to be read, and the seconds it took."""

    number: int
    size: int
    windows: dict[int, AudioWindow]
    failed: dict[int, WindowOutcome]
    seconds: float

    def outcome(self, found: BatchOutcome) -> BatchOutcome:
        """Return the outcome of the whole batch, given that of the windows that could be read."""
        outcomes = {**self.failed, **dict(zip(self.windows, found.windows, strict=True))}
        return dataclasses.replace(found, windows=tuple(outcomes[i] for i in range(self.size)))


def read_batch(batch: PlannedBatch, read: ReadWindow) -> ReadBatch:
    """Read the windows of one batch. A window that can no longer be read fails alone."""
    started = time.perf_counter()
    windows: dict[int, AudioWindow] = {}
    failed: dict[int, WindowOutcome] = {}
    for position, planned in enumerate(batch.windows):
        try:
            windows[position] = read(planned)
        except ItemFailedError as error:
            failed[position] = WindowOutcome(None, error.kind, error.detail, 0.0)
    return ReadBatch(batch.number, len(batch.windows), windows, failed, time.perf_counter() - started)
