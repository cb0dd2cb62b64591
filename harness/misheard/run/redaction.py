"""A config as `run.json` may show it: no secrets, no text of prompts or answers."""

from typing import Any

from misheard.config import RunConfig
from misheard.processes.arguments import hashed, without_secrets


def public_config(config: RunConfig) -> dict[str, Any]:
    """Return a config as JSON values in which secrets and texts are replaced by their hashes.

    Equal configs still look equal and different ones different, so that a resumed run can be checked.
    """
    data: dict[str, Any] = config.model_dump(mode="json")
    recognizer, judge = data["recognizer"], data["judge"]
    if recognizer["kind"] == "fake":
        recognizer["transcripts"] = _hidden(recognizer["transcripts"])
        if "n_best" in recognizer:
            recognizer["n_best"] = {
                hashed(key): [hashed(text) for text in texts] for key, texts in recognizer["n_best"].items()
            }
    if recognizer["kind"] == "command":
        recognizer["env"] = _hidden(recognizer["env"], keep_names=True)
        for name in ("command", "cpu_arguments", "version_command"):
            recognizer[name] = without_secrets(recognizer[name])
    for plugin in (data["plan"], data["render"]):
        _hide_plugin(plugin)
    for model in (data["language_model"], None if judge is None else judge["language_model"]):
        _hide_model(model)
    return data


def _hide_plugin(plugin: dict[str, Any] | None) -> None:
    if plugin is None:
        return
    if plugin["kind"] == "python":
        plugin["options"] = {name: hashed(repr(value)) for name, value in plugin["options"].items()}
    if plugin["kind"] == "command":
        plugin["env"] = _hidden(plugin["env"], keep_names=True)
        for name in ("command", "version_command"):
            plugin[name] = without_secrets(plugin[name])


def _hide_model(model: dict[str, Any] | None) -> None:
    if model is not None and model["kind"] == "fake":
        model["answers"], model["failures"] = _hidden(model["answers"]), _renamed(model["failures"])
        model["default"] = None if model["default"] is None else hashed(model["default"])
    if model is not None and model["kind"] == "vllm":
        model["env"] = _hidden(model["env"], keep_names=True)
        model["extra_args"] = without_secrets(model["extra_args"])


def _hidden(table: dict[str, str], *, keep_names: bool = False) -> dict[str, str]:
    return {name if keep_names else hashed(name): hashed(value) for name, value in table.items()}


def _renamed(table: dict[str, str]) -> dict[str, str]:
    return {hashed(name): value for name, value in table.items()}
