"""A session over its time on a terminal: a row per lane, a time axis, and where faults and breaches stand."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from misheard.report.labels import UNICODE, Marks
from misheard.report.terminal import Sized
from misheard.soak.table import Trace
from misheard.soak.timeline import Figures, Moment, StageTimes, Timeline, build_timeline
from misheard.soak.verdict import SoakVerdict

_LABEL_WIDTH = 15
_VALUE_WIDTH = 10
_GAP = 2
_LEAST_PARTS, _MOST_PARTS = 8, 120
_MAX_LISTED = 20
_MIB = 2.0**20

_LEVELS = ("▁▂▃▄▅▆▇█", ".:-=+*#@")
"""The height of a figure, in eight steps from 0 to the highest of its lane; the second is ASCII."""

_COUNTS = {
    "opened": ("turns opened", ""),
    "closed": ("turns closed", ""),
    "finals": ("finals", ""),
    "empty": ("empty", "yellow"),
    "failed": ("failed", "red"),
    "rejected": ("replies failed", "red"),
}
"""Per count what its lane is called, and its style."""

COUNT_LABELS = {name: text for name, (text, _) in _COUNTS.items()}
"""What each count of a timeline is called."""

_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800)
"""Seconds that may lie between two times of the axis."""


def render_timeline(trace: Trace, judged: SoakVerdict | None) -> Sized:
    """Return a session over its time for a rich console: lanes as wide as there is room for."""
    return Sized(lambda width, marks: [Group(*session_lanes(trace, judged, width, marks))])


def session_lanes(
    trace: Trace, judged: SoakVerdict | None, width: int, marks: Marks
) -> Iterator[RenderableType]:
    """Yield the lanes of a session, one character per part of it, then what happened when."""
    parts = min(max(width - _LABEL_WIDTH - _VALUE_WIDTH - 2 * _GAP, _LEAST_PARTS), _MOST_PARTS)
    timeline = build_timeline(trace, judged, parts)
    table = Table(box=None, show_header=False, padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(min_width=_LABEL_WIDTH, no_wrap=True, overflow="crop")
    table.add_column(min_width=parts, no_wrap=True, overflow="crop")
    table.add_column(justify="right", no_wrap=True, overflow="crop")
    table.add_row("", Text(_axis(timeline.seconds, parts), style="dim"), Text("session", style="dim"))
    for label, lane, value in _lanes(timeline, marks):
        table.add_row(label, lane, value)
    yield table
    yield from _listed(timeline)


def _lanes(timeline: Timeline, marks: Marks) -> Iterator[tuple[str, Text, str]]:
    """Yield the rows: what it is, its lane, and its figure for the whole session."""
    levels = _LEVELS[0] if marks == UNICODE else _LEVELS[1]
    if any(sum(counts) for counts in timeline.counts.values()):
        for name, counts in timeline.counts.items():
            label, style = _COUNTS[name]
            yield label, Text(_bars([count or None for count in counts], levels), style), f"{sum(counts)}"
    for stage, times in timeline.stages.items():
        yield from _stage_lanes(stage, times, levels)
    gauges: tuple[tuple[str, Figures, float, str], ...] = (
        ("deepest queue", timeline.queue, 1.0, ""),
        ("memory", timeline.memory, _MIB, " MiB"),
        ("shapes", timeline.shapes, 1.0, ""),
    )
    for label, figures, unit, name in gauges:
        known = [figure for figure in figures if figure is not None]
        if known:
            yield label, Text(_bars(figures, levels)), f"{max(known) / unit:.0f}{name}"
    moments = (
        ("faults", timeline.faults, "!", "yellow"),
        ("restarts", timeline.restarts, "R", "yellow"),
        ("checks broken", timeline.breaches, marks.times, "bold red"),
    )
    for label, found, sign, style in moments:
        if found:
            yield label, Text(_signs(found, timeline, sign), style), f"{len(found)}"


def _stage_lanes(stage: str, times: StageTimes, levels: str) -> Iterator[tuple[str, Text, str]]:
    yield f"{stage} p50", Text(_bars(times.p50, levels)), format_seconds(times.p50_of_all)
    yield f"{stage} worst", Text(_bars(times.worst, levels)), format_seconds(times.worst_of_all)


def _bars(figures: Sequence[float | None], levels: str) -> str:
    """Return a character per figure, blank for None; the highest figure of a lane is as high as can be."""
    highest = max((figure for figure in figures if figure is not None), default=0.0)
    return "".join(
        " " if figure is None else levels[_level(figure, highest, len(levels))] for figure in figures
    )


def _level(figure: float, highest: float, levels: int) -> int:
    return 0 if highest <= 0.0 else min(int(levels * figure / highest), levels - 1)


def _signs(moments: Sequence[Moment], timeline: Timeline, sign: str) -> str:
    parts = len(timeline.queue)
    signs = [" "] * parts
    for moment in moments:
        signs[_part(moment.t, timeline.seconds, parts)] = sign
    return "".join(signs)


def _part(t: float, seconds: float, parts: int) -> int:
    return min(int(parts * t / seconds), parts - 1) if seconds > 0.0 else 0


def _axis(seconds: float, parts: int) -> str:
    """Return times of the session, each beginning where it belongs."""
    room = len(_clock(seconds)) + 1
    step = next((step for step in _STEPS if parts * step >= room * seconds), _STEPS[-1])
    axis = ""
    for t in range(0, int(seconds) + 1, step):
        begin, name = _part(t, seconds, parts), _clock(t)
        if len(axis) <= begin and begin + len(name) <= parts:
            axis = f"{axis:{begin}}{name} "
    return axis.rstrip()


def _clock(t: float) -> str:
    minutes, seconds = divmod(int(t), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def format_seconds(seconds: float) -> str:
    """Return a time as short as a table needs it."""
    if seconds < 0.1:
        return f"{1000.0 * seconds:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 100.0 else f"{seconds:.0f} s"


def _listed(timeline: Timeline) -> Iterator[RenderableType]:
    """Yield what the signs stand for, in the order of time."""
    found = [
        *((moment, f"fault {moment.what}", "yellow") for moment in timeline.faults),
        *((moment, _restart(moment), "yellow") for moment in timeline.restarts),
        *((moment, f"breaks {moment.what}", "bold red") for moment in timeline.breaches),
    ]
    found.sort(key=lambda each: each[0].line)
    if not found:
        return
    table = Table(box=None, show_header=False, padding=(0, _GAP, 0, 0), pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for moment, what, style in found[:_MAX_LISTED]:
        table.add_row(_clock(moment.t), Text.assemble((what, style), (f", line {moment.line}", "dim")))
    yield Text("")
    yield table
    if len(found) > _MAX_LISTED:
        yield Text(f"and {len(found) - _MAX_LISTED} more", style="dim")


def _restart(moment: Moment) -> str:
    return "server restarted" + ("" if moment.seconds is None else f" in {format_seconds(moment.seconds)}")
