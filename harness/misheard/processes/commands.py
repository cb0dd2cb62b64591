"""What a configured command is: what decides its output, and how it ended."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_file
from misheard.errors import BackendError
from misheard.processes.arguments import without_secrets
from misheard.processes.programs import Ended

VERSION_SECONDS = 60.0
"""Longest time for a command that prints a version."""


def describe_command(command: Sequence[str]) -> dict[str, Any]:
    """Return what decides a command's output, without folders: they differ between machines."""
    return {
        "program_sha256": sha256_file(Path(command[0])),
        "arguments": without_secrets(map(_named, command)),
        "files_sha256": [sha256_file(Path(argument)) for argument in command[1:] if _is_file(argument)],
    }


def version_sha256(ended: Ended, option: str) -> str:
    """Return the sha256 of what a version command printed. Raises BackendError where it failed."""
    if ended.how != "exited" or ended.status:
        raise BackendError(
            f"{option}: failed ({ended.how}, status {ended.status}); it must print a version and end with 0"
        )
    return hashlib.sha256(ended.stdout).hexdigest()


def status_in_words(status: int) -> str:
    """Return an exit status, or the signal that a negative one stands for, as a message has it."""
    return f"exit status {status}" if status > 0 else f"signal {-status}"


def _is_file(argument: str) -> bool:
    try:
        return argument.startswith("/") and Path(argument).is_file()
    except OSError:  # a name that is too long
        return False


def _named(argument: str) -> str:
    return Path(argument).name if _is_file(argument) else argument
