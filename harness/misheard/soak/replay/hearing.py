"""Recognition of turns as they come."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from misheard.failures import FailureKind
from misheard.recognizers.protocol import AudioWindow, Recognizer
from misheard.soak.events import EventName
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.faults_protocol import Faults
from misheard.soak.replay.feeding import Emit
from misheard.soak.replay.values import TurnClosed
from misheard.stages.recognize import WindowOutcome, recognize_within_memory
from misheard.text.languages import whisper_code


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn with words.

    Attributes:
        turn: its id.
        language: the suite's tag of what was played.
        audio_to: second of the session at which its audio ends.
        text: what goes on: as recognized, or as corrected.
    """

    turn: str
    language: str | None
    audio_to: float
    text: str


class Recognition:
    """Recognizes turns in batches, at most `most` at a time."""

    def __init__(
        self,
        recognizer: Recognizer,
        batch_size: int,
        language_of: Callable[[str | None], str | None],
        faults: Faults,
        clock: Clock,
    ) -> None:
        self.most = batch_size
        self._recognizer, self._language_of = recognizer, language_of
        self._faults, self._clock = faults, clock
        self._cap: int | None = None

    def work(self, turns: Sequence[TurnClosed], emit: Emit) -> Iterator[Heard]:
        """Tell the outcome of every turn, in order; yield those that have words."""
        began = self._clock.steady()
        languages = [self._language_of(turn.item) for turn in turns]
        failures = [self._failure(turn, language) for turn, language in zip(turns, languages, strict=True)]
        outcomes = self._recognize(
            [
                AudioWindow(turn.samples, whisper_code(language))
                for turn, language, failure in zip(turns, languages, failures, strict=True)
                if failure is None
            ]
        )
        seconds = self._clock.steady() - began
        for turn, language, failure in zip(turns, languages, failures, strict=True):
            text = _text(next(outcomes)) if failure is None else None
            about = {"turn": turn.turn, "seconds": seconds}
            if text is None:
                emit(EventName.TRANSCRIPT_FAILED, **about)
            elif not text:
                emit(EventName.TRANSCRIPT_EMPTY, **about)
            else:
                emit(EventName.TRANSCRIPT_FINAL, **about, words=len(text.split()),
                     audio_from=turn.audio_from, audio_to=turn.audio_to)  # fmt: skip
                yield Heard(turn.turn, language, turn.audio_to, text)

    def _failure(self, turn: TurnClosed, language: str | None) -> FailureKind | None:
        if not self._recognizer.supports(whisper_code(language)):
            return FailureKind.UNSUPPORTED_LANGUAGE
        return self._faults.recognizing(turn.turn, turn.audio_to)

    def _recognize(self, windows: Sequence[AudioWindow]) -> Iterator[WindowOutcome]:
        if not windows:
            return iter(())
        outcome, self._cap = recognize_within_memory(self._recognizer, windows, cap=self._cap)
        return iter(outcome.windows)


def _text(outcome: WindowOutcome) -> str | None:
    """Return the text of a window, empty for none; None where it failed."""
    return None if outcome.transcript is None else outcome.transcript.text.strip()
