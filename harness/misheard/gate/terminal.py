"""The verdict on a terminal: every check with its status, then the outcome."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misheard.gate.sentences import summary, undecided
from misheard.gate.verdict import Check, GateVerdict, Outcome
from misheard.report.labels import Marks, with_marks
from misheard.report.terminal import Sized
from misheard.stats.gate import Status

STATUS_WORDS = {
    Status.PASS: ("pass", "green"),
    Status.FAIL: ("FAIL", "bold red"),
    Status.INCONCLUSIVE: ("inconclusive", "yellow"),
    Status.NO_EVIDENCE: ("NO EVIDENCE", "bold red"),
    Status.WAIVED: ("waived", "dim"),
}
"""What a status is called on a terminal, and its style."""

_STYLES = {Outcome.SHIP: "bold green", Outcome.INCONCLUSIVE: "bold yellow"}


def render_verdict(verdict: GateVerdict) -> Sized:
    """Return the verdict for a rich console. Nothing here decides."""
    return Sized(lambda _, marks: [Group(*_blocks(verdict, marks))])


def _blocks(verdict: GateVerdict, marks: Marks) -> Iterator[RenderableType]:
    yield Text.assemble(("gate       ", "dim"), verdict.gate)
    yield Text.assemble(("suite      ", "dim"), verdict.suite or "unknown")
    yield Text.assemble(("candidate  ", "dim"), verdict.candidate)
    yield Text.assemble(("baseline   ", "dim"), verdict.baseline or "none")
    if verdict.soak is not None:
        yield Text.assemble(("soak       ", "dim"), verdict.soak)
    yield Text("")
    for refusal in verdict.refusals:
        yield Padding(Text(refusal), (0, 0, 0, 2))
    if verdict.checks:
        yield _table(verdict.checks, marks)
    for note in verdict.notes:
        yield Padding(Text(note, style="dim"), (0, 0, 0, 2))
    yield Text("")
    yield render_summary(verdict)


def render_summary(verdict: GateVerdict) -> Text:
    """Return the outcome in one line."""
    return Text(summary(verdict), style=_STYLES.get(verdict.outcome, "bold red"))


def _table(checks: tuple[Check, ...], marks: Marks) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        word, style = STATUS_WORDS[check.status]
        where = Text(f"{check.id}{undecided(check)}", style="bold")
        table.add_row(Text(word, style=style), Group(where, Text(with_marks(check.why, marks))))
    return table
