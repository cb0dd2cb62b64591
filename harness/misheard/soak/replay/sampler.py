"""Samples of a session that goes on: memory of this process, and what waits in its queues."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.soak.events import EventName
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.feeding import Emit
from misheard.soak.replay.queues import Inbox


class Sampler:
    """Takes a sample every `seconds` of the session's time; those that are missed are left out.

    Memory is what this process holds in RAM. Servers and programs that were started are not part of it.
    """

    def __init__(self, inboxes: Sequence[Inbox[Any]], seconds: float, clock: Clock) -> None:
        self._inboxes, self._seconds, self._clock = inboxes, seconds, clock

    def run(self, emit: Emit, stop: threading.Event) -> None:
        """Take samples, the first at once, until told to stop."""
        due = self._clock.now()
        while self._clock.sleep_until(due, stop):
            self.sample(emit)
            due += self._seconds
            now = self._clock.now()
            if due <= now:
                due = now + self._seconds

    def sample(self, emit: Emit) -> None:
        """Take one sample."""
        depths = {f"queue_{inbox.name}": inbox.depth for inbox in self._inboxes}
        emit(EventName.SAMPLE, memory_bytes=resident_bytes(), **depths)


def resident_bytes() -> int:
    """Return how much of this process is in RAM, in bytes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
