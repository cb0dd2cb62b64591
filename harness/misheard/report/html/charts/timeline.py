"""Figures over time, one panel below the other, with what ran when behind them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from misheard.report.html.charts.canvas import bare, draw, frame, ink, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _PANEL, _EDGE, _NAMES = 680, 84, 32, 44
_LEFT, _RIGHT, _BETWEEN = 44, 22, 3
_LEAST_NAMED = 0.07
"""The share of the width that a stage needs for its name to be written."""


@dataclass(frozen=True, slots=True)
class TimelinePanel:
    """A figure over time: `seconds` ascending, `values` with None where there is none."""

    title: str
    seconds: tuple[float, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """What ran from `start` to `end`, in seconds."""

    label: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the chart shows; `name` is unique in the page. `marks` are moments with a sign, such as events."""

    name: str
    title: str
    description: str
    panels: tuple[TimelinePanel, ...]
    spans: tuple[TimelineSpan, ...] = ()
    marks: tuple[tuple[float, str], ...] = ()


def timeline(data: Timeline) -> str:
    """Return the chart as SVG."""
    height = _PANEL * len(data.panels) + _EDGE + (_NAMES if data.spans else 0)
    return draw(
        data.name, data.title, data.description, (_WIDTH, height), lambda figure: _paint(figure, data)
    )


def _paint(figure: "Figure", data: Timeline) -> None:
    rows = figure.subplots(len(data.panels), 1, sharex=True, squeeze=False)[:, 0]
    last = max([at for panel in data.panels for at in panel.seconds] + [span.end for span in data.spans])
    for axes, panel in zip(rows, data.panels, strict=True):
        _panel(axes, panel)
        for place, span in enumerate(data.spans):
            if place % 2 == 0:
                axes.axvspan(span.start, span.end, color=ink("band"), linewidth=0, zorder=0)
        for at, _ in data.marks:
            axes.axvline(at, color=ink("worse"), linewidth=1.2, dashes=(2, 2))
    rows[0].set_xlim(0, last or 1.0)
    rows[-1].xaxis.set_major_formatter(lambda value, _: _tick(value, last))
    bare(rows[-1], keep="bottom")
    figure.subplots_adjust(hspace=0.55)
    frame(figure, left=_LEFT, top=18 + (_NAMES if data.spans else 0), right=_RIGHT)
    _names(rows[0], data, last or 1.0)


def clock(seconds: float) -> str:
    """Return a time as `42 s`, `3:05` or `1:02:30`."""
    whole = round(seconds)
    if whole < 120:
        return f"{seconds:g} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _tick(seconds: float, last: float) -> str:
    """Return a place on an axis; where it goes on for minutes, its beginning is written as minutes too."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}" if whole < 120 <= last else clock(seconds)


def _panel(axes: "Axes", panel: TimelinePanel) -> None:
    bare(axes)
    axes.grid(axis="y", linewidth=1.0)
    axes.set_axisbelow(True)
    values = [float("nan") if value is None else value for value in panel.values]
    axes.plot(panel.seconds, values, color=ink("accent"), linewidth=1.6)
    axes.set_ylim(bottom=0)
    axes.margins(y=0.15)
    axes.locator_params(axis="y", nbins=3)
    axes.tick_params(axis="y", labelcolor=ink("quiet"))
    axes.set_title(panel.title, loc="left", color=ink("ink"), pad=3)


def _names(axes: "Axes", data: Timeline, last: float) -> None:
    """Write the names of stages above the first panel, in two lines, where there is room for one."""
    scale = (_WIDTH - _LEFT - _RIGHT) / last
    ends = [-float(_LEFT), -float(_LEFT)]
    for span in data.spans:
        middle, half = scale * (span.start + span.end) / 2, text_width([span.label]) / 2 + _BETWEEN
        line = next((line for line, end in enumerate(ends) if end <= middle - half), None)
        if (span.end - span.start) / last < _LEAST_NAMED or line is None:
            continue
        ends[line] = middle + half
        axes.annotate(
            span.label, (middle / scale, 1.0), xycoords=("data", "axes fraction"),
            xytext=(0, 20 + 12 * line), textcoords="offset points", ha="center", va="bottom",
            color=ink("quiet"),
        )  # fmt: skip
