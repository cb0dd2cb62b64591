"""Canonical JSON, fingerprints, and files that are written whole or not at all."""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def canonical_json(value: Any) -> str:
    """Return `value` as JSON with sorted keys, no spaces and ASCII escapes: equal values, equal bytes.

    ASCII escapes also carry lone surrogates, which UTF-8 cannot. Raises ValueError for NaN and infinities.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_json(value: Any) -> str:
    """Return the hex sha256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def changed_names(before: Any, now: Any, name: str = "") -> list[str]:
    """Return the dotted names, under `name`, of the JSON values that differ."""
    if before == now:
        return []
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return [name]
    return [
        inner
        for key in sorted({*before, *now})
        for inner in changed_names(before.get(key), now.get(key), f"{name}.{key}" if name else str(key))
    ]


def sha256_file(path: Path) -> str:
    """Return the hex sha256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomic(path: Path, data: str | bytes) -> None:
    """Write a file whole: a reader, also after a crash, sees the old content or the new, never a part.

    A link is followed, and what is no regular file (a pipe, a device) is written to as it is. Raises OSError
    that names `path`.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    try:
        # before links are followed: /dev/stdout leads to a pipe that has no path of its own
        if path.exists() and not path.is_file():
            path.write_bytes(raw)
        else:
            _replace(path.resolve(), raw)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, raw: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, atomically, keys as they come. Raises ValueError for NaN and infinities."""
    write_atomic(path, json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False) + "\n")
