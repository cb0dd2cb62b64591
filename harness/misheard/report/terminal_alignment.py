"""Alignments on a terminal: reference over hypothesis, column by column, wrapped at its width.

Tokens are as wide as the terminal shows them. Those with right-to-left characters stand in isolates, so that
columns keep their order; control characters and direction marks are shown as escapes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from unicodedata import category

from rich.cells import cell_len
from rich.text import Text

from misheard.report.terminal_score import isolated, visible
from misheard.scoring.alignments import AlignedToken, Operation

_LABELS = ("REF: ", "HYP: ", "     ")
_FILL = "*"
_MARKS: dict[Operation, str] = {"match": "", "substitution": "S", "deletion": "D", "insertion": "I"}
_STYLES: dict[Operation, str] = {
    "match": "",
    "substitution": "yellow",
    "deletion": "red",
    "insertion": "cyan",
}
_MIN_WIDTH = 20


class _Column(NamedTuple):
    operation: Operation
    reference: str
    hypothesis: str
    width: int


def alignment_lines(steps: Iterable[AlignedToken], width: int) -> list[Text]:
    """Return an alignment in rows of three lines, at most `width` cells wide unless one token is wider."""
    lines = []
    for row in _wrapped(map(_column, steps), max(width, _MIN_WIDTH) - len(_LABELS[0])):
        lines.append(_line(_LABELS[0], row, [column.reference for column in row]))
        lines.append(_line(_LABELS[1], row, [column.hypothesis for column in row]))
        marks = [_MARKS[column.operation] for column in row]
        if any(marks):
            lines.append(_line(_LABELS[2], row, marks))
    return lines


def _column(step: AlignedToken) -> _Column:
    shown = [None if token is None else _shown(token) for token in (step.reference, step.hypothesis)]
    width = max(cell_len(token) for token in shown if token is not None)
    reference, hypothesis = (_FILL * max(width, 1) if token is None else token for token in shown)
    return _Column(step.operation, reference, hypothesis, max(width, 1))


def _shown(token: str) -> str:
    """Return a token as it is printed; a mark that begins it gets a dotted circle to stand on."""
    return visible(f"\u25cc{token}" if category(token[0]).startswith("M") else token)


def _wrapped(columns: Iterable[_Column], width: int) -> Iterator[Sequence[_Column]]:
    row: list[_Column] = []
    used = 0
    for column in columns:
        if row and used + column.width > width:
            yield row
            row, used = [], 0
        row.append(column)
        used += column.width + 1
    if row:
        yield row


def _line(label: str, row: Sequence[_Column], cells: Sequence[str]) -> Text:
    line = Text(label, style="dim", end="")
    for column, cell in zip(row, cells, strict=True):
        style = _STYLES[column.operation]
        is_fill = cell == _FILL * column.width and column.operation in ("deletion", "insertion")
        line.append(isolated(cell), style="dim" if is_fill else f"not dim {style}".strip())
        line.append(" " * (column.width - cell_len(cell) + 1))
    line.rstrip()
    return line
