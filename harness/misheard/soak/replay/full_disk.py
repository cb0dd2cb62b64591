"""A disk that is full for a while, for what is written through it."""

import errno
import math
import os
import threading

from misheard.soak.replay.clock import Clock


class FullDisk:
    """Writes to file descriptors as `os.write` does, except while the disk is full.

    What fills a disk is seldom a whole line: the first write that finds it full still gets half of its
    bytes in, every further one raises OSError with ENOSPC.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._full_until = -math.inf
        self._has_room = False

    def fill(self, seconds: float) -> None:
        """Let the disk be full for so many seconds from now, or longer where it is already."""
        with self._lock:
            until = self._clock.steady() + seconds
            if self._is_full():
                self._full_until = max(self._full_until, until)
            else:
                self._full_until, self._has_room = until, True

    def free(self) -> None:
        """Let the disk take everything again."""
        with self._lock:
            self._full_until = -math.inf

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write bytes and return how many. Raises OSError."""
        with self._lock:
            if self._is_full():
                if not self._has_room or len(data) < 2:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._has_room = False
                data = data[: len(data) // 2]
        return os.write(descriptor, data)

    def _is_full(self) -> bool:
        return self._clock.steady() < self._full_until
