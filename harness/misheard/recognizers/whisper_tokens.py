"""Whisper's special tokens, and which language a window is decoded in: the same for every backend."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from misheard.audio.activity import speech_active_seconds
from misheard.errors import BackendError
from misheard.recognizers.protocol import AudioWindow

MAX_LENGTH = 448
"""Positions of Whisper's decoder; the prompt is among them."""

_LANGUAGE_TOKEN = re.compile(r"<\|([a-z]{2,3})\|>")
_MIN_SPEECH_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class WhisperTokens:
    """Numbers of the special tokens; `languages` is empty for an English-only model.

    `no_speech` is None where the vocabulary has no such token.
    """

    start: int
    transcribe: int
    no_timestamps: int
    end: int
    no_speech: int | None
    languages: Mapping[str, int]

    def prompt(self, language: str | None) -> list[int]:
        """Return what decoding starts with; an English-only model has no token for a language."""
        if not self.languages:
            return [self.start, self.no_timestamps]
        return [self.start, self.languages[str(language)], self.transcribe, self.no_timestamps]

    def supports(self, language: str | None) -> bool:
        """Whether the model can be told to expect a language, None being any."""
        if language is None:
            return True
        return language in self.languages if self.languages else language == "en"


def read_tokens(vocabulary: Mapping[str, int], source: str, *, multilingual: bool) -> WhisperTokens:
    """Return the special tokens of a tokenizer; `source` is named in errors.

    Raises BackendError where one is missing.
    """
    names = ("<|startoftranscript|>", "<|transcribe|>", "<|notimestamps|>", "<|endoftext|>")
    if missing := [name for name in names if name not in vocabulary]:
        raise BackendError(f"recognizer.model: {source} lacks {', '.join(missing)}")
    start, transcribe, no_timestamps, end = (vocabulary[name] for name in names)
    languages = {
        match[1]: token
        for text, token in vocabulary.items()
        if multilingual and (match := _LANGUAGE_TOKEN.fullmatch(text)) and token > start
    }
    no_speech = vocabulary.get("<|nospeech|>", vocabulary.get("<|nocaptions|>"))
    return WhisperTokens(start, transcribe, no_timestamps, end, no_speech, languages)


def choose_languages(
    batch: Sequence[AudioWindow], tokens: WhisperTokens, detect: Callable[[], Sequence[str]]
) -> tuple[list[str | None], list[str | None]]:
    """Return the languages to report and those to decode in, per window.

    `detect` guesses the language of every window; it is asked where one is not given. A guess from silence is
    no evidence: it decodes the window, but is not reported.
    """
    if not tokens.languages:
        return ["en"] * len(batch), ["en"] * len(batch)
    reported = [window.language for window in batch]
    decoded = list(reported)
    if None in reported:
        for index, guess in enumerate(detect()):
            if reported[index] is None:
                decoded[index] = guess
                if speech_active_seconds(batch[index].samples) >= _MIN_SPEECH_SECONDS:
                    reported[index] = guess
    return reported, decoded


def longest_answer(prompt: int) -> int:
    """Return the most tokens, the end among them or not, that are decoded after a prompt of so many."""
    return min(MAX_LENGTH // 2, MAX_LENGTH - prompt)
