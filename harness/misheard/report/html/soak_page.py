"""The page of a long session: its verdict, its figures over time with what broke when, and every check."""

from collections.abc import Iterator

import numpy as np

from misheard.gate.sentences import summary, undecided
from misheard.gate.verdict import Check, Outcome
from misheard.report.html.page import (
    Banner,
    Block,
    Cell,
    Column,
    Details,
    Highlight,
    Page,
    Prose,
    Row,
    Section,
    Table,
)
from misheard.report.html.run_verdict import SECTION
from misheard.report.html.soak_charts import TIMELINE, timeline_section
from misheard.report.html.soak_documents import SoakDocuments
from misheard.report.html.soak_facts import reproduce_section, session_sections
from misheard.report.labels import UNICODE, count_of
from misheard.soak.events import EventName
from misheard.soak.terminal_timeline import format_seconds
from misheard.soak.verdict import Breaches
from misheard.stats.gate import Status

_STATUS = {
    Status.PASS: ("✓ pass", "good"),
    Status.FAIL: ("✗ fail", "bad"),
    Status.INCONCLUSIVE: ("? inconclusive", "quiet"),
    Status.NO_EVIDENCE: ("∅ no evidence", "bad"),
    Status.WAIVED: ("– waived", "quiet"),
}
"""What a status is called, with a sign, and its tone."""

_TONES = {Outcome.SHIP: "good", Outcome.INCONCLUSIVE: "quiet"}
_ORDER = (Status.FAIL, Status.NO_EVIDENCE, Status.INCONCLUSIVE, Status.WAIVED, Status.PASS)
_LATENCY = "latency/"
_MIB = 2.0**20


def soak_page(documents: SoakDocuments) -> Page:
    """Return the page of a session."""
    judged = documents.judged
    events = count_of(sum(judged.counts.values()), "event")
    facts = [documents.sentence] if documents.sentence else []
    return Page(
        title=documents.name,
        label="Soak",
        facts=(
            *facts,
            f"trace of {format_seconds(judged.seconds)}",
            events,
            f"limits: {judged.verdict.gate}",
        ),
        banner=_banner(documents),
        highlights=tuple(_highlights(documents)),
        sections=tuple(_sections(documents)),
    )


def _banner(documents: SoakDocuments) -> Banner:
    verdict = documents.judged.verdict
    word, _, sentence = summary(verdict).partition(": ")
    return Banner(word, sentence, _TONES.get(verdict.outcome, "bad"), SECTION)


def _sections(documents: SoakDocuments) -> Iterator[Section]:
    yield timeline_section(documents)
    yield _verdict_section(documents)
    yield from session_sections(documents)
    yield reproduce_section(documents)


def _highlights(documents: SoakDocuments) -> Iterator[Highlight]:
    yield from _failed_checks(documents)
    yield from _turns(documents)
    yield from _latency(documents)
    yield from _memory(documents)


def _failed_checks(documents: SoakDocuments) -> Iterator[Highlight]:
    checks = [check for check in documents.judged.verdict.checks if check.decides]
    failed = [check for check in checks if check.status in (Status.FAIL, Status.NO_EVIDENCE)]
    yield Highlight(
        title="Checks broken",
        value=str(len(failed)),
        what=f"of {count_of(len(checks), 'check')}",
        detail=", ".join(check.id for check in failed),
        link=SECTION,
        tone="bad" if failed else "",
    )


def _turns(documents: SoakDocuments) -> Iterator[Highlight]:
    counts = documents.judged.counts
    opened = counts.get(EventName.TURN_OPENED, 0)
    if not opened:
        return
    parts = [
        f"{counts[name]} {word}"
        for name, word in (
            (EventName.TRANSCRIPT_FINAL, "final"),
            (EventName.TRANSCRIPT_EMPTY, "empty"),
            (EventName.TRANSCRIPT_FAILED, "failed"),
            (EventName.PLAN_REJECTED, "plan rejected"),
        )
        if name in counts
    ]
    yield Highlight(
        "Turns", str(opened), "turns opened", detail=f" {UNICODE.dot} ".join(parts), link=TIMELINE
    )


def _latency(documents: SoakDocuments) -> Iterator[Highlight]:
    """Yield the stage whose 95th percentile is the most times its budget."""
    timed = [
        (check.candidate / check.limit, check)
        for check in documents.judged.verdict.checks
        if check.id.startswith(_LATENCY) and check.candidate is not None and check.limit
    ]
    if not timed:
        return
    times, worst = max(timed, key=lambda each: each[0])
    yield Highlight(
        title="Slowest for its budget",
        value=format_seconds(worst.candidate or 0.0),
        what=f"{worst.id.removeprefix(_LATENCY)}, p95",
        detail=f"budget {worst.limit:g} s {UNICODE.dot} {times:.2g}{UNICODE.times} the budget",
        link=TIMELINE,
        tone="bad" if times > 1 else "",
    )


def _memory(documents: SoakDocuments) -> Iterator[Highlight]:
    memory = documents.trace.number("memory_bytes")
    known = memory[~np.isnan(memory)]
    if known.size:
        yield Highlight(
            "Memory",
            f"{known.max() / _MIB:.0f} MiB",
            "at most",
            detail=f"{known[0] / _MIB:.0f} MiB at first, {known[-1] / _MIB:.0f} MiB at last",
            link=TIMELINE,
        )


def _verdict_section(documents: SoakDocuments) -> Section:
    judged = documents.judged
    checks = sorted(judged.verdict.checks, key=lambda check: _ORDER.index(check.status))
    columns = (
        Column("status", is_text=True),
        Column("finding", is_text=True),
        Column("n", note="turns, operations, times or samples that were looked at"),
        Column("events that break it"),
    )
    rows = tuple(_check_row(check, judged.breaches[check.id]) for check in checks)
    blocks: list[Block] = [Table("checks", "Every check", "check", columns, rows)]
    events = tuple(_event_rows(documents))
    if events:
        titles = (
            Column("time"),
            Column("line of the trace"),
            Column("event", is_text=True),
            Column("of", is_text=True),
        )
        table = Table("events", "The first events that break each check", "check", titles, events)
        blocks.append(Details("First events of each check that is broken", (table,)))
    if judged.verdict.notes:
        blocks.append(Prose(judged.verdict.notes, "quiet"))
    return Section(SECTION, "Verdict, check by check", tuple(blocks), summary(judged.verdict))


def _check_row(check: Check, breaches: Breaches) -> Row:
    word, tone = _STATUS[check.status]
    is_passed = check.status in (Status.PASS, Status.WAIVED)
    cells = (
        Cell(word, sort=_ORDER.index(check.status), tone=tone if check.decides else "quiet"),
        Cell(check.why, below="" if is_passed else breaches.why),
        Cell(UNICODE.missing if check.n is None else str(check.n), sort=check.n),
        Cell(str(breaches.count), sort=breaches.count),
    )
    return Row(check.id, cells, below=undecided(check).strip(" ()"))


def _event_rows(documents: SoakDocuments) -> Iterator[Row]:
    for check in documents.judged.verdict.checks:
        for pointer in documents.judged.breaches[check.id].first:
            yield Row(
                check.id,
                (
                    Cell(format_seconds(pointer.t), sort=pointer.t),
                    Cell(str(pointer.line), sort=pointer.line),
                    Cell(pointer.event.replace("_", " "), sort=pointer.event),
                    Cell(UNICODE.missing if pointer.id is None else pointer.id),
                ),
            )
