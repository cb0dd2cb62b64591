"""Which batch is with which worker, which must run again, and which is next. Knows nothing of Ray."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from misheard.run.executors.protocol import PlannedBatch

LOSSES = 3
"""Workers that a batch may cost before it is given up."""

Result = TypeVar("Result")


class Course(Generic[Result]):
    """The way of a plan's batches over workers, which are known by number.

    Batches are begun in plan order and given out in plan order. A worker has at most `at_once`, and at most
    `held` are begun and not given out yet, so that a slow one does not pile up what comes after it. The
    batches of a lost worker run again first, each alone on its worker: whichever of them ends that one, too,
    is known to be the cause.
    """

    def __init__(self, batches: Sequence[PlannedBatch], *, at_once: int, held: int) -> None:
        self._waiting = deque(batches)
        self._order = deque(batch.number for batch in batches)
        self._again: deque[PlannedBatch] = deque()
        self._flying: dict[int, tuple[int, PlannedBatch]] = {}
        self._losses: Counter[int] = Counter()
        self._done: dict[int, Result] = {}
        self._at_once = at_once
        self._held = held

    @property
    def finished(self) -> bool:
        """Whether everything was given out."""
        return not self._order

    def assign(self, ready: Sequence[int]) -> tuple[int, PlannedBatch] | None:
        """Return a batch and the worker among the ready ones that is to have it now; None: not now."""
        load = Counter(worker for worker, _ in self._flying.values())
        if self._again:
            idle = next((worker for worker in ready if not load[worker]), None)
            return None if idle is None else self._begin(idle, self._again)
        if not self._waiting or len(self._flying) + len(self._done) >= self._held:
            return None
        alone = {worker for worker, batch in self._flying.values() if self._losses[batch.number]}
        able = [worker for worker in ready if load[worker] < self._at_once and worker not in alone]
        return self._begin(min(able, key=lambda worker: load[worker]), self._waiting) if able else None

    def _begin(self, worker: int, queue: deque[PlannedBatch]) -> tuple[int, PlannedBatch]:
        batch = queue.popleft()
        self._flying[batch.number] = (worker, batch)
        return worker, batch

    def landed(self, number: int, result: Result) -> None:
        """Take the result of a batch that was assigned."""
        del self._flying[number]
        self._done[number] = result

    def lost(self, worker: int) -> tuple[list[int], list[int]]:
        """Take back the batches of a lost worker.

        Returns the numbers of those that will run again, and of those that have cost too many workers: they
        are still in flight, for `landed` to tell what becomes of them.
        """
        flown = [batch for holder, batch in self._flying.values() if holder == worker]
        self._losses.update(batch.number for batch in flown)
        again = [batch for batch in flown if self._losses[batch.number] < LOSSES]
        for batch in again:
            del self._flying[batch.number]
        self._again.extend(again)
        given_up = [batch.number for batch in flown if self._losses[batch.number] >= LOSSES]
        return [batch.number for batch in again], given_up

    def due(self) -> Iterator[Result]:
        """Give out the results that are next in the plan."""
        while self._order and self._order[0] in self._done:
            yield self._done.pop(self._order.popleft())
