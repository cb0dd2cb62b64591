"""A config with its models and prompts as they are found on this machine."""

from pathlib import Path

from misheard.config import RunConfig
from misheard.errors import InputError
from misheard.models import download_snapshot, resolve_model
from misheard.recognizers.locate import resolve_command
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    ImportedRecognizerSettings,
    LocalRecognizerSettings,
    RecognizerSettings,
)

_WHISPER_FILES = ["config.json", "model.bin", "preprocessor_config.json", "tokenizer.json", "vocabulary.*"]


def resolve_config(config: RunConfig, base: Path) -> RunConfig:
    """Return the config with paths made absolute; `base` is the folder that they start from.

    Nothing is downloaded. Raises InputError for a model that is not there or not pinned.
    """
    recognizer = config.recognizer
    if isinstance(recognizer, CTranslate2Settings):
        path = resolve_model("recognizer.model", recognizer.model, recognizer.revision, base)
        recognizer = recognizer.model_copy(update={"model": path})
    if isinstance(recognizer, CommandSettings):
        recognizer = resolve_command(recognizer, base)
    model = config.language_model
    if model is not None and model.kind in ("embedded", "vllm"):
        path = resolve_model("language_model.model", model.model, model.revision, base)
        model = model.model_copy(update={"model": path})
    respond = config.respond
    if respond.prompt.endswith((".yaml", ".yml")):
        respond = respond.model_copy(update={"prompt": str(base / respond.prompt)})
    return config.model_copy(update={"recognizer": recognizer, "language_model": model, "respond": respond})


def local_recognizer(settings: RecognizerSettings) -> LocalRecognizerSettings:
    """Return recognizer settings whose model is a folder, downloaded from the hub where it must be.

    Raises InputError for outputs that were made elsewhere.
    """
    if isinstance(settings, ImportedRecognizerSettings):
        raise InputError(
            "recognizer.kind: imported outputs cannot be run again; see misheard import and misheard score"
        )
    if not isinstance(settings, CTranslate2Settings) or Path(settings.model).is_dir():
        return settings
    revision = settings.revision or ""
    folder = download_snapshot("recognizer.model", settings.model, revision, _WHISPER_FILES)
    return settings.model_copy(update={"model": folder})
