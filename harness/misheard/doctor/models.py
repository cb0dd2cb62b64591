"""Whether models are there and complete, as the backends that load them need them."""

import json
import os
from pathlib import Path

from misheard.doctor.checks import Check, Group, State, one_line
from misheard.doctor.need import Need, Part
from misheard.doctor.weights import Weights, WeightsError, read_ctranslate2, read_safetensors
from misheard.errors import BackendError
from misheard.language_models.model_content import check_model
from misheard.models import models_dir
from misheard.recognizers.whisper_folder import other_form

_FETCH = "scripts/fetch_models fetches the demo's; MISHEARD_MODELS names another folder"
_NEEDED = {
    "ctranslate2": (("config.json",), ("tokenizer.json",)),
    "transformers": (("config.json",), ("tokenizer.json",), ("generation_config.json",)),
    "embedded": (("config.json",), ("tokenizer.json", "tokenizer.model", "vocab.json")),
    "vllm": (("config.json",), ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")),
}
"""Files by kind of backend; of each group one must be there."""


def read_weights(kind: str, folder: Path) -> Weights:
    """Read the headers of a model's weights. Raises WeightsError."""
    return read_ctranslate2(folder / "model.bin") if kind == "ctranslate2" else read_safetensors(folder)


def model_problem(part: Part, folder: Path) -> str:
    """Return what a model folder lacks for its backend; empty where it is complete."""
    try:
        return _lacking(part, folder)
    except OSError as error:  # a folder that this user may not enter
        return f"cannot be read: {error.strerror}"


def _lacking(part: Part, folder: Path) -> str:
    if part.section == "recognizer" and (other := other_form(part.kind, folder)):
        return other
    for names in _NEEDED[part.kind]:
        if not any((folder / name).is_file() for name in names):
            return f"{' or '.join(names)} is missing"
    for path in sorted(folder.glob("*.json")):
        if path.is_file() and (wrong := _json_problem(path)):
            return wrong
    try:
        read_weights(part.kind, folder)
        if part.section != "recognizer":
            given = any(one.startswith("--chat-template") for one in getattr(part.settings, "extra_args", ()))
            check_model(str(folder), None, given)
    except WeightsError as error:
        return str(error)
    except BackendError as error:
        return str(error).removeprefix("language_model.model: ").replace(f"{folder} ", "", 1)
    return ""


def _json_problem(path: Path) -> str:
    try:
        json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return f"{path.name} is cut off, or no JSON"
    return ""


def check_models(need: Need) -> list[Check]:
    """Check the models of a config."""
    checks = [_check_part(part) for part in need.parts if part.kind in _NEEDED]
    checks += [
        _broken(part.section, part.problem, "correct it in the config")
        for part in need.parts
        if part.kind not in _NEEDED and part.problem
    ]
    checks += [_broken("files", problem, "correct it in the config") for problem in need.problems]
    if need.config.suite is not None:
        suite = need.base / need.config.suite
        there = suite.exists()
        found = f"{suite}" if there else f"{suite} is not there"
        advice = "" if there else "set suite in the config, or give misheard run --suite"
        # `misheard run --suite` needs no suite in the config, so that this decides nothing.
        checks.append(Check(Group.MODELS, "suite", State.OK if there else State.WARNING, found, advice))
    return checks


def _check_part(part: Part) -> Check:
    name = f"{part.section}.model"
    if part.problem:
        return _broken(name, part.problem.removeprefix(f"{name}: "), _FETCH)
    if part.folder is None:
        return _check_hub(part, name)
    if problem := model_problem(part, part.folder):
        if problem == other_form(part.kind, part.folder):
            return _broken(name, f"{part.folder}: {problem}", _FETCH)
        advice = f"put the whole model there again; {_FETCH}"
        return Check(Group.MODELS, name, State.BROKEN, f"{part.folder}: {problem}", advice)
    weights = read_weights(part.kind, part.folder)
    found = f"{part.folder}, {weights.parameters / 1e6:,.0f} million parameters"
    return Check(Group.MODELS, name, State.OK, found)


def _broken(name: str, problem: str, otherwise: str) -> Check:
    """Return the line of a message: what follows a semicolon in it is advice already."""
    what, _, advice = problem.partition("; ")
    return Check(Group.MODELS, name, State.BROKEN, one_line(what), one_line(advice) or otherwise)


def _check_hub(part: Part, name: str) -> Check:
    model, revision = str(part.settings.model), str(part.settings.revision)
    folder = hub_snapshot(model, revision)
    shown = f"{model} at {revision[:12]}"
    problem = "" if folder is None else model_problem(part, folder)
    if folder is not None and not problem:
        return Check(Group.MODELS, name, State.OK, f"{shown} is in {hub_cache()}")
    found = f"{shown}: {problem}" if problem else f"{shown} is not in {hub_cache()}"
    if hub_offline():
        advice = (
            f"unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE, or on a machine with a network: "
            f"hf download {model} --revision {revision}, and bring {hub_cache()} here"
        )
        return Check(Group.MODELS, name, State.BROKEN, f"{found}, and the hub is offline", advice)
    return Check(Group.MODELS, name, State.MISSING, found, "the run downloads it")


def snapshot_of(part: Part) -> Path | None:
    """Return where a part's model lies on this machine; None where it does not, or has none."""
    if part.folder is not None or part.hub_id is None:
        return part.folder
    return hub_snapshot(part.hub_id, str(part.settings.revision))


def named_models() -> list[Check]:
    """Check the folders of the model cache, whatever they are for."""
    folder = models_dir()
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    except OSError:
        names = []
    if not names:
        return [Check(Group.MODELS, "models", State.MISSING, f"none in {folder}", _FETCH)]
    checks = []
    for name in names:
        problem = _any_problem(folder / name)
        state = State.WARNING if problem else State.OK
        advice = f"delete the folder and fetch it again; {_FETCH}" if problem else ""
        checks.append(Check(Group.MODELS, name, state, problem or str(folder / name), advice))
    return checks


def _any_problem(folder: Path) -> str:
    """Return what a model folder of an unknown kind surely lacks."""
    kind = "ctranslate2" if (folder / "model.bin").exists() else "embedded"
    lacking = [name for (name, *_) in _NEEDED[kind] if not (folder / name).is_file()]
    try:
        read_weights(kind, folder)
    except WeightsError as error:
        return str(error)
    return f"{', '.join(lacking)} is missing" if lacking else ""


def hub_cache() -> Path:
    """Return where huggingface_hub keeps models: `HF_HUB_CACHE`, or `hub` in `HF_HOME`."""
    if chosen := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(os.path.expandvars(chosen)).expanduser()
    return hub_home() / "hub"


def hub_home() -> Path:
    """Return `HF_HOME`, else `huggingface` in the user's cache folder."""
    if chosen := os.environ.get("HF_HOME"):
        return Path(os.path.expandvars(chosen)).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"


def hub_offline() -> bool:
    """Return whether the environment forbids the hub, as huggingface_hub reads it."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in {"1", "ON", "YES", "TRUE"}


def hub_snapshot(model: str, revision: str) -> Path | None:
    """Return the folder of a pinned model in the hub's cache; None where it is not there."""
    folder = hub_cache() / f"models--{model.replace('/', '--')}" / "snapshots" / revision
    return folder if folder.is_dir() else None


def check_hub() -> list[Check]:
    """Say whether models may be downloaded."""
    found = "offline (HF_HUB_OFFLINE)" if hub_offline() else "models may be downloaded"
    return [Check(Group.MODELS, "hub", State.OK, found)]
