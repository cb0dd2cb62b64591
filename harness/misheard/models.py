"""Where models are: a folder, a name in the model cache, or a pinned hub id."""

import os
from pathlib import Path

from misheard.errors import INSTALL_ADVICE, BackendError, InputError

FETCHED = ("whisper-base", "whisper-tiny.en", "smollm2-135m-instruct")
"""The models of scripts/models.toml."""


def cache_dir() -> Path:
    """Return misheard's cache: `MISHEARD_CACHE`, else `misheard` in the user's cache folder."""
    if chosen := os.environ.get("MISHEARD_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "misheard"


def models_dir() -> Path:
    """Return the folder of named models: `MISHEARD_MODELS`, else `models` in the cache."""
    chosen = os.environ.get("MISHEARD_MODELS")
    return Path(chosen) if chosen else cache_dir() / "models"


def resolve_model(option: str, model: str, revision: str | None, base: Path) -> str:
    """Return what a backend loads: a folder's path where there is one, else the hub id as it is.

    A name without `/` is a folder in the model cache; one that starts with `/`, `./` or `../` is a folder,
    relative to `base`, the config's; any other is a hub id, which needs a revision of 40 hex digits.
    Raises InputError that names `option` where nothing is found.
    """
    if model.startswith(("/", "./", "../", "~")):
        return str(_folder(option, model, base))
    if "/" not in model:
        folder = models_dir() / model
        if not folder.is_dir():
            fetched = f"{model} fetches it" if model in FETCHED else f"fetches {', '.join(FETCHED)}"
            raise InputError(
                f"{option}: no model is called {model!r} in {models_dir()}; "
                f"in a checkout, scripts/fetch_models {fetched}; MISHEARD_MODELS names another folder"
            )
        return str(folder)
    if revision is None:
        raise InputError(f"{option}: {model} is a hub id: pin it with a revision (40 hex digits)")
    return model


def _folder(option: str, model: str, base: Path) -> Path:
    try:
        folder = (base / Path(model).expanduser()).resolve()
        if folder.is_dir():
            return folder
    except (ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{option}: {model!r} cannot be a folder ({type(error).__name__})") from error
    raise InputError(f"{option}: there is no folder {folder}; paths start from the config's folder")


def download_snapshot(option: str, model: str, revision: str, patterns: list[str]) -> str:
    """Return the local folder of a pinned hub snapshot, downloaded where it is not there yet.

    Raises BackendError where the library is missing or the hub cannot be reached.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise BackendError(f"{option}: {error}; {INSTALL_ADVICE}") from error
    try:
        return str(snapshot_download(model, revision=revision, allow_patterns=patterns))
    except (OSError, ValueError) as error:
        reason = type(error).__name__
        raise BackendError(f"{option}: {model}@{revision} could not be downloaded ({reason})") from error
