"""Commands that are printed to be copied."""

import os
import shlex


def path_argument(path: str | os.PathLike[str]) -> str:
    """Return a path as one argument for a shell: quoted where it must be, and never taken for an option."""
    text = os.fspath(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
