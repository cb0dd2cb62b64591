"""Where the program, the files and the model of a command are on this machine."""

from pathlib import Path

from misheard.errors import InputError
from misheard.models import models_dir
from misheard.processes.locate import absolute, holds, locate_command
from misheard.recognizers.settings import CommandSettings


def resolve_command(settings: CommandSettings, base: Path) -> CommandSettings:
    """Return the settings with absolute paths; relative ones start from `base`, the config's folder.

    Links are kept: an interpreter of a virtual environment is one. Raises InputError for a file that is not
    there.
    """
    update = {
        "command": locate_command("recognizer.command", settings.command, base),
        "version_command": locate_command("recognizer.version_command", settings.version_command, base),
    }
    if settings.model is None:
        return settings.model_copy(update=update)
    return settings.model_copy(update={**update, "model": _model(settings.model, base)})


def _model(model: str, base: Path) -> str:
    if model.startswith(("/", "./", "../", "~")):
        path = absolute("recognizer.model", model, base)
        if not holds(path.exists):
            raise InputError(f"recognizer.model: there is nothing at {path}")
        return str(path)
    known = models_dir() / model
    return str(known.absolute()) if "/" not in model and holds(known.exists) else model
