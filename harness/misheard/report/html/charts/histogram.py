"""How the values of single items are spread: bars for one arm, an outline for another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from misheard.report.html.charts.canvas import bare, draw, frame, ink

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 360, 210
_OUTLINES = ((5, 2), (1.5, 1.5), (7, 2, 1.5, 2))


@dataclass(frozen=True, slots=True)
class Spread:
    """How many items of a series lie in each bin; `colour` is one of `canvas.TOKENS`."""

    series: str
    counts: tuple[int, ...]
    colour: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """What the chart shows; `name` is unique in the page.

    Attributes:
        name, title, description: of the chart.
        edges: of the bins, one more than there are bins, ascending.
        spreads: the first as bars, the others as outlines, each with dashes of its own.
        marks: names with values that get a line, such as the median.
        show: writes a value of the axis.
        is_open: whether the last bin holds everything above as well.
    """

    name: str
    title: str
    description: str
    edges: tuple[float, ...]
    spreads: tuple[Spread, ...]
    marks: tuple[tuple[str, float], ...]
    show: Callable[[float], str]
    is_open: bool = False


def histogram(data: Histogram) -> str:
    """Return the chart as SVG."""
    return draw(
        data.name, data.title, data.description, (_WIDTH, _HEIGHT), lambda figure: _paint(figure, data)
    )


def _paint(figure: "Figure", data: Histogram) -> None:
    axes = figure.subplots()
    frame(figure, left=38, top=26 if len(data.spreads) > 1 else 4, right=22)
    bare(axes, keep="bottom")
    axes.grid(axis="y", linewidth=1.0)
    axes.set_axisbelow(True)
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.locator_params(axis="x", nbins=5)
    last = data.edges[-1]
    axes.xaxis.set_major_formatter(
        lambda value, _: data.show(value) + ("+" if data.is_open and value >= last - 1e-9 else "")
    )
    # The zero of the counts would stand on the first value.
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value else "")
    axes.tick_params(axis="y", labelcolor=ink("quiet"))
    handles = [_spread(axes, data.edges, place, spread) for place, spread in enumerate(data.spreads)]
    axes.set_xlim(data.edges[0], last)
    _mark(axes, data)
    if len(handles) > 1:
        figure.legend(
            handles=handles, loc="upper left", ncols=len(handles), handlelength=1.4,
            columnspacing=1.2, borderpad=0.0, borderaxespad=0.2,
        )  # fmt: skip


def _mark(axes: "Axes", data: Histogram) -> None:
    """Draw the lines of the marks, with their names above all bars."""
    first, last, top = data.edges[0], data.edges[-1], axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.18)
    for name, value in data.marks:
        at = min(value, last)
        axes.plot([at, at], [0, top * 1.04], color=ink("ink"), linewidth=1.2)
        near_right = at > (first + 2 * last) / 3
        axes.annotate(
            name, (at, top * 1.04), xytext=(-3 if near_right else 3, 0), textcoords="offset points",
            ha="right" if near_right else "left", va="bottom", color=ink("ink"),
        )  # fmt: skip


def _spread(axes: "Axes", edges: Sequence[float], place: int, spread: Spread) -> "Artist":
    """Draw the first series as bars, and each other as an outline with dashes of its own."""
    tint = ink(spread.colour)
    if place == 0:
        return axes.stairs(
            spread.counts, edges, label=spread.series, fill=True, color=tint, alpha=0.75, linewidth=0
        )
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    (line,) = axes.plot(
        middles, spread.counts, label=spread.series, drawstyle="steps-mid", color=tint, linewidth=1.8,
        dashes=_OUTLINES[(place - 1) % len(_OUTLINES)],
    )  # fmt: skip
    return line
