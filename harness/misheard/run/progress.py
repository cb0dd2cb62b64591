"""How a run tells whoever watches what it is doing, without knowing who that is."""

from typing import Protocol


class Progress(Protocol):
    """`begin` opens a phase of `total` steps and closes the one before; `advance` counts steps of it.

    `beside` is for what goes on at the same time: phases of its own, shown with these.
    """

    def begin(self, phase: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...

    def note(self, text: str) -> None: ...

    def beside(self) -> "Progress": ...


class NoProgress:
    """Tells nobody."""

    def begin(self, phase: str, total: int | None) -> None:
        """Ignore the phase."""

    def advance(self, steps: int = 1) -> None:
        """Ignore the step."""

    def note(self, text: str) -> None:
        """Ignore the note."""

    def beside(self) -> "NoProgress":
        """Return somebody else who tells nobody."""
        return self
