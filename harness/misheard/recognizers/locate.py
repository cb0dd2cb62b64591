"""Where the program, the files and the model of a command are on this machine."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from misheard.errors import InputError
from misheard.models import models_dir
from misheard.recognizers.settings import CommandSettings


def resolve_command(settings: CommandSettings, base: Path) -> CommandSettings:
    """Return the settings with absolute paths; relative ones start from `base`, the config's folder.

    Links are kept: an interpreter of a virtual environment is one. Raises InputError for a file that is not
    there.
    """
    update = {
        "command": _located("recognizer.command", settings.command, base),
        "version_command": _located("recognizer.version_command", settings.version_command, base),
    }
    if settings.model is None:
        return settings.model_copy(update=update)
    return settings.model_copy(update={**update, "model": _model(settings.model, base)})


def _located(option: str, command: tuple[str, ...], base: Path) -> tuple[str, ...]:
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


def _model(model: str, base: Path) -> str:
    if model.startswith(("/", "./", "../", "~")):
        path = _absolute("recognizer.model", model, base)
        if not _holds(path.exists):
            raise InputError(f"recognizer.model: there is nothing at {path}")
        return str(path)
    known = models_dir() / model
    return str(known.absolute()) if "/" not in model and _holds(known.exists) else model


def _file(option: str, path: str, base: Path) -> str:
    found = _absolute(option, path, base)
    if not _holds(found.is_file):
        kind = "is a folder, not a file" if _holds(found.is_dir) else "there is no such file"
        raise InputError(f"{option}: {found}: {kind}")
    return str(found)


def _holds(question: Callable[[], bool]) -> bool:
    """Return the answer of a path to a question; a name that is too long names nothing."""
    try:
        return question()
    except OSError:
        return False


def _absolute(option: str, path: str, base: Path) -> Path:
    try:
        return Path(os.path.abspath(base / Path(path).expanduser()))  # noqa: PTH100
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{option}: {path!r} cannot be a path ({type(error).__name__})") from error
