"""What a check says, and which states there are."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What a check found.

    `warning` works, but worse than it could, or perhaps not for long; `missing` is something that can be
    added and that nothing asks for yet; `broken` should work and does not, or is what the config needs.
    """

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"
    BROKEN = "broken"


class Group(StrEnum):
    """The headings under which checks are shown, in this order."""

    PYTHON = "python"
    AUDIO = "audio"
    RECOGNITION = "recognition"
    LANGUAGE_MODEL = "language model"
    BOARDS = "boards"
    GPU = "GPU"
    MODELS = "models"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        group: the heading it stands under.
        name: of what was looked at; a package is named as its index names it.
        state: what that means.
        found: what was found, in words, on one line.
        advice: what to install or set; empty where there is nothing to do.
        seconds: how long the look took, with what was looked at together.
    """

    group: Group
    name: str
    state: State
    found: str
    advice: str = ""
    seconds: float = 0.0


def absent(needed: bool) -> State:
    """Return what something that is not there is: `broken` where a config needs it."""
    return State.BROKEN if needed else State.MISSING


def one_line(text: str, limit: int = 300) -> str:
    """Return foreign text as one line that is safe to print, at most `limit` characters long."""
    line = " ".join(text.split())
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
