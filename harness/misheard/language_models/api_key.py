"""The key of a server, from the environment."""

import os

from misheard.errors import BackendError


def read_api_key(section: str, name: str | None) -> str:
    """Return the key in the environment variable `name`; a placeholder where no name is given.

    `section` of the config is named in errors, which never hold the key. Raises BackendError where the
    variable is not set, or holds what cannot stand in an HTTP header.
    """
    if name is None:
        return "none"
    key = os.environ.get(name, "").strip()
    if not key:
        raise BackendError(f"{section}.api_key_env: the environment variable {name} is not set")
    if not all("!" <= char <= "~" for char in key):
        raise BackendError(
            f"{section}.api_key_env: {name} holds a space, a line break or a character beyond ASCII, so it "
            "is no key; was more copied than the key?"
        )
    return key
