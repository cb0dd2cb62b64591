"""Where a replay asks whether something is to go wrong now."""

import threading
from typing import Protocol

from misheard.failures import FailureKind


class Faults(Protocol):
    """Faults of a session, asked at the three places where one can be put in from within.

    Each method is called from one thread alone, and what it raises ends the session. `before_chunk` is asked
    before each chunk of audio is fed, with the second of the session at which it begins; it may take its
    time, and returns early where `stop` is set. Faults that come from without (a signal to a server, a jump
    of the clock, a full disk) begin there. `recognizing` returns why the recognition of a turn fails, None
    where it does not; `plan_reply` returns the reply that a plan is read from, given the real one.
    `audio_to` is the second of the session at which the turn's audio ends.
    """

    def before_chunk(self, start: float, stop: threading.Event) -> None: ...

    def recognizing(self, turn: str, audio_to: float) -> FailureKind | None: ...

    def plan_reply(self, turn: str, audio_to: float, text: str) -> str: ...


class NoFaults:
    """Lets everything go as it goes."""

    def before_chunk(self, start: float, stop: threading.Event) -> None:
        """Do nothing."""

    def recognizing(self, turn: str, audio_to: float) -> FailureKind | None:
        """Return that nothing fails."""
        return None

    def plan_reply(self, turn: str, audio_to: float, text: str) -> str:
        """Return the reply as it is."""
        return text
