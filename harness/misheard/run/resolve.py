"""A config with its models and prompts as they are found on this machine."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from misheard.config import JudgeConfig, RunConfig
from misheard.errors import InputError
from misheard.language_models.settings import LanguageModelSettings
from misheard.models import download_snapshot, resolve_model
from misheard.planners.settings import LanguageModelPlannerSettings, PlannerSettings
from misheard.plugins.protocol import PLANNER, RENDERER
from misheard.plugins.registry import locate_plugin
from misheard.recognizers.locate import resolve_command
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    ImportedRecognizerSettings,
    LocalRecognizerSettings,
    RecognizerSettings,
    TransformersSettings,
    VllmRecognizerSettings,
)
from misheard.renderers.settings import BoardRendererSettings, RendererSettings

Section = TypeVar("Section", bound=BaseModel | None)

_WHISPER_FILES = {
    "ctranslate2": ["config.json", "model.bin", "preprocessor_config.json", "tokenizer.json", "vocabulary.*"],
    "transformers": [
        "config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json",
        "model.safetensors", "model.safetensors.index.json", "model-*.safetensors",
    ],
}  # fmt: skip


def resolve_config(config: RunConfig, base: Path) -> RunConfig:
    """Return the config with paths made absolute; `base` is the folder that they start from.

    Nothing is downloaded. Raises InputError for a model that is not there or not pinned.
    """
    recognizer = config.recognizer
    if isinstance(recognizer, CTranslate2Settings | TransformersSettings | VllmRecognizerSettings):
        path = resolve_model("recognizer.model", recognizer.model, recognizer.revision, base)
        recognizer = recognizer.model_copy(update={"model": path})
    if isinstance(recognizer, CommandSettings):
        recognizer = resolve_command(recognizer, base)
    return config.model_copy(
        update={
            "recognizer": recognizer,
            "language_model": _language_model("language_model", config.language_model, base),
            "correct": _prompts(config.correct, base),
            "respond": _prompts(config.respond, base),
            "plan": _planner(config.plan, base),
            "render": _renderer(config.render, base),
            "judge": _judge(config.judge, base),
        }
    )


def _language_model(
    section: str, model: LanguageModelSettings | None, base: Path
) -> LanguageModelSettings | None:
    if model is None or model.kind not in ("embedded", "vllm"):
        return model
    path = resolve_model(f"{section}.model", model.model, model.revision, base)
    return model.model_copy(update={"model": path})


def _prompts(section: Section, base: Path) -> Section:
    """Return a section of the config in which prompts that are files start from `base`."""
    if section is None:
        return section
    files = {
        name: str(base / value)
        for name, value in section
        if name.endswith("prompt") and value.endswith((".yaml", ".yml"))
    }
    return section.model_copy(update=files)


def _planner(plan: PlannerSettings | None, base: Path) -> PlannerSettings | None:
    if plan is None or isinstance(plan, LanguageModelPlannerSettings):
        return _prompts(plan, base)
    return locate_plugin(plan, PLANNER, base)


def _renderer(render: RendererSettings | None, base: Path) -> RendererSettings | None:
    if render is None or isinstance(render, BoardRendererSettings):
        return render
    return locate_plugin(render, RENDERER, base)


def _judge(judge: JudgeConfig | None, base: Path) -> JudgeConfig | None:
    if judge is None:
        return None
    update: dict[str, Any] = {
        "language_model": _language_model("judge.language_model", judge.language_model, base)
    }
    if judge.calibration is not None:
        update["calibration"] = str(base / judge.calibration)
    return _prompts(judge, base).model_copy(update=update)


def local_recognizer(settings: RecognizerSettings) -> LocalRecognizerSettings:
    """Return recognizer settings whose model is a folder, downloaded from the hub where it must be.

    Raises InputError for outputs that were made elsewhere.
    """
    if isinstance(settings, ImportedRecognizerSettings):
        raise InputError(
            "recognizer.kind: imported outputs cannot be run again; see misheard import and misheard score"
        )
    if not isinstance(settings, CTranslate2Settings | TransformersSettings) or Path(settings.model).is_dir():
        return settings
    files = _WHISPER_FILES[settings.kind]
    folder = download_snapshot("recognizer.model", settings.model, settings.revision or "", files)
    return settings.model_copy(update={"model": folder})
