"""From settings to a recognizer. Backends are imported here, when they are asked for."""

from misheard.recognizers.protocol import Recognizer
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    FakeRecognizerSettings,
    LocalRecognizerSettings,
    TranscriptionServerSettings,
)


def make_recognizer(
    settings: LocalRecognizerSettings, *, cpu: bool, spent_seconds: float = 0.0
) -> Recognizer:
    """Return the recognizer that the settings describe, not yet loaded.

    `cpu` overrides its device; `spent_seconds` of a time budget were used before the run was resumed.
    """
    match settings:
        case CTranslate2Settings():
            from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

            return CTranslate2Recognizer(settings, cpu=cpu)
        case CommandSettings():
            from misheard.recognizers.command import CommandRecognizer

            return CommandRecognizer(settings, cpu=cpu, spent_seconds=spent_seconds)
        case TranscriptionServerSettings():
            from misheard.recognizers.openai_api import TranscriptionServer

            return TranscriptionServer(settings)
        case FakeRecognizerSettings():
            from misheard.recognizers.fake import FakeRecognizer

            return FakeRecognizer(settings)
