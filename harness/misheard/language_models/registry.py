"""From settings to a language model. A new backend is a settings class, a module and one case here."""

from pathlib import Path
from typing import assert_never

from misheard.language_models.protocol import LanguageModel
from misheard.language_models.settings import ApiSettings, EmbeddedSettings, FakeSettings, VllmSettings


def make_language_model(
    settings: EmbeddedSettings | ApiSettings | VllmSettings | FakeSettings,
    *,
    logs: Path,
    cpu: bool,
    audit: bool = False,
) -> LanguageModel:
    """Return the backend that the settings describe, not yet started.

    `logs` is the run's folder for log files. `cpu` keeps a model of this machine on the CPU; it says nothing
    to a server that somebody else runs. `audit` asks the run's own server for what makes it repeat itself,
    and records that nothing is known of anybody else's.
    """
    match settings:
        case EmbeddedSettings():
            from misheard.language_models.embedded import EmbeddedModel

            return EmbeddedModel(settings, cpu=cpu)
        case ApiSettings():
            from misheard.language_models.openai_api import OpenAiModel

            return OpenAiModel(settings, audit=audit)
        case VllmSettings():
            from misheard.language_models.vllm_server import VllmModel

            return VllmModel(settings, logs=logs, cpu=cpu, audit=audit)
        case FakeSettings():
            from misheard.language_models.fake import FakeModel

            return FakeModel(settings)
    assert_never(settings)
