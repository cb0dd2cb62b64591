"""A session on a terminal: its time, every check with its status, then the outcome."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from misheard.gate.sentences import undecided
from misheard.gate.terminal import STATUS_WORDS, render_summary
from misheard.report.labels import Marks, count_of, with_marks
from misheard.report.terminal import Sized
from misheard.soak.finished import FinishedSoak
from misheard.soak.terminal_timeline import session_lanes
from misheard.soak.verdict import SoakVerdict
from misheard.stats.gate import Status


def render_soak(judged: SoakVerdict) -> Sized:
    """Return the verdict for a rich console. Nothing here decides."""
    return Sized(lambda _, marks: [Group(*_blocks(judged, marks))])


def render_finished(soak: FinishedSoak) -> Sized:
    """Return the folder of a soak for a rich console: its time and its verdict."""
    return Sized(
        lambda width, marks: [
            Text.assemble(("soak     ", "dim"), f"{soak.name}: {soak.facts.sentence}"),
            Group(*session_lanes(soak.read.trace, soak.judged, width, marks)),
            Group(*_blocks(soak.judged, marks)),
        ]
    )


def _blocks(judged: SoakVerdict, marks: Marks) -> Iterator[RenderableType]:
    verdict = judged.verdict
    events = count_of(sum(judged.counts.values()), "event")
    yield Text.assemble(("trace    ", "dim"), verdict.candidate)
    yield Text.assemble(("limits   ", "dim"), verdict.gate)
    yield Text.assemble(("session  ", "dim"), f"{judged.seconds:.1f} s, {events}")
    yield Text("")
    yield _table(judged, marks)
    for note in verdict.notes:
        yield Padding(Text(note, style="dim"), (0, 0, 0, 2))
    yield Text("")
    yield render_summary(verdict)


def _table(judged: SoakVerdict, marks: Marks) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in judged.verdict.checks:
        word, style = STATUS_WORDS[check.status]
        lines = [Text(f"{check.id}{undecided(check)}", style="bold"), Text(with_marks(check.why, marks))]
        if check.status not in (Status.PASS, Status.WAIVED) and check.decides:
            lines.append(Text(judged.breaches[check.id].why, style="dim"))
        table.add_row(Text(word, style=style if check.decides else "dim"), Group(*lines))
    return table
