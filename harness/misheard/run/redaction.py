"""A config as `run.json` may show it: no secrets, no text of prompts or answers."""

from typing import Any

from misheard.canonical import sha256_json
from misheard.config import RunConfig

_SECRET_WORDS = ("token", "key", "secret", "password", "credential")


def public_config(config: RunConfig) -> dict[str, Any]:
    """Return a config as JSON values in which secrets and texts are replaced by their hashes.

    Equal configs still look equal and different ones different, so that a resumed run can be checked.
    """
    data: dict[str, Any] = config.model_dump(mode="json")
    recognizer, model = data["recognizer"], data["language_model"]
    if recognizer["kind"] == "fake":
        recognizer["transcripts"] = _hidden(recognizer["transcripts"])
    if recognizer["kind"] == "command":
        recognizer["env"] = _hidden(recognizer["env"], keep_names=True)
        for name in ("command", "cpu_arguments", "version_command"):
            recognizer[name] = _without_secrets(recognizer[name])
    if model is not None and model["kind"] == "fake":
        model["answers"], model["failures"] = _hidden(model["answers"]), _renamed(model["failures"])
        model["default"] = None if model["default"] is None else _hash(model["default"])
    if model is not None and model["kind"] == "vllm":
        model["env"] = _hidden(model["env"], keep_names=True)
        model["extra_args"] = _without_secrets(model["extra_args"])
    return data


def _hash(text: str) -> str:
    return f"sha256:{sha256_json(text)}"


def _hidden(table: dict[str, str], *, keep_names: bool = False) -> dict[str, str]:
    return {name if keep_names else _hash(name): _hash(value) for name, value in table.items()}


def _renamed(table: dict[str, str]) -> dict[str, str]:
    return {_hash(name): value for name, value in table.items()}


def _without_secrets(arguments: list[str]) -> list[str]:
    """Replace what belongs to an option that sounds like a secret, as `--name value` and `--name=value`."""
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        name, separator, value = argument.partition("=")
        secret = name.startswith("-") and any(word in name.lower() for word in _SECRET_WORDS)
        if hide_next and not name.startswith("-"):
            shown.append(_hash(argument))
        else:
            shown.append(f"{name}={_hash(value)}" if secret and separator else argument)
        hide_next = secret and not separator
    return shown
