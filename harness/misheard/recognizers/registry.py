"""From settings to a recognizer. Backends are imported here, when they are asked for."""

from pathlib import Path

from misheard.recognizers.protocol import Recognizer
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    FakeRecognizerSettings,
    LocalRecognizerSettings,
    TranscriptionServerSettings,
    TransformersSettings,
    VllmRecognizerSettings,
)


def make_recognizer(
    settings: LocalRecognizerSettings,
    *,
    cpu: bool,
    logs: Path,
    spent_seconds: float = 0.0,
    audit: bool = False,
    memory_part: float = 1.0,
) -> Recognizer:
    """Return the recognizer that the settings describe, not yet loaded.

    `cpu` overrides its device; `logs` is the run's folder for log files; `spent_seconds` of a time budget
    were used before the run was resumed. `audit` asks a server for what makes it repeat itself, and
    `memory_part` is the part of a GPU's free memory for a server of the run's own where another is to follow.
    """
    match settings:
        case CTranslate2Settings():
            from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

            return CTranslate2Recognizer(settings, cpu=cpu)
        case TransformersSettings():
            from misheard.recognizers.transformers import TransformersRecognizer

            return TransformersRecognizer(settings, cpu=cpu)
        case CommandSettings():
            from misheard.recognizers.command import CommandRecognizer

            return CommandRecognizer(settings, cpu=cpu, spent_seconds=spent_seconds)
        case TranscriptionServerSettings():
            from misheard.recognizers.openai_api import TranscriptionServer

            return TranscriptionServer(settings, audit=audit)
        case VllmRecognizerSettings():
            from misheard.recognizers.vllm import VllmRecognizer

            return VllmRecognizer(settings, logs=logs, cpu=cpu, audit=audit, memory_part=memory_part)
        case FakeRecognizerSettings():
            from misheard.recognizers.fake import FakeRecognizer

            return FakeRecognizer(settings)
