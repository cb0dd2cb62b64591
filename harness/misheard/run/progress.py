"""How a run tells whoever watches what it is doing, without knowing who that is."""

from typing import Protocol


class Progress(Protocol):
    """`begin` opens a phase of `total` steps and closes the one before; `advance` counts steps of it."""

    def begin(self, phase: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


class NoProgress:
    """Tells nobody."""

    def begin(self, phase: str, total: int | None) -> None:
        """Ignore the phase."""

    def advance(self, steps: int = 1) -> None:
        """Ignore the step."""

    def note(self, text: str) -> None:
        """Ignore the note."""
