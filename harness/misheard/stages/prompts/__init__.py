"""Prompts as versioned files, each a YAML mapping of `system` (optional) and `user` templates."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.language_models.protocol import Message

_PLACEHOLDER = "{transcript}"
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt of a stage; `{transcript}` in the user template is where the text goes."""

    name: str
    system: str | None
    user: str

    def messages(self, transcript: str) -> tuple[Message, ...]:
        """Return the chat for one transcript. The text is put in as it is; braces in it mean nothing."""
        user = Message("user", self.user.replace(_PLACEHOLDER, transcript))
        return (user,) if self.system is None else (Message("system", self.system), user)

    def fingerprint(self) -> dict[str, Any]:
        """Return the prompt's name and the hash of its templates."""
        return {"name": self.name, "sha256": sha256_json([self.system, self.user])}


def load_prompt(name: str) -> PromptTemplate:
    """Return a prompt that ships with misheard (`respond-v1`) or one from a `.yaml` file.

    Raises InputError where there is no such prompt or the file is not a prompt.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"respond.prompt: {name} does not exist")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"respond.prompt: {name} is larger than {_MAX_BYTES} bytes")
        return _parse(path.stem, path.read_bytes(), name)
    shipped = {entry.name.removesuffix(".yaml"): entry for entry in resources.files(__name__).iterdir()}
    if name not in shipped or name.endswith(".py"):
        known = ", ".join(sorted(key for key in shipped if key.startswith("respond")))
        raise InputError(f"respond.prompt: no prompt is called {name!r}; use {known} or a .yaml file")
    return _parse(name, shipped[name].read_bytes(), name)


def _parse(name: str, raw: bytes, where: str) -> PromptTemplate:
    try:
        data = yaml.safe_load(raw.decode("utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InputError(f"respond.prompt: {where} is not UTF-8 YAML") from error
    if not isinstance(data, dict) or not set(data) <= {"system", "user"}:
        raise InputError(f"respond.prompt: {where} must be a mapping of user and, if wanted, system")
    system, user = data.get("system"), data.get("user")
    if not isinstance(user, str) or _PLACEHOLDER not in user:
        raise InputError(f"respond.prompt: {where}: user must be a text that contains {_PLACEHOLDER}")
    if system is not None and not isinstance(system, str):
        raise InputError(f"respond.prompt: {where}: system must be a text")
    return PromptTemplate(name, system, user)
