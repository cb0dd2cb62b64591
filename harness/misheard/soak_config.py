"""How a live session is replayed: the section `soak` of the config."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

LONGEST_TURN_SECONDS = 29.5
"""A turn with its padding fits into one window of a recognizer."""

_Seconds = Annotated[float, Field(gt=0.0, le=600.0, allow_inf_nan=False)]
_Probability = Annotated[float, Field(gt=0.0, lt=1.0)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class EndpointingConfig(_Section):
    """When a turn begins and ends.

    Attributes:
        kind: the voice activity detector; `silero` is the one inside the silero-vad package.
        threshold: probability of speech from which a turn opens.
        release: probability under which speech has stopped; at most the threshold.
        min_speech_seconds: shorter speech is no turn.
        min_silence_seconds: of silence that close a turn.
        pad_seconds: of audio before and after the speech that belong to the turn.
        max_turn_seconds: a longer turn is cut, and the next opens at once.
    """

    kind: Literal["silero"] = "silero"
    threshold: _Probability = 0.5
    release: _Probability = 0.35
    min_speech_seconds: _Seconds = 0.25
    min_silence_seconds: _Seconds = 0.5
    pad_seconds: Annotated[float, Field(ge=0.0, le=1.0)] = 0.2
    max_turn_seconds: Annotated[float, Field(ge=2.0, le=LONGEST_TURN_SECONDS)] = 28.0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.release > self.threshold:
            raise ValueError("release: must be at most the threshold")
        if 2 * self.pad_seconds > self.min_silence_seconds:
            raise ValueError("pad_seconds: twice the padding must fit into min_silence_seconds")
        for name in ("min_speech_seconds", "min_silence_seconds"):
            if getattr(self, name) >= self.max_turn_seconds:
                raise ValueError(f"{name}: must be under max_turn_seconds")
        return self


class SessionConfig(_Section):
    """What is played.

    Attributes:
        source: `stitched` puts the suite's recordings together with pauses, a correction, a digression and a
            return; `recording` plays them in their order without pauses, for recordings of whole sessions.
        seed: of the choices.
        language: only recordings of this language; None takes all.
        pause_seconds: shortest and longest pause between recordings.
        long_pause_seconds: shortest and longest of the long pauses.
        digression_turns: recordings of another session that interrupt the one that is played.
    """

    source: Literal["stitched", "recording"] = "stitched"
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    language: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    pause_seconds: tuple[_Seconds, _Seconds] = (0.6, 2.5)
    long_pause_seconds: tuple[_Seconds, _Seconds] = (4.0, 8.0)
    digression_turns: Annotated[int, Field(ge=1, le=100)] = 3

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("pause_seconds", "long_pause_seconds"):
            shortest, longest = getattr(self, name)
            if shortest > longest:
                raise ValueError(f"{name}: the shortest comes first")
        return self


class SoakConfig(_Section):
    """The live replay of a session by `misheard soak`; a run takes no notice of it.

    Attributes:
        endpointing: when a turn begins and ends.
        session: what is played.
        queue_turns: how many turns may wait before each stage; then what comes before it waits too.
        history_turns: of how many utterances a plan of scope `session` is made at most.
        attempts: how often a request is asked whose failure may pass.
        restarts: how often a server of the session that has ended is started again.
        sample_seconds: between two samples of memory and queues.
    """

    endpointing: EndpointingConfig = EndpointingConfig()
    session: SessionConfig = SessionConfig()
    queue_turns: Annotated[int, Field(ge=1, le=1_000)] = 16
    history_turns: Annotated[int, Field(ge=1, le=100)] = 8
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    restarts: Annotated[int, Field(ge=0, le=100)] = 3
    sample_seconds: Annotated[float, Field(ge=0.1, le=60.0)] = 1.0
