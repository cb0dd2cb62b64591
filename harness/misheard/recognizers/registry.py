"""From settings to a recognizer. Backends are imported here, when they are asked for."""

from misheard.recognizers.protocol import Recognizer
from misheard.recognizers.settings import CTranslate2Settings, FakeRecognizerSettings


def make_recognizer(settings: CTranslate2Settings | FakeRecognizerSettings, *, cpu: bool) -> Recognizer:
    """Return the recognizer that the settings describe, not yet loaded; `cpu` overrides its device."""
    match settings:
        case CTranslate2Settings():
            from misheard.recognizers.ctranslate2 import CTranslate2Recognizer

            return CTranslate2Recognizer(settings, cpu=cpu)
        case FakeRecognizerSettings():
            from misheard.recognizers.fake import FakeRecognizer

            return FakeRecognizer(settings)
