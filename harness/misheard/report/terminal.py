"""The report and the comparison on a terminal: what lost how much first, then where, then what failed.

Nothing here computes; every number comes out of the documents. There is no headline number.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

from misheard.report import terminal_comparison, terminal_power, terminal_report, terminal_selection
from misheard.report.labels import ASCII, UNICODE, Marks
from misheard.report.values import Document


@dataclass(frozen=True, slots=True)
class Sized:
    """A renderable that is built for the width and the character set of where it is printed.

    No line of it ends in white space.
    """

    build: Callable[[int, Marks], Iterable[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blocks = self.build(options.max_width, ASCII if options.ascii_only else UNICODE)
        for place, block in enumerate(blocks):
            if place:
                yield Segment.line()
            for line in console.render_lines(block, options.update(height=None), pad=False):
                yield from _without_trailing_space(line)
                yield Segment.line()


def _without_trailing_space(line: Sequence[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].control:
        last = kept.pop()
        if text := last.text.rstrip():
            return [*kept, Segment(text, last.style)]
    return kept


def render_report(report: Document) -> Sized:
    """Return the report of a run (see `misheard.report.build.build_report`) for a rich console."""
    return Sized(lambda width, marks: terminal_report.blocks(report, width, marks))


def render_comparison(comparison: Document) -> Sized:
    """Return a comparison (see `misheard.report.comparison.build_comparison`) for a rich console."""
    return Sized(lambda width, marks: terminal_comparison.blocks(comparison, width, marks))


def render_selection(matrix: Document) -> Sized:
    """Return a matrix of chosen items (see `misheard.report.selection.build_matrix`) for a rich console."""
    return Sized(lambda width, marks: terminal_selection.blocks(matrix, width, marks))


def render_power(plan: Document) -> Sized:
    """Return what a pilot says about sizes (see `misheard.report.power.build_power`) for a rich console."""
    return Sized(lambda width, marks: terminal_power.blocks(plan, width, marks))
