"""Writing the trace of a session that goes on while the disk is full, and never leaves half a line."""

import errno
import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from misheard.soak.events import FORMAT, read_event
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.queues import StoppedError

MOST_WAITING = 100_000
"""Events that are kept in memory where the disk takes none."""

_FLUSH_SECONDS = 1.0
_FLUSH_EVENTS = 1_000
_BLOCK_LINES = 500
_RETRY_SECONDS = 0.2
_MAY_PASS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The disk, a quota or a limit takes no more for now."""


class TraceWriter:
    """A new trace. Any thread may write to it; every event is checked and gets the time of the session.

    Events are written once a second and at the end, when they also reach the disk. While the disk is full
    they are kept, at most MOST_WAITING. `write` writes bytes to a file descriptor, as `os.write` does.
    Raises OSError, with the path, where the file is there already or cannot be made.
    """

    def __init__(self, path: Path, clock: Clock, write: Callable[[int, memoryview], int] = os.write) -> None:
        self._path = path
        self._clock = clock
        self._write = write
        self._lock = threading.Lock()
        self._waiting = deque([_line({"format": FORMAT})])
        self._counts: Counter[str] = Counter()
        self._size = 0
        self._next_flush = 0.0
        self._refused: OSError | None = None
        self._is_closed = False
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)

    @property
    def counts(self) -> dict[str, int]:
        """How many events of each name there are."""
        with self._lock:
            return dict(self._counts)

    def emit(self, event: str, **fields: Any) -> None:
        """Add an event now.

        Raises EventError for one that no trace has, OSError where the disk has been full for too long, and
        StoppedError after `close`.
        """
        with self._lock:
            if self._is_closed:
                raise StoppedError
            row = {"event": str(event), "t": self._clock.now(), **fields}
            row = {key: round(value, 6) if type(value) is float else value for key, value in row.items()}
            read_event(row, line=0)
            self._waiting.append(_line(row))
            self._counts[row["event"]] += 1
            now = time.monotonic()
            if now >= self._next_flush or (self._refused is None and len(self._waiting) >= _FLUSH_EVENTS):
                self._next_flush = now + _FLUSH_SECONDS
                self._flush()
            if self._refused is not None and len(self._waiting) > MOST_WAITING:
                raise self._refused

    def close(self, patience: float = 60.0) -> None:
        """Write what waits, and see to it that it reaches the disk; further calls do nothing.

        Raises OSError where the disk is full for `patience` seconds more; the file then ends with the last
        event that it took.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            try:
                self._flush_in(patience)
                os.fsync(self._file)
            finally:
                os.close(self._file)

    def _flush_in(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        self._flush()
        while self._refused is not None:
            if time.monotonic() >= deadline:
                raise self._refused
            time.sleep(_RETRY_SECONDS)
            self._flush()

    def _flush(self) -> None:
        """Write what waits; what the disk does not take goes on waiting, and nothing of it is left there."""
        self._refused = None
        while self._waiting:
            lines = [self._waiting[place] for place in range(min(_BLOCK_LINES, len(self._waiting)))]
            block = b"".join(lines)
            try:
                self._write_all(block)
            except BaseException as error:
                # Ctrl-C leaves no part of a line either
                os.ftruncate(self._file, self._size)
                if not isinstance(error, OSError):
                    raise
                refused = OSError(error.errno, error.strerror, str(self._path))
                if error.errno not in _MAY_PASS:
                    raise refused from error
                self._refused = refused
                return
            self._size += len(block)
            for _ in lines:
                self._waiting.popleft()

    def _write_all(self, block: bytes) -> None:
        left = memoryview(block)
        while left:
            left = left[self._write(self._file, left) :]


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
