"""Lines of the one table that `scripts/gpu_check` prints."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

OK, WRONG, SKIPPED = "ok", "WRONG", "skipped"


@dataclass(frozen=True)
class Line:
    """One result. `figure` is for people, `numbers` are the same and more for programs; neither has text."""

    check: str
    name: str
    result: str
    figure: str = ""
    reason: str = ""
    numbers: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def judged(check: str, name: str, is_right: bool, figure: str, reason: str = "", **numbers: Any) -> Line:
    """Return a line that is ok, or WRONG for a reason."""
    return Line(check, name, OK if is_right else WRONG, figure, "" if is_right else reason, numbers)


def skipped(check: str, name: str, reason: str) -> Line:
    """Return a line for what was not checked."""
    return Line(check, name, SKIPPED, "", reason)


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a table in Markdown whose columns are aligned."""
    rows = [("check", "what", "figure", "result")]
    rows += [
        (line.check, line.name, line.figure, f"{line.result}: {line.reason}" if line.reason else line.result)
        for line in lines
    ]
    cells = [[" ".join(cell.split()).replace("|", "/") for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(3)]
    padded = [[*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]] for row in cells]
    padded.insert(1, ["-" * width for width in widths] + ["------"])
    return "\n".join(f"| {' | '.join(row)} |" for row in padded)


def count(number: int, noun: str) -> str:
    """Return `1 word`, `2 words`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
