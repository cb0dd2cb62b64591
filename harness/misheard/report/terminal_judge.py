"""What a terminal says of the judge: whether its numbers are shown, and why not."""

import textwrap
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from misheard.report.labels import Marks, plain
from misheard.report.values import Document


def judge_block(report: Document, width: int, marks: Marks) -> Iterator[RenderableType]:
    """Yield one sentence where a judge was asked."""
    sentence = judge_sentence(report, marks)
    if sentence is not None:
        style = "dim" if report["judge"]["status"] == "trusted" else "yellow"
        yield Text(textwrap.fill(plain(sentence), width, break_on_hyphens=False), style=style)


def judge_sentence(report: Document, marks: Marks) -> str | None:
    """Return whether the judge's numbers are trusted; None without one, as before there were judges."""
    judge = report.get("judge")
    if judge is None:
        return None
    if judge["status"] != "trusted":
        return f"The judge's numbers are withheld: {judge['reason']}."
    drift = judge["drift"]
    moved = "" if drift is None else f", {drift:+.2f} points from the scores it was accepted with"
    return f"The judge is the one that was calibrated{moved.replace('-', marks.minus)}."
