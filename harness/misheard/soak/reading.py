"""Reading a trace line by line: bounded in lines, bytes and events, every problem with its line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from misheard.errors import InputError, Problem, SoakError
from misheard.soak.events import FORMAT, Event, EventError, read_event
from misheard.soak.lines import read_object
from misheard.soak.mapping import TraceMapping, Translator
from misheard.soak.table import Trace, TraceBuilder

MAX_LINE_BYTES = 65_536
MAX_FILE_BYTES = 2**30
MAX_EVENTS = 2_000_000
MAX_PROBLEMS = 50
"""Problems that are shown; the others are counted."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_COUNTED = 10_000
"""Problems after which the rest of a file is not read."""


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """A trace, and what a mapping left out of it.

    Attributes:
        trace: the events.
        left_out: lines whose event the mapping does not name.
    """

    trace: Trace
    left_out: int


def read_trace(path: Path, mapping: TraceMapping | None = None, *, is_broken_off: bool = False) -> ReadTrace:
    """Read a trace, of another product where there is a mapping.

    Where whoever wrote it was broken off, a last line without its end is left out.

    Raises SoakError with the first MAX_PROBLEMS problems and the number of the others, and InputError where
    the file cannot be read or is too large.
    """
    try:
        with path.open("rb") as file:
            return _Reader(path, mapping, is_broken_off).read(file)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


class _Reader:
    def __init__(self, path: Path, mapping: TraceMapping | None, is_broken_off: bool) -> None:
        self._path = path
        self._is_broken_off = is_broken_off
        self._translator = None if mapping is None else Translator(mapping)
        self._builder = TraceBuilder()
        self._problems: list[Problem] = []
        self._count = 0
        self._latest = 0.0

    def read(self, file: BinaryIO) -> ReadTrace:
        lines = self._lines(file)
        if self._translator is None:
            self._read_header(next(lines, (1, b"")))
        for line, raw in lines:
            self._take(raw, line)
            if self._count >= _MAX_COUNTED:
                break
        if not self._count and not len(self._builder):
            what = "has no event" if self._translator is None else "no event is one that the mapping names"
            self._complain("trace", what)
        if self._count:
            raise self._error()
        left_out = 0 if self._translator is None else self._translator.left_out
        return ReadTrace(self._builder.trace(), left_out)

    def _read_header(self, first: tuple[int, bytes]) -> None:
        line, raw = first
        try:
            is_header = read_object(raw) == {"format": FORMAT}
        except EventError:
            is_header = False
        if not is_header:
            # what follows is another format, and would be a problem on every line
            self._complain(
                f"line {line}",
                f'must be {{"format": "{FORMAT}"}}; a trace of another product needs --mapping',
            )
            raise self._error()

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        line = size = 0
        while raw := file.readline(MAX_LINE_BYTES + 1):
            line += 1
            size += len(raw)
            if line == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)
            if len(raw) > MAX_LINE_BYTES:
                self._complain(f"line {line}", f"is longer than {MAX_LINE_BYTES} bytes")
                size += _skip_line(raw, file, MAX_FILE_BYTES - size)
            elif raw.strip() and (raw.endswith(b"\n") or not self._is_broken_off):
                yield line, raw
            if size > MAX_FILE_BYTES:
                raise InputError(f"{self._path}: larger than {MAX_FILE_BYTES} bytes")

    def _take(self, raw: bytes, line: int) -> None:
        try:
            fields = read_object(raw)
            if self._translator is not None:
                translated = self._translator.translate(fields)
                if translated is None:
                    return
                fields = translated
            self._add(read_event(fields, line))
        except EventError as error:
            for problem in error.problems:
                self._complain(f"line {line}", problem)

    def _add(self, event: Event) -> None:
        if event.t < self._latest:
            raise EventError(["is earlier than the event before it; sort the trace by time"])
        if len(self._builder) >= MAX_EVENTS:
            raise InputError(f"{self._path}: more than {MAX_EVENTS} events")
        self._latest = event.t
        self._builder.add(event)

    def _complain(self, where: str, what: str) -> None:
        self._count += 1
        if self._count <= MAX_PROBLEMS:
            self._problems.append(Problem(where, what))

    def _error(self) -> SoakError:
        more = self._count - len(self._problems)
        rest = [Problem("and", f"{more} more; mend these first")] if more else []
        return SoakError(str(self._path), [*self._problems, *rest])


def _skip_line(raw: bytes, file: BinaryIO, most: int) -> int:
    """Read on to the end of a line, or until it has `most` bytes more; return how many were read."""
    size = 0
    while raw and not raw.endswith(b"\n") and size <= most:
        raw = file.readline(MAX_LINE_BYTES)
        size += len(raw)
    return size
