"""Reading the files of a source: regular files only, bounded, and with a hash of each for the record."""

import gzip
import hashlib
import zlib
from pathlib import Path

from misheard.audio.files import open_regular
from misheard.errors import InputError
from misheard.transcripts.source import Source, decoded, refuse_spreadsheet

MAX_SOURCE_BYTES = 512 << 20
"""Of one file of text, after decompression. 250,000 rows have some 100 MiB."""

_CHUNK_BYTES = 1 << 20


class SourceFiles:
    """Reads files and remembers the sha256 of each by its name in the record."""

    def __init__(self) -> None:
        self.sha256: dict[str, str] = {}

    def text(self, path: Path) -> Source:
        """Return a file of UTF-8 text, decompressed where its name ends with `.gz`.

        Raises InputError, naming the file and the place, for what cannot be read, is too large or no text.
        """
        refuse_spreadsheet(path)
        raw = self._raw(path)
        if path.suffix.lower() == ".gz":
            raw = _decompressed(path)
        return Source(str(path), decoded(raw, str(path)))

    def note(self, path: Path) -> None:
        """Remember the hash of a file that another library reads."""
        digest = hashlib.sha256()
        try:
            with open_regular(path) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    digest.update(chunk)
        except OSError as error:
            raise _unreadable(path, error) from error
        self.sha256[path.name] = digest.hexdigest()

    def _raw(self, path: Path) -> bytes:
        try:
            with open_regular(path) as file:
                raw = file.read(MAX_SOURCE_BYTES + 1)
        except OSError as error:
            raise _unreadable(path, error) from error
        _check_size(path, raw)
        self.sha256[path.name] = hashlib.sha256(raw).hexdigest()
        return raw


def peek(path: Path, size: int) -> bytes:
    """Return the first bytes of a regular file, decompressed for `.gz`; empty where it cannot be read."""
    try:
        with open_regular(path) as file:
            if path.suffix.lower() != ".gz":
                return file.read(size)
            with gzip.GzipFile(fileobj=file) as unpacked:
                return unpacked.read(size)
    except (OSError, EOFError, zlib.error):
        return b""


def _decompressed(path: Path) -> bytes:
    try:
        with open_regular(path) as file, gzip.GzipFile(fileobj=file) as unpacked:
            raw = unpacked.read(MAX_SOURCE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: is damaged, or not compressed by gzip") from error
    _check_size(path, raw)
    return raw


def _check_size(path: Path, raw: bytes) -> None:
    if len(raw) > MAX_SOURCE_BYTES:
        raise InputError(f"{path}: has more than {MAX_SOURCE_BYTES >> 20} MiB of text; split it")


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read: {error.strerror or error}")
