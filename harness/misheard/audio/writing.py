"""Writing recordings with libsndfile, which keeps the system's reasons to itself."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from misheard.errors import INSTALL_ADVICE, BackendError

_PROBE_BYTES = 1 << 20

Samples = npt.NDArray[np.int16] | npt.NDArray[np.int32] | npt.NDArray[np.float32]


class SoundWriter:
    """Writes a new recording block by block.

    Everything raises OSError where the system refuses, such as on a full disk, and opening BackendError where
    soundfile is not installed.
    """

    def __init__(self, path: Path, rate: int, channels: int, form: str, subtype: str) -> None:
        try:
            import soundfile
        except (ImportError, OSError) as error:
            raise BackendError(
                f"recordings are written with soundfile ({error}): {INSTALL_ADVICE}"
            ) from error
        self._path = path
        with self._refusals():
            self._file: Any = soundfile.SoundFile(path, "w", rate, channels, subtype, format=form)

    def write(self, samples: Samples) -> None:
        """Append samples, [n] or [n, channels]; integers are taken as they are, in the highest bits."""
        with self._refusals():
            self._file.write(samples)

    def close(self) -> None:
        """Write what is left, and close the file; again does nothing."""
        with self._refusals():
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        import soundfile

        try:
            yield
        except soundfile.SoundFileError as error:
            raise _refusal(self._path) from error


def _refusal(path: Path) -> OSError:
    """Return why the system refuses to write more to a file, found out by writing more to it."""
    try:
        with path.open("ab") as file:
            file.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return OSError(error.errno, error.strerror, str(path))
    return OSError(errno.EIO, os.strerror(errno.EIO), str(path))
