"""A metric over runs, one after the other: broken where what was measured, or how, is no longer the same."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from misheard.report.html.charts.canvas import bare, draw, frame, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _PLOT, _LINE, _BOTTOM, _LEFT = 680, 150, 14, 26, 52
_MOST_TICKS, _FEW = 12, 40
_LETTER = 6.7


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run: its number in the table, its value and interval; None where there is none."""

    number: int
    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """What the chart shows; `name` is unique in the page.

    Attributes:
        name, title, description: of the chart.
        points: in order of time.
        breaks: per place of a point what changed before it, in words; the line does not lead over one.
        show: writes a value of the axis.
    """

    name: str
    title: str
    description: str
    points: tuple[TrendPoint, ...]
    breaks: Mapping[int, tuple[str, ...]]
    show: Callable[[float], str]


def trend(data: Trend) -> str:
    """Return the chart as SVG."""
    top = _top(data)
    size = (_WIDTH, top + _PLOT + _BOTTOM)
    return draw(data.name, data.title, data.description, size, lambda figure: _paint(figure, data, top))


def _words(data: Trend) -> list[str]:
    return list(dict.fromkeys(word for words in data.breaks.values() for word in words))


def _top(data: Trend) -> int:
    return 8 + _LINE * len(_words(data))


def _paint(figure: "Figure", data: Trend, top: int) -> None:
    axes = figure.subplots()
    frame(figure, left=_LEFT, top=top, bottom=_BOTTOM, right=14)
    bare(axes, keep="bottom")
    axes.grid(axis="y", linewidth=1.0)
    axes.set_axisbelow(True)
    count = len(data.points)
    axes.set_xlim(-0.5, count - 0.5)
    step = -(-count // _MOST_TICKS)
    places = range(0, count, step)
    axes.set_xticks(list(places), [str(data.points[place].number) for place in places])
    axes.tick_params(axis="y", labelcolor=ink("quiet"))
    axes.locator_params(axis="y", nbins=4)
    axes.yaxis.set_major_formatter(lambda value, _: data.show(value))
    for place, point in enumerate(data.points):
        if point.interval is not None:
            axes.plot([place, place], list(point.interval), color=ink("quiet"), linewidth=1.2)
    size = 7 if count <= _FEW else 4.5
    for stretch in _stretches(data):
        axes.plot(
            *zip(*stretch, strict=True), color=ink("accent"), linewidth=2.0, marker="o", markersize=size,
            markeredgecolor=ink("paper"), markeredgewidth=1.0, clip_on=False, zorder=3,
        )  # fmt: skip
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.0, low) if low < 0.35 * high else low, high)
    _breaks(axes, data)


def _stretches(data: Trend) -> Iterator[list[tuple[int, float]]]:
    """Yield the runs of points that one line may join."""
    found: list[tuple[int, float]] = []
    for place, point in enumerate(data.points):
        if place in data.breaks and found:
            yield found
            found = []
        if point.value is not None:
            found.append((place, point.value))
    if found:
        yield found


def _breaks(axes: "Axes", data: Trend) -> None:
    """Draw a line before each run that differs, named where there is room; each word has its own line."""
    pixels = (_WIDTH - _LEFT - 14) / len(data.points)
    lines = {word: line for line, word in enumerate(_words(data))}
    ends = dict.fromkeys(lines, float("-inf"))
    for place, words in sorted(data.breaks.items()):
        axes.axvline(place - 0.5, color=ink("worse"), linewidth=1.2, dashes=(3, 2))
        for word in words:
            half = _LETTER * len(word) / 2
            at = pixels * place
            if at - half < ends[word]:
                continue
            ends[word] = at + half + 4
            axes.annotate(
                word, (place - 0.5, 1.0), xycoords=("data", "axes fraction"),
                xytext=(0, 3 + _LINE * lines[word]), textcoords="offset points", ha="center", va="bottom",
                color=ink("worse"), annotation_clip=False,
            )  # fmt: skip
