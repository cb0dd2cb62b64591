"""Values with their intervals, a row per name: arms, conditions, or the differences of a comparison."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misheard.report.html.charts.canvas import bare, draw, frame, ink, text_width
from misheard.report.labels import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _DOT, _EDGE, _LEGEND = 400, 14, 14, 36, 24
_LEGEND_ROW, _BESIDE_NAME = 18, 44
"""Pixels that a further row of the legend takes, and what stands beside a name in it."""
_MOST_LETTERS = 22


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval.

    Attributes:
        series: what it is of, such as an arm; the same series has one colour and one shape.
        value: None where there is none.
        interval: None where there is none.
        colour: of the dot; see `canvas.TOKENS`.
        shape: matplotlib's marker, so that colour is not alone: `o`, `s`, `D`, `^`, `v`.
    """

    series: str
    value: float | None
    interval: tuple[float, float] | None
    colour: str
    shape: str = "o"


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A name with one dot per series."""

    label: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """What the chart shows; `name` is unique in the page.

    Attributes:
        name, title, description: of the chart.
        rows: from top to bottom.
        show: writes a value of the axis.
        limits: of the axis; None for what the values take.
        reference: a value with a line of its own, such as no difference; None for none.
        band: a range that is shaded, such as a margin; None for none.
    """

    name: str
    title: str
    description: str
    rows: tuple[IntervalRow, ...]
    show: Callable[[float], str]
    limits: tuple[float, float] | None = None
    reference: float | None = None
    band: tuple[float, float] | None = None


def intervals(data: Intervals) -> str:
    """Return the chart as SVG. A legend names the series where there are several."""
    series = _series(data)
    dots = sum(max(1, len(row.dots)) for row in data.rows)
    height = _EDGE + _DOT * dots + _ROW * len(data.rows) + _legend_height(series)
    return draw(
        data.name, data.title, data.description, (_WIDTH, height), lambda figure: _paint(figure, data, series)
    )


def _series(data: Intervals) -> dict[str, Dot]:
    """Return a dot of every series, in the order of the row that has most."""
    rows = sorted(data.rows, key=lambda row: -len(row.dots))
    return {dot.series: dot for row in rows for dot in row.dots}


def _legend_columns(series: Collection[str]) -> int:
    """Return how many names of the legend fit beside each other."""
    widths = [text_width([name]) + _BESIDE_NAME for name in series]
    for columns in range(len(widths), 1, -1):
        rows = math.ceil(len(widths) / columns)
        if sum(max(widths[at : at + rows]) for at in range(0, len(widths), rows)) <= _WIDTH:
            return columns
    return 1


def _legend_height(series: Collection[str]) -> int:
    if len(series) < 2:
        return 0
    return _LEGEND + _LEGEND_ROW * (math.ceil(len(series) / _legend_columns(series)) - 1)


def _paint(figure: "Figure", data: Intervals, series: dict[str, Dot]) -> None:
    axes = figure.subplots()
    bare(axes, keep="bottom")
    axes.xaxis.set_major_formatter(lambda value, _: data.show(value))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", linewidth=1.0)
    axes.set_axisbelow(True)
    if data.band is not None:
        axes.axvspan(*data.band, color=ink("band"), linewidth=0)
    if data.reference is not None:
        axes.axvline(data.reference, color=ink("quiet"), linewidth=1.0)
    places, labels = [], []
    height = 0.0
    for row in data.rows:
        count = max(1, len(row.dots))
        places.append(height + (count - 1) / 2)
        labels.append(_short(row.label))
        for place, dot in enumerate(row.dots):
            _dot(axes, height + place, dot)
        height += count + _ROW / _DOT
    axes.set_yticks(places, labels)
    frame(figure, left=text_width(labels) + 14, top=_legend_height(series) + 6, right=22)
    axes.set_ylim(height - _ROW / _DOT - 0.2, -0.8)
    if data.limits is not None:
        axes.set_xlim(*data.limits)
    if len(series) > 1:
        _legend(figure, axes, series)


def _short(label: str) -> str:
    label = plain(label)
    return label if len(label) <= _MOST_LETTERS else label[: _MOST_LETTERS - 1] + "…"


def _dot(axes: "Axes", place: float, dot: Dot) -> None:
    tint = ink(dot.colour)
    if dot.interval is not None:
        axes.plot(list(dot.interval), [place, place], color=tint, linewidth=2.0, solid_capstyle="butt")
    if dot.value is not None:
        axes.plot([dot.value], [place], **_marker(dot), clip_on=False, zorder=3)


def _marker(dot: Dot) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": dot.shape,
        "markersize": 8,
        "markerfacecolor": ink(dot.colour),
        "markeredgecolor": ink("paper"),
        "markeredgewidth": 1.2,
    }


def _legend(figure: "Figure", axes: "Axes", series: dict[str, Dot]) -> None:
    handles = [axes.plot([], [], **_marker(dot), label=name)[0] for name, dot in series.items()]
    figure.legend(
        handles=handles, loc="upper left", ncols=_legend_columns(series), handletextpad=0.2,
        columnspacing=1.2, borderpad=0.0, borderaxespad=0.2,
    )  # fmt: skip
