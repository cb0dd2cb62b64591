"""The timeline of a long session as one figure, with a list of what its numbered lines stand for."""

from collections.abc import Callable, Iterator, Sequence

from misheard.report.html.charts.session import Lane, Session, SessionMoment, session_chart
from misheard.report.html.charts.timeline import clock
from misheard.report.html.page import Block, Cell, Column, Figure, Prose, Row, Section, Table
from misheard.report.html.soak_documents import SoakDocuments
from misheard.report.labels import UNICODE, count_of
from misheard.soak.terminal_timeline import COUNT_LABELS, format_seconds
from misheard.soak.timeline import Figures, Moment, Timeline, build_timeline

TIMELINE = "timeline"

_PARTS = 120
_MOST_LISTED = 100
_MIB = 2.0**20
_STAGE_HEIGHT, _GAUGE_HEIGHT = 70, 40


def timeline_section(documents: SoakDocuments) -> Section:
    """Return the session over its time."""
    timeline = build_timeline(documents.trace, documents.judged, _PARTS)
    moments = list(_moments(timeline))
    lanes = tuple(_lanes(timeline, documents))
    length = format_seconds(timeline.seconds)
    blocks: list[Block] = []
    if lanes:
        chart = Session(
            name="session-lanes",
            title="The session over its time",
            description="; ".join(f"{lane.title}: {lane.total}" for lane in lanes),
            seconds=timeline.seconds,
            lanes=lanes,
            moments=tuple(
                SessionMoment(moment.t, kind, number)
                for number, (moment, kind, _) in enumerate(moments[:_MOST_LISTED], 1)
            ),
        )
        note = f"{_PARTS} parts of {format_seconds(timeline.seconds / _PARTS)}; a bar or a point is one part"
        blocks.append(Figure(session_chart(chart), f"Over {length}", note, is_wide=True))
    else:
        blocks.append(Prose(("The trace has no turns, times or samples to draw.",)))
    if moments:
        blocks.append(_list(moments))
    return Section(TIMELINE, "The session over its time", tuple(blocks), "numbered lines: see the list below")


def _lanes(timeline: Timeline, documents: SoakDocuments) -> Iterator[Lane]:
    if any(sum(counts) for counts in timeline.counts.values()):
        for name, counts in timeline.counts.items():
            values = tuple(float(count) for count in counts)
            yield Lane(COUNT_LABELS[name], str(sum(counts)), values, _whole, is_count=True)
    for stage, times in timeline.stages.items():
        budget = documents.limits.latency(stage)
        total = f"p50 {format_seconds(times.p50_of_all)}, worst {format_seconds(times.worst_of_all)}"
        yield Lane(
            title=f"{stage}, budget {budget:g} s",
            total=total,
            values=times.p50,
            show=format_seconds,
            height=_STAGE_HEIGHT,
            worst=times.worst,
            budget=budget,
        )
    yield from _gauge("deepest queue", timeline.queue, _whole)
    yield from _gauge("memory", timeline.memory, _mebibytes)
    yield from _gauge("shapes", timeline.shapes, _whole)


def _gauge(title: str, figures: Figures, show: Callable[[float], str]) -> Iterator[Lane]:
    known = [figure for figure in figures if figure is not None]
    if known:
        yield Lane(title, f"at most {show(max(known))}", figures, show, _GAUGE_HEIGHT)


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _mebibytes(value: float) -> str:
    return f"{value / _MIB:.0f} MiB"


def _moments(timeline: Timeline) -> Iterator[tuple[Moment, str, str]]:
    """Yield what happened once, in the order of time: the moment, its kind for the chart, and in words."""
    found = [
        *((moment, "fault", moment.what.replace("_", " ")) for moment in timeline.faults),
        *((moment, "restart", _restart(moment)) for moment in timeline.restarts),
        *(
            (moment, "check broken", f"{moment.what} is broken for the first time")
            for moment in timeline.breaches
        ),
    ]
    yield from sorted(found, key=lambda each: (each[0].t, each[0].line))


def _restart(moment: Moment) -> str:
    took = "" if moment.seconds is None else f" in {format_seconds(moment.seconds)}"
    return f"server restarted{took}"


_SIGNS = {"fault": "▼", "restart": "■", "check broken": UNICODE.times}
"""The markers of the chart in the list of its lines."""


def _at(t: float) -> str:
    return f"{t:.1f} s" if t < 119.95 else clock(t)


def _list(moments: Sequence[tuple[Moment, str, str]]) -> Table:
    rows = tuple(
        Row(
            str(number),
            (
                Cell(_at(moment.t), sort=moment.t),
                Cell(f"{_SIGNS[kind]} {kind}", sort=kind, tone="bad" if kind == "check broken" else ""),
                Cell(words),
                Cell(str(moment.line), sort=moment.line),
            ),
        )
        for number, (moment, kind, words) in enumerate(moments[:_MOST_LISTED], 1)
    )
    columns = (
        Column("time"),
        Column("kind", is_text=True),
        Column("what", is_text=True),
        Column("line of the trace"),
    )
    more = len(moments) - _MOST_LISTED
    notes = (f"and {more} more, which are not drawn",) if more > 0 else ()
    caption = f"What the {count_of(len(rows), 'line')} stand for"
    return Table("moments", caption, "number", columns, rows, notes=notes)
