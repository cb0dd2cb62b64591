"""The report and the comparison on a terminal: what lost how much first, then where, then what failed.

Nothing here computes; every number comes out of the documents. There is no headline number.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from misheard.report import terminal_comparison, terminal_report
from misheard.report.labels import ASCII, UNICODE, Marks
from misheard.report.values import Document


@dataclass(frozen=True, slots=True)
class Sized:
    """A renderable that is built for the width and the character set of where it is printed."""

    build: Callable[[int, Marks], Iterable[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blocks = list(self.build(options.max_width, ASCII if options.ascii_only else UNICODE))
        for place, block in enumerate(blocks):
            if place:
                yield Text("")
            yield block


def render_report(report: Document) -> Sized:
    """Return the report of a run (see `misheard.report.build.build_report`) for a rich console."""
    return Sized(lambda width, marks: terminal_report.blocks(report, width, marks))


def render_comparison(comparison: Document) -> Sized:
    """Return a comparison (see `misheard.report.comparison.build_comparison`) for a rich console."""
    return Sized(lambda width, marks: terminal_comparison.blocks(comparison, width, marks))
