"""The clock of a session: seconds since it began, never backward, whatever the machine's clock does."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

_LONGEST_WAIT = 0.5
"""Seconds after which a sleeper looks at the clock again: it may have jumped."""


class Clock(Protocol):
    """What the parts of a replay tell the time by.

    `begin` sets the time to 0. `now` is the time of the session, seconds; `steady` is for differences alone,
    seconds that no jump of the session's time touches. `sleep_until` returns whether the time has come: False
    where `stop` was set before.
    """

    def begin(self) -> None: ...

    def now(self) -> float: ...

    def steady(self) -> float: ...

    def jump(self, seconds: float) -> None: ...

    def sleep_until(self, t: float, stop: threading.Event) -> bool: ...


class SessionClock:
    """The time of a session by a clock of the machine.

    Where that clock, or `jump`, goes back, the session's time goes on from where it was; where it goes
    ahead, so does the session's.
    """

    def __init__(self, source: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._offset = -source()
        self._latest = 0.0

    def begin(self) -> None:
        """Begin the session now."""
        with self._lock:
            self._offset = -self._source()
            self._latest = 0.0

    def now(self) -> float:
        """Return the seconds since the session began."""
        with self._lock:
            now = self._source() + self._offset
            if now < self._latest:
                self._offset += self._latest - now
                now = self._latest
            self._latest = now
            return now

    def steady(self) -> float:
        """Return seconds whose differences are durations."""
        return time.perf_counter()

    def jump(self, seconds: float) -> None:
        """Let the clock jump, ahead or back."""
        self.now()
        with self._lock:
            self._offset += seconds

    def sleep_until(self, t: float, stop: threading.Event) -> bool:
        """Wait until the session's time is `t`; return False where `stop` was set before."""
        while (left := t - self.now()) > 0.0:
            if stop.wait(min(left, _LONGEST_WAIT)):
                return False
        return not stop.is_set()
