"""Functions and classes of the user's, named in a config by `module:name`."""

import importlib
import sys
from functools import reduce
from pathlib import Path
from typing import Any

from misheard.errors import ConfigError, Problem


def load_object(path: str, option: str, what: str, example: str, base: Path | None = None) -> Any:
    """Return what `module:name` names; modules of the current directory and of `base` can be named too.

    `what` is what the user should have named, `example` how it reads. Raises ConfigError, naming `option`,
    where there is no such thing.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        raise option_error(option, f"must read module:{what}, such as {example}")
    try:
        return reduce(getattr, name.split("."), _import(module_name, option, base))
    except AttributeError:
        raise option_error(option, f"module {module_name} has no {what} {name}") from None


def option_error(option: str, what: str) -> ConfigError:
    """Return the error of one option."""
    return ConfigError("the run config", [Problem(option, what)])


def _import(name: str, option: str, base: Path | None) -> object:
    for folder in (Path.cwd(), base):
        if folder is not None and str(folder.resolve()) not in sys.path:
            # last, so that nothing in the folder hides an installed module
            sys.path.append(str(folder.resolve()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        place = "run misheard in the folder that holds it" if base is None else "put it beside the config"
        raise option_error(option, f"no module {error.name}; install it, or {place}") from error
    except (Exception, SystemExit) as error:
        what = f"module {name} cannot be imported: {type(error).__name__}: {error}"
        raise option_error(option, what) from error
