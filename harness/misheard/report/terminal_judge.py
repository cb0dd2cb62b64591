"""What a terminal says of the judge: whether its numbers are shown, and why not."""

import textwrap
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from misheard.report.labels import Marks, plain
from misheard.report.values import Document


def judge_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield one sentence where a judge was asked; a report of before there were judges has none."""
    judge = report.get("judge")
    if judge is None:
        return
    if judge["status"] != "trusted":
        sentence, style = f"The judge's numbers are withheld: {judge['reason']}.", "yellow"
    else:
        drift = judge["drift"]
        moved = "" if drift is None else f", {drift:+.2f} points from the scores it was accepted with"
        sentence, style = f"The judge is the one that was calibrated{moved.replace('-', marks.minus)}.", "dim"
    yield Text(textwrap.fill(plain(sentence), width, break_on_hyphens=False), style=style)
