"""Batches on their way to Ray workers and back."""

from typing import Any

from misheard.failures import FailureKind
from misheard.run.executors.protocol import DoneBatch, PlannedBatch, ReadWindow
from misheard.run.executors.ray_crew import Crew, Lost
from misheard.run.executors.ray_worker import Broken, Recognized
from misheard.run.executors.reading import ReadBatch, read_batch
from misheard.stages.recognize import BatchOutcome, WindowOutcome


class Flights:
    """What is on its way: batches that were read, their windows in Ray's store, and answers to come."""

    def __init__(self, crew: Crew, read: ReadWindow) -> None:
        self.crew = crew
        self.refs: dict[Any, tuple[int, int]] = {}
        """References to answers: the worker and the batch."""
        self._read = read
        self._batches: dict[int, ReadBatch] = {}
        self._payloads: dict[int, Any] = {}

    def send(self, worker: int, batch: PlannedBatch, cap: int | None) -> bool:
        """Send a batch to a worker, read where it has not been; False: none of its windows can be read."""
        number = batch.number
        if number not in self._batches:
            ready = self._batches[number] = read_batch(batch, self._read)
            if not ready.windows:
                return False
            self._payloads[number] = self.crew.put(list(ready.windows.values()))
        self.refs[self.crew.recognize(worker, self._payloads[number], cap)] = worker, number
        return True

    def answer(self, ref: Any) -> tuple[int, Recognized | Broken | Lost]:
        """Take an answer that has arrived, or that its worker is lost, and the batch that it is about."""
        worker, number = self.refs[ref]
        answer = self.crew.answer(worker, ref)
        if not isinstance(answer, Lost):
            del self.refs[ref]
        return number, answer

    def forget(self, worker: int) -> None:
        """Wait no longer for the answers of a lost worker; its batches are kept."""
        self.refs = {ref: flight for ref, flight in self.refs.items() if flight[0] != worker}

    def done(self, number: int, found: BatchOutcome, note: dict[str, Any] | None = None) -> DoneBatch:
        """Return a batch with its outcome, and let go of its windows."""
        self._payloads.pop(number, None)
        ready = self._batches.pop(number)
        return DoneBatch(number, ready.outcome(found), ready.seconds, 0.0, note or {})

    def failed(self, number: int, reason: str) -> DoneBatch:
        """Return a batch of which every window that could be read has failed for one reason."""
        count = len(self._batches[number].windows)
        failed = WindowOutcome(None, FailureKind.ASR_ERROR, reason, 0.0)
        return self.done(number, BatchOutcome((failed,) * count))
