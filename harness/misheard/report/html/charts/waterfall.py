"""A waterfall: from the best score to what was reached, a step per stage, each with its interval."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misheard.report.html.charts.canvas import bare, draw, frame, ink, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _EDGE = 400, 46, 40


@dataclass(frozen=True, slots=True)
class Step:
    """A bar of a waterfall.

    Attributes:
        label: what it is.
        text: how large it is, in words.
        start, end: where the bar begins and ends.
        interval: of where it ends, None where there is none.
        colour: of the bar; see `canvas.TOKENS`.
    """

    label: str
    text: str
    start: float
    end: float
    colour: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Waterfall:
    """What a waterfall shows; `name` is unique in the page, `show` writes a value of the axis."""

    name: str
    title: str
    description: str
    steps: tuple[Step, ...]
    limits: tuple[float, float]
    show: Callable[[float], str]


def waterfall(data: Waterfall) -> str:
    """Return the chart as SVG, the first step on top."""
    size = (_WIDTH, _EDGE + _ROW * len(data.steps))
    return draw(data.name, data.title, data.description, size, lambda figure: _paint(figure, data))


def _paint(figure: "Figure", data: Waterfall) -> None:
    axes = figure.subplots()
    bare(axes, keep="bottom")
    axes.set_xlim(*data.limits)
    axes.set_ylim(len(data.steps) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: data.show(value))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", linewidth=1.0)
    axes.set_axisbelow(True)
    labels = [f"{step.label}\n{step.text}" if step.text else step.label for step in data.steps]
    axes.set_yticks(range(len(data.steps)), labels)
    frame(figure, left=text_width(labels) + 12, top=6, right=22)
    for place, step in enumerate(data.steps):
        _bar(axes, place, step)
        if place:
            joint = step.start if step.colour != "whole" else step.end
            axes.plot(
                [joint, joint],
                [place - 1 + 0.28, place - 0.28],
                color=ink("quiet"),
                linewidth=1.0,
                dashes=(2, 2),
            )


def _bar(axes: "Axes", place: int, step: Step) -> None:
    left, right = sorted((step.start, step.end))
    axes.barh(place, right - left, left=left, height=0.56, color=ink(step.colour), linewidth=0)
    if step.interval is None or step.interval[0] == step.interval[1]:
        return
    low, high = step.interval
    # A line of paper below keeps the whisker apart from a bar of any colour.
    for token, width in (("paper", 4.5), ("ink", 1.5)):
        line: dict[str, Any] = {"color": ink(token), "linewidth": width, "solid_capstyle": "butt"}
        axes.plot([low, high], [place, place], **line)
        for end in (low, high):
            axes.plot([end, end], [place - 0.14, place + 0.14], **line)
