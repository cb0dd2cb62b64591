"""A long session over its time: a lane per figure, with what happened once as numbered lines across all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misheard.report.html.charts.canvas import bare, draw, ink
from misheard.report.html.charts.timeline import clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _LEFT, _RIGHT = 780, 214, 14
_LEGEND, _NUMBERS, _AXIS, _GAP = 24, 42, 26, 12
_NUMBER_WIDTH = 15
_NUMBER_LINES = 3
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800)
_MOST_TICKS = 8
_REACH = 4.0
"""A budget of more times the highest figure is told in words: its line would press all figures flat."""

MOMENTS: dict[str, tuple[str, str, tuple[float, ...] | None]] = {
    "fault": ("v", "uncorrected", (2.0, 2.0)),
    "restart": ("s", "accent", (6.0, 2.0, 1.5, 2.0)),
    "check broken": ("X", "worse", None),
}
"""Per kind of moment its marker, colour and dashes; None for a whole line."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A figure per part of the session.

    Attributes:
        title: what it is.
        total: its figure for the whole session.
        values: one per part, None where there is none.
        show: writes a value of the axis.
        height: in CSS pixels.
        worst: a second figure per part; None for bars or steps of the first alone.
        budget: what the figure should not exceed; None without one.
        is_count: whether parts are bars from 0 and not levels.
    """

    title: str
    total: str
    values: tuple[float | None, ...]
    show: Callable[[float], str]
    height: int = 30
    worst: tuple[float | None, ...] | None = None
    budget: float | None = None
    is_count: bool = False


@dataclass(frozen=True, slots=True)
class SessionMoment:
    """What happened once: its time in seconds, its kind (a key of MOMENTS), and its number in the list."""

    t: float
    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class Session:
    """What the chart shows; `name` is unique in the page, `seconds` the length of the session."""

    name: str
    title: str
    description: str
    seconds: float
    lanes: tuple[Lane, ...]
    moments: tuple[SessionMoment, ...] = ()


def session_chart(data: Session) -> str:
    """Return the chart as SVG."""
    height = _top(data) + sum(lane.height + _GAP for lane in data.lanes) + _AXIS
    return draw(
        data.name, data.title, data.description, (_WIDTH, height), lambda figure: _paint(figure, data, height)
    )


def _top(data: Session) -> int:
    return _LEGEND + (_NUMBERS if data.moments else 0)


def _paint(figure: "Figure", data: Session, height: int) -> None:
    last = data.seconds or 1.0
    top = _top(data)
    handles: dict[str, Any] = {}
    axes = None
    for lane in data.lanes:
        axes = _axes(figure, height, top, lane.height)
        axes.set_xlim(0.0, last)
        handles |= _lane(axes, lane, last)
        for moment in data.moments:
            _line(axes, moment)
        top += lane.height + _GAP
    if axes is not None:
        step = next((step for step in _STEPS if last / step <= _MOST_TICKS), _STEPS[-1])
        axes.set_xticks([float(t) for t in range(0, int(last) + 1, step)])
        axes.xaxis.set_major_formatter(lambda value, _: clock(value))
        axes.tick_params(axis="x", labelbottom=True)
        bare(axes, keep="bottom")
    handles |= _numbers(figure, data, height)
    if handles:
        figure.legend(
            handles=list(handles.values()), labels=list(handles), loc="upper left", ncols=len(handles),
            handlelength=1.5, columnspacing=1.3, borderpad=0.0, borderaxespad=0.2,
        )  # fmt: skip


def _axes(figure: "Figure", height: int, top: int, tall: int) -> "Axes":
    place = (_LEFT / _WIDTH, 1 - (top + tall) / height, 1 - (_LEFT + _RIGHT) / _WIDTH, tall / height)
    axes: Axes = figure.add_axes(place)
    bare(axes)
    axes.tick_params(axis="x", labelbottom=False)
    axes.tick_params(axis="y", labelcolor=ink("quiet"))
    axes.axhline(0.0, color=ink("line"), linewidth=1.0, zorder=0)
    return axes


def _lane(axes: "Axes", lane: Lane, last: float) -> dict[str, Any]:
    """Draw a lane; return what the legend names."""
    width = last / len(lane.values)
    middles = [width * (place + 0.5) for place in range(len(lane.values))]
    known = [value for value in (*lane.values, *(lane.worst or ())) if value is not None]
    top = max(known, default=0.0)
    if lane.budget is not None and 0 < lane.budget <= _REACH * top:
        top = max(top, lane.budget)
    axes.set_ylim(0.0, 1.12 * top or 1.0)
    axes.set_yticks([max(known)] if top > 0 else [])
    axes.yaxis.set_major_formatter(lambda value, _: lane.show(value))
    for text, shift, token in ((lane.title, 1, "ink"), (lane.total, -14, "quiet")):
        axes.annotate(
            text, (0.0, 1.0), xycoords="axes fraction", xytext=(4 - _LEFT, shift - 1),
            textcoords="offset points", ha="left", va="top", color=ink(token), annotation_clip=False,
        )  # fmt: skip
    if lane.worst is not None:
        return _times(axes, lane, middles, last)
    heights = [value or 0.0 for value in lane.values]
    if lane.is_count:
        axes.bar(middles, heights, width=0.82 * width, color=ink("accent"), linewidth=0)
    else:
        levels = [float("nan") if value is None else value for value in lane.values]
        axes.plot(middles, levels, color=ink("accent"), linewidth=1.6, marker="o", markersize=2.5)
    return {}


def _times(axes: "Axes", lane: Lane, middles: list[float], last: float) -> dict[str, Any]:
    axes.set_yticks([axes.get_ylim()[1] / 1.12])
    worst = [float("nan") if value is None else value for value in lane.worst or ()]
    usual = [float("nan") if value is None else value for value in lane.values]
    found: dict[str, Any] = {}
    (found["worst of a part"],) = axes.plot(
        middles, worst, color=ink("neutral"), linewidth=1.0, dashes=(3, 1.5), marker="^", markersize=4.5,
        markeredgewidth=0,
    )  # fmt: skip
    (found["its p50"],) = axes.plot(
        middles, usual, color=ink("accent"), linewidth=1.8, marker="o", markersize=3.5, markeredgewidth=0
    )
    if lane.budget is not None and lane.budget <= axes.get_ylim()[1]:
        (found["budget of the p95"],) = axes.plot(
            [0.0, last], [lane.budget, lane.budget], color=ink("worse"), linewidth=1.6, dashes=(7, 3)
        )
    return found


def _line(axes: "Axes", moment: SessionMoment) -> None:
    _, token, dashes = MOMENTS[moment.kind]
    style: dict[str, Any] = {} if dashes is None else {"dashes": dashes}
    axes.axvline(moment.t, color=ink(token), linewidth=1.2, zorder=1, **style)


def _numbers(figure: "Figure", data: Session, height: int) -> dict[str, Any]:
    """Draw markers with their numbers above the lanes; return one of each kind for the legend."""
    if not data.moments:
        return {}
    axes = _axes(figure, height, _LEGEND, _NUMBERS)
    axes.set_axis_off()
    axes.set_xlim(0.0, data.seconds or 1.0)
    axes.set_ylim(0.0, _NUMBERS)
    found: dict[str, Any] = {}
    for moment, line in _lines(data):
        shape, token, _ = MOMENTS[moment.kind]
        axes.plot([moment.t], [4], linestyle="none", marker=shape, markersize=6, clip_on=False,
                  markerfacecolor=ink(token), markeredgewidth=0)  # fmt: skip
        if line is not None:
            axes.annotate(
                str(moment.number), (moment.t, 9 + 11 * line), ha="center", va="bottom", color=ink("ink"),
                fontsize=10, annotation_clip=False,
            )  # fmt: skip
        found.setdefault(
            moment.kind,
            axes.plot([], [], linestyle="none", marker=shape, markersize=7, markerfacecolor=ink(token),
                      markeredgewidth=0)[0],
        )  # fmt: skip
    return found


def _lines(data: Session) -> Iterator[tuple[SessionMoment, int | None]]:
    """Yield the moments with the line that their number stands in; None where all lines are full there."""
    scale = (_WIDTH - _LEFT - _RIGHT) / (data.seconds or 1.0)
    ends = [float("-inf")] * _NUMBER_LINES
    for moment in data.moments:
        at = scale * moment.t
        free = next((line for line, end in enumerate(ends) if at - end >= _NUMBER_WIDTH), None)
        if free is not None:
            ends[free] = at
        yield moment, free
