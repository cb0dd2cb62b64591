"""One recognizer in this process, kept busy: the next batches are decoded while one is inferred."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

from misheard.recognizers.protocol import Features, OutOfMemoryError, Recognizer
from misheard.run.executors.protocol import DoneBatch, PlannedBatch, ReadWindow
from misheard.run.executors.reading import ReadBatch, read_batch
from misheard.stages.recognize import BatchOutcome, recognize_within_memory

_Ready = tuple[ReadBatch, Features | None]


class LocalExecutor:
    """Carries a plan out with a recognizer in this process.

    `read_ahead` batches are decoded and turned into features by one further thread. On a CPU nothing is read
    ahead: both would share its cores, and neither time could be told. `memory_cap` is what an earlier process
    of the run found to be the largest batch that fits.
    """

    def __init__(self, recognizer: Recognizer, read_ahead: int, memory_cap: int | None = None) -> None:
        self._recognizer = recognizer
        self._read_ahead = read_ahead
        self._cap = memory_cap

    @property
    def whole_clips(self) -> bool:
        return self._recognizer.whole_clips

    @property
    def loads_warm(self) -> bool:
        return False

    def load(self) -> None:
        self._recognizer.load()

    def warm_up(self) -> None:
        self._recognizer.warm_up()

    def fingerprint(self) -> dict[str, Any]:
        return self._recognizer.fingerprint()

    def supports(self, language: str | None) -> bool:
        return self._recognizer.supports(language)

    @property
    def memory_note(self) -> str | None:
        """How much of a GPU the recognizer's own server takes, where it has one."""
        note: str | None = getattr(self._recognizer, "memory_note", None)
        return note

    def facts(self) -> dict[str, Any]:
        return {"executor": "local", "memory_cap": self._cap}

    def close(self) -> None:
        self._recognizer.close()

    def recognize(self, batches: Sequence[PlannedBatch], read: ReadWindow) -> Iterator[DoneBatch]:
        began = time.perf_counter()
        for ready, features in self._ready(batches, read):
            found = BatchOutcome(())
            if ready.windows:
                windows = list(ready.windows.values())
                found, self._cap = recognize_within_memory(self._recognizer, windows, features, self._cap)
            note = {} if self._cap is None else {"memory_cap": self._cap}
            wall = time.perf_counter() - began
            yield DoneBatch(ready.number, ready.outcome(found), ready.seconds, wall, note)
            began = time.perf_counter()

    def _ready(self, batches: Sequence[PlannedBatch], read: ReadWindow) -> Iterator[_Ready]:
        if not self._read_ahead or self.fingerprint().get("device") == "cpu":
            for batch in batches:
                yield read_batch(batch, read), None
            return
        rest = iter(batches)
        with ThreadPoolExecutor(1, "misheard-reader") as pool:
            pending = deque(
                pool.submit(self._prepare, batch, read) for batch in islice(rest, self._read_ahead)
            )
            try:
                while pending:
                    ready = pending.popleft().result()
                    pending.extend(pool.submit(self._prepare, batch, read) for batch in islice(rest, 1))
                    yield ready
            finally:
                _cancel(pending)

    def _prepare(self, batch: PlannedBatch, read: ReadWindow) -> _Ready:
        """Read a batch and compute its features, unless it will be recognized in smaller pieces."""
        ready = read_batch(batch, read)
        if not ready.windows or (self._cap is not None and len(ready.windows) > self._cap):
            return ready, None
        try:
            return ready, self._recognizer.features(list(ready.windows.values()))
        except OutOfMemoryError:
            return ready, None


def _cancel(pending: deque[Future[_Ready]]) -> None:
    for future in pending:
        future.cancel()
