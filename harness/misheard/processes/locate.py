"""Where the program and the files of a command are on this machine."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from misheard.errors import InputError


def locate_command(option: str, command: tuple[str, ...], base: Path) -> tuple[str, ...]:
    """Return a command with absolute paths: its program, and arguments that begin with `./` or `../`.

    Raises InputError, naming `option`, for a file that is not there.
    """
    if not command:
        return ()
    program, *arguments = command
    return (_program(option, program, base), *(_argument(option, argument, base) for argument in arguments))


def _program(option: str, program: str, base: Path) -> str:
    if "/" in program:
        return _file(option, program, base)
    found = shutil.which(program)
    if found is None:
        raise InputError(f"{option}: no program is called {program!r} in PATH; install it, or give its path")
    return os.path.abspath(found)  # noqa: PTH100 - resolve() would follow links


def _argument(option: str, argument: str, base: Path) -> str:
    names_file = argument.startswith(("./", "../")) and "{" not in argument
    return _file(option, argument, base) if names_file else argument


def _file(option: str, path: str, base: Path) -> str:
    found = absolute(option, path, base)
    if not holds(found.is_file):
        kind = "is a folder, not a file" if holds(found.is_dir) else "there is no such file"
        raise InputError(f"{option}: {found}: {kind}")
    return str(found)


def holds(question: Callable[[], bool]) -> bool:
    """Return the answer of a path to a question; a name that is too long names nothing."""
    try:
        return question()
    except OSError:
        return False


def absolute(option: str, path: str, base: Path) -> Path:
    """Return a path that starts from `base`, links kept. Raises InputError, naming `option`, for none."""
    try:
        return Path(os.path.abspath(base / Path(path).expanduser()))  # noqa: PTH100
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{option}: {path!r} cannot be a path ({type(error).__name__})") from error
