"""The threads of a session: the first that fails ends all, and so does whoever waits for them."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from misheard.soak.replay.queues import Inbox

_WAIT_SECONDS = 0.2


class Crew:
    """Threads that work on one session.

    Attributes:
        stop: set once the session ends, well or not; ends the sleep of its threads.
    """

    def __init__(self, inboxes: Sequence[Inbox[Any]]) -> None:
        self.stop = threading.Event()
        self._inboxes = tuple(inboxes)
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._threads: list[threading.Thread] = []
        self._working = 0

    def start(self, works: Mapping[str, Callable[[], None]], beside: Callable[[], None]) -> None:
        """Start a thread for each work, by name, and one for what goes on beside them until `stop` is set."""
        self._working = len(works)
        for name, work in works.items():
            self._start(name, work, self._has_ended)
        self._start("sampler", beside, lambda: None)

    def wait(self) -> None:
        """Wait until all work is done, and stop what goes on beside it.

        Raises what the first thread raised that failed.
        """
        # Ctrl-C just before a wait begins is noticed when it ends, so that none may be long
        while not self._done.wait(_WAIT_SECONDS):
            pass
        self.stop.set()
        while self._error is None and not self.join(_WAIT_SECONDS):
            pass
        if self._error is not None:
            raise self._error

    @property
    def has_failed(self) -> bool:
        """Whether the session ended before its time."""
        return self._error is not None

    def fail(self, error: BaseException) -> None:
        """End the session; the first error is the one that is raised."""
        with self._lock:
            if self._error is None:
                self._error = error
        self.stop.set()
        for inbox in self._inboxes:
            inbox.stop()
        self._done.set()

    def join(self, seconds: float) -> bool:
        """Wait for the threads to end; return whether they did."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            # whoever is interrupted early has threads that have not started
            with contextlib.suppress(RuntimeError):
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _start(self, name: str, work: Callable[[], None], ended: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - it is raised where the session is waited for
                self.fail(error)
            finally:
                ended()

        # a daemon: a recognizer that cannot be interrupted does not hold the end of the process up
        thread = threading.Thread(target=run, name=f"misheard-soak-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _has_ended(self) -> None:
        with self._lock:
            self._working -= 1
            if not self._working:
                self._done.set()
