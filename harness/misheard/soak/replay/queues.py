"""Bounded queues between threads: who would overfill one waits, and how long is measured."""

import threading
import time
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """The session has ended while a thread still worked for it."""


class Inbox(Generic[T]):
    """What waits before a stage, in order.

    Attributes:
        name: the stage.
        capacity: how many may wait.
        blocked_seconds: how long those who put something in have waited for room, all together.
    """

    def __init__(self, name: str, capacity: int) -> None:
        self.name = name
        self.capacity = capacity
        self.blocked_seconds = 0.0
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._is_stopped = False

    @property
    def depth(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def put(self, item: T) -> None:
        """Add an item; wait for room. Raises StoppedError where the session ends meanwhile."""
        with self._changed:
            if self._is_closed:
                raise ValueError(f"the queue of {self.name} is closed")
            if self.depth >= self.capacity and not self._is_stopped:
                began = time.perf_counter()
                self._changed.wait_for(lambda: self.depth < self.capacity or self._is_stopped)
                self.blocked_seconds += time.perf_counter() - began
            self._check()
            self._waiting.append(item)
            self._changed.notify_all()

    def take(self, most: int) -> list[T]:
        """Return what waits, at most so many, once there is anything; nothing after the last.

        Raises StoppedError where the session ends meanwhile.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed or self._is_stopped)
            self._check()
            taken = [self._waiting.popleft() for _ in range(min(most, self.depth))]
            self._changed.notify_all()
            return taken

    def close(self) -> None:
        """Say that nothing more comes."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End the waiting of all, now and from now on; what waits is let go."""
        with self._changed:
            self._is_stopped = True
            self._waiting.clear()
            self._changed.notify_all()

    def _check(self) -> None:
        if self._is_stopped:
            raise StoppedError
