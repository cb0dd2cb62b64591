"""Standard output that cannot be written: a command goes on, prints no more, and does not end with 0."""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Watched(io.FileIO):
    """A file that takes what it is given even where the system refuses it, and keeps the reason.

    Nothing is written after that: what was printed is cut short, and has no holes. That a reader has gone,
    such as head, is no refusal: it is raised as ever, as BrokenPipeError.
    """

    refused: OSError | None = None

    def write(self, data: "ReadableBuffer") -> int:
        if self.refused is None:
            try:
                return super().write(data)
            except BrokenPipeError:
                raise
            except OSError as error:
                self.refused = error
        return memoryview(data).nbytes


def watch() -> None:
    """Watch standard output from now on; what a program has put in its place is left alone."""
    stream = sys.stdout
    if stream is None and sys.__stdout__ is None:
        # It was closed. No file that is opened later must get its number; this one refuses what is printed.
        closed = _Watched(os.open(os.devnull, os.O_RDONLY), "w")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(closed), encoding="utf-8", errors="backslashreplace")
        return
    if stream is not sys.__stdout__ or not isinstance(stream, io.TextIOWrapper):
        return
    raw = _Watched(stream.fileno(), "w", closefd=False)
    is_buffered = not isinstance(stream.buffer, io.RawIOBase)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw) if is_buffered else raw,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def refusal() -> str | None:
    """Return why standard output could not be written, in the system's words; None where it was."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output, such as head, has seen enough; nothing more can be written there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return None
    buffer = getattr(sys.stdout, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    return raw.refused.strerror if isinstance(raw, _Watched) and raw.refused is not None else None
