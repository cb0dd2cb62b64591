"""The thread that samples: on a fixed schedule, at a bounded cost, never in the way of the run."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from misheard.telemetry.columns import Columns
from misheard.telemetry.readings import Reading

T = TypeVar("T")

MAX_SHARE = 0.01
"""Of one core, what sampling may take of the time; where it takes more, the interval is doubled."""

STOP_SECONDS = 5.0
"""How long the beginning and the end of a run wait for a sample that is being taken."""

_JUDGED_AFTER = 20
"""Samples before the cost is judged; the first ones load libraries and fill caches."""


def answer_in_time(ask: Callable[[], T]) -> T:
    """Return what a function says. Raises what it raises, and TimeoutError after `STOP_SECONDS`."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - it is raised where the answer is taken
            answer.set_exception(error)

    # a daemon, unlike the threads of a pool: the end of the process does not wait for it
    threading.Thread(target=run, name="misheard-driver", daemon=True).start()
    return answer.result(STOP_SECONDS)


class Sampler:
    """Takes samples every `interval_seconds` from `start` to `stop`, and one at each of them.

    A thread takes them all: a sensor that does not answer holds `start` and `stop` up for `STOP_SECONDS`.
    Where a sample is late, the ones that were missed are left out: there are never two in a burst. An
    exception ends the sampling, not the run; `ended` then names its type.

    Attributes:
        columns: what was sampled, by `time.monotonic()`.
        interval_seconds: now in force; doubled where samples would be too many or cost too much.
        thinned: how often every second sample was dropped.
        slowed: how often the interval was doubled for its cost alone.
        overhead_seconds: processor time of the sampling.
        ended: why it ended before its time, None where it did not.
    """

    def __init__(
        self, read: Callable[[], Mapping[str, Reading]], interval_seconds: float, columns: Columns
    ) -> None:
        self._read = read
        self._stopping = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="misheard-telemetry", daemon=True)
        self._judged_from: tuple[float, float, int] | None = None
        self.columns = columns
        self.interval_seconds = interval_seconds
        self.thinned = 0
        self.slowed = 0
        self.overhead_seconds = 0.0
        self.ended: str | None = None

    def start(self) -> None:
        """Start the thread and wait for its first sample, so that what follows is enclosed."""
        self._thread.start()
        self._first.wait(STOP_SECONDS)

    def stop(self) -> None:
        """Have the thread take the last sample and end."""
        self._stopping.set()
        # whoever is interrupted early has no thread yet
        if self._thread.ident is not None:
            self._thread.join(STOP_SECONDS)
        if self.is_stuck:
            self.ended = TimeoutError.__name__

    @property
    def is_stuck(self) -> bool:
        """Whether a sensor has not answered since the sampling was stopped; the thread still waits for it."""
        return self._stopping.is_set() and self._thread.is_alive()

    def sample(self) -> None:
        """Take one sample; the thread does this by itself."""
        if self._has_ended():
            return
        started = time.thread_time()
        try:
            # the time lies in the middle of the sample, which on many devices is not instant
            before = time.monotonic()
            readings = self._read()
            if self._has_ended():
                return  # the run has ended while a sensor did not answer
            self.columns.add((before + time.monotonic()) / 2, readings)
            if self.columns.thin_out():
                self.thinned += 1
                self.interval_seconds *= 2
        except Exception as error:  # noqa: BLE001 - whatever a driver does, the run goes on
            self.ended = type(error).__name__
        self.overhead_seconds += time.thread_time() - started

    def _has_ended(self) -> bool:
        return self.ended is not None

    def _run(self) -> None:
        began = time.thread_time()
        self.sample()
        self._first.set()
        due = time.monotonic() + self.interval_seconds
        while self.ended is None and not self._stopping.wait(max(0.0, due - time.monotonic())):
            self.sample()
            # the thread's own clock also counts what waiting costs
            self.overhead_seconds = time.thread_time() - began
            self._judge()
            now = time.monotonic()
            due += self.interval_seconds
            if due <= now:
                due = now + self.interval_seconds
        self.sample()

    def _judge(self) -> None:
        """Double the interval where the samples since the last judgement cost more than they may."""
        now, samples = time.monotonic(), len(self.columns)
        if self._judged_from is not None:
            since, cost, count = self._judged_from
            if 0 <= samples - count < _JUDGED_AFTER:
                return
            if samples >= count and self.overhead_seconds - cost > MAX_SHARE * (now - since):
                self.interval_seconds *= 2
                self.slowed += 1
        self._judged_from = (now, self.overhead_seconds, samples)
