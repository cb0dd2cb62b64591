"""What two threads of one run share: the state that both save, and how one learns that the other ended."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


class StoppedError(Exception):
    """The other thread ended the run; what is left undone is taken up by `--resume`."""


@dataclass(slots=True)
class Beside:
    """Shared by recognition and what is asked meanwhile.

    Attributes:
        lock: held while `run.json` changes.
        busy: set once the recognizer holds the memory that it needs, or has ended.
        failed: why recognition ended, where it did not finish.
        interrupt: ends what recognition waits for; set while there is something to end.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    busy: threading.Event = field(default_factory=threading.Event)
    failed: BaseException | None = None
    interrupt: Callable[[], None] | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Ask recognition to end, and end what it waits for."""
        self._stopped.set()
        if self.interrupt is not None:
            self.interrupt()

    def check_stopped(self) -> None:
        """Raise StoppedError where recognition was asked to end."""
        if self._stopped.is_set():
            raise StoppedError

    def check_failed(self) -> None:
        """Raise what recognition raised, if anything."""
        if self.failed is not None:
            raise self.failed
