"""What a model folder holds: the content that a fingerprint names, and the chat template."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import sha256_file, sha256_json
from misheard.errors import BackendError

CONTENT_PATTERNS = ("*.json", "*.jinja", "*.model", "*.safetensors", "*.txt")
"""Files of a model folder that decide its output; weights in other formats are not loaded."""

_LARGEST_JSON = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ModelContent:
    """Hex sha256 of all files together, and of the chat template; None where that is not in a known place."""

    files_sha256: str
    chat_template_sha256: str | None


def is_folder(model: str) -> bool:
    """Return whether the name is a folder of this machine and not a hub id."""
    return Path(model).is_dir()


def check_pinned(model: str, revision: str | None, section: str = "language_model") -> None:
    """Raise BackendError for a hub id without a revision: what it names may change between two runs."""
    if not is_folder(model) and revision is None:
        raise BackendError(
            f"{section}.model: {model} is no folder; "
            "to take it from the model hub, pin it with `revision` (a full commit hash)"
        )


def check_model(model: str, revision: str | None, template_given: bool = False) -> None:
    """Check what is known without loading: a pinned id, or a folder with weights and a chat template.

    `template_given` says that the chat template comes from elsewhere. Raises BackendError.
    """
    check_pinned(model, revision)
    if not is_folder(model):
        return
    folder = Path(model)
    _check_files(folder, {path.name for path in folder.iterdir()}, "language_model")
    if not template_given and _lacks_template(folder):
        raise BackendError(f"language_model.model: {folder} has no chat template; choose an instruct model")


def _check_files(folder: Path, names: set[str], section: str) -> None:
    if "config.json" not in names:
        raise BackendError(f"{section}.model: {folder} has no config.json; is it a model folder?")
    if not any(name.endswith(".safetensors") for name in names):
        raise BackendError(
            f"{section}.model: {folder} has no .safetensors weights; other formats are not loaded"
        )


def read_content(folder: Path, section: str = "language_model") -> ModelContent:
    """Hash a model folder; `section` of the config is named in errors.

    Raises BackendError where it lacks a config or safetensors weights.
    """
    files = sorted({path for pattern in CONTENT_PATTERNS for path in folder.glob(pattern) if path.is_file()})
    _check_files(folder, {path.name for path in files}, section)
    check_index(folder, section)
    return ModelContent(
        files_sha256=sha256_json({path.name: sha256_file(path) for path in files}),
        chat_template_sha256=_template_sha256(folder),
    )


def check_index(folder: Path, section: str) -> None:
    """Raise BackendError where an index of weights names others than safetensors files of its own folder.

    Loaders follow it to other folders, whose files no fingerprint names, and to pickles.
    """
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return
    try:
        if index.stat().st_size > _LARGEST_JSON:
            raise ValueError("too large")
        names = set(json.loads(index.read_bytes())["weight_map"].values())
        plain = all(Path(name).name == name and name.endswith(".safetensors") for name in names)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BackendError(
            f"{section}.model: {folder} cannot be loaded: {index.name} ({type(error).__name__})"
        ) from error
    if not plain:
        raise BackendError(
            f"{section}.model: {index} names files that are no safetensors files of this folder, "
            "which are not loaded"
        )


def _lacks_template(folder: Path) -> bool:
    """Return whether a folder surely has no chat template; what cannot be read is left to the loader."""
    if any(folder.glob("*chat_template*")):
        return False
    try:
        config = folder / "tokenizer_config.json"
        return config.stat().st_size <= _LARGEST_JSON and "chat_template" not in json.loads(
            config.read_bytes()
        )
    except FileNotFoundError:
        return True
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def _template_sha256(folder: Path) -> str | None:
    template = folder / "chat_template.jinja"
    if template.is_file():
        return sha256_file(template)
    try:
        config = folder / "tokenizer_config.json"
        if config.stat().st_size > _LARGEST_JSON:
            return None
        inline = json.loads(config.read_bytes()).get("chat_template")
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    if isinstance(inline, str):
        return hashlib.sha256(inline.encode("utf-8", "surrogatepass")).hexdigest()
    return None if inline is None else sha256_json(inline)
