"""Opening files that others name: regular files only, so that a FIFO or a device cannot hang a run."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """The path names a folder, FIFO, socket or device."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, following links.

    Raises FileNotFoundError and other OSErrors as `open` does, and NotRegularError for anything that is not
    a regular file. Opening never blocks.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise NotRegularError(errno.EINVAL, f"it is {_type_name(mode)}, not a regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _type_name(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a FIFO"
    return "a device or socket"
