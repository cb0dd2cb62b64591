"""A forest plot: a difference with its interval per row, a line at none, and the verdict in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from misheard.report.html.charts.canvas import bare, draw, frame, ink, text_width
from misheard.report.labels import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _TOP, _BOTTOM, _SIDES = 640, 22, 8, 24, 20
_MOST_LETTERS = 26
_SHAPES = {
    "better": ("^", "better", True),
    "worse": ("v", "worse", True),
    "changed": ("D", "accent", True),
    "equivalent": ("s", "neutral", True),
    "same": ("s", "neutral", True),
}
"""Marker, colour and whether it is filled, per verdict; one that shows nothing is a hollow circle."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A difference.

    Attributes:
        label: what it is of.
        value, interval: None where there is none.
        verdict: of `misheard.stats.verdict`, which gives the shape.
        word: what stands at the end of the row.
        heading: of this row and those below it, such as the axis of a condition; empty for none.
        allowed: the differences that a gate accepts in this row, None at an open end; None without a gate.
    """

    label: str
    value: float | None
    interval: tuple[float, float] | None
    verdict: str
    word: str
    heading: str = ""
    allowed: tuple[float | None, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Forest:
    """What the chart shows; `name` is unique in the page.

    Attributes:
        name, title, description: of the chart.
        rows: from top to bottom.
        show: writes a difference of the axis.
        margin: differences up to this size are none; None where nobody says so.
        sides: what it means to lie on the left and on the right; empty where neither is better.
    """

    name: str
    title: str
    description: str
    rows: tuple[ForestRow, ...]
    show: Callable[[float], str]
    margin: float | None = None
    sides: tuple[str, str] | None = None


def forest(data: Forest) -> str:
    """Return the chart as SVG."""
    lines = len(data.rows) + sum(bool(row.heading) for row in data.rows)
    height = _TOP + _ROW * lines + _BOTTOM + (_SIDES if data.sides else 0)
    return draw(
        data.name, data.title, data.description, (_WIDTH, height), lambda figure: _paint(figure, data, lines)
    )


def _paint(figure: "Figure", data: Forest, lines: int) -> None:
    axes = figure.subplots()
    bare(axes, keep="bottom")
    axes.grid(axis="x", linewidth=1.0)
    axes.set_axisbelow(True)
    axes.set_yticks([])
    labels = [_short(text) for row in data.rows for text in (f"  {row.label}", row.heading)]
    left = text_width(labels) + 14
    right = text_width(row.word for row in data.rows) + 22
    frame(figure, left=left, top=_TOP, bottom=_BOTTOM + (_SIDES if data.sides else 0), right=right)
    axes.set_ylim(lines - 0.5, -0.5)
    axes.set_xlim(*_limits(data))
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: data.show(value))
    if data.margin is not None:
        axes.axvspan(-data.margin, data.margin, color=ink("band"), linewidth=0, zorder=0)
    axes.axvline(0.0, color=ink("quiet"), linewidth=1.2)
    place = 0
    for row in data.rows:
        if row.heading:
            _write(axes, row.heading, place, 6 - left, "quiet")
            place += 1
        is_below = any(one.heading for one in data.rows) and bool(place)
        _write(axes, row.label, place, (18 if is_below else 6) - left, "ink")
        _write(axes, row.word, place, 12, "ink", end=True)
        _dot(axes, place, row)
        place += 1
    if data.sides is not None:
        _name_sides(axes, data.sides)


def _limits(data: Forest) -> tuple[float, float]:
    ends = [0.0]
    for row in data.rows:
        ends += [end for end in (row.value, *(row.interval or ()), *(row.allowed or ())) if end is not None]
    if data.margin is not None:
        ends += [-data.margin, data.margin]
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low) or 0.01
    return low - room, high + room


def _write(axes: "Axes", text: str, place: int, shift: float, token: str, *, end: bool = False) -> None:
    axes.annotate(
        _short(text), (1.0 if end else 0.0, place), xycoords=("axes fraction", "data"), xytext=(shift, 0),
        textcoords="offset points", ha="left", va="center", color=ink(token), annotation_clip=False,
    )  # fmt: skip


def _short(label: str) -> str:
    label = plain(label)
    return label if len(label) <= _MOST_LETTERS else label[: _MOST_LETTERS - 1] + "…"


def _dot(axes: "Axes", place: int, row: ForestRow) -> None:
    shape, token, is_filled = _SHAPES.get(row.verdict, ("o", "neutral", False))
    for end in row.allowed or ():
        if end is not None:
            axes.plot([end, end], [place - 0.36, place + 0.36], color=ink("ink"), linewidth=2.0)
    if row.interval is not None:
        axes.plot(list(row.interval), [place, place], color=ink(token), linewidth=2.0, solid_capstyle="butt")
    if row.value is not None:
        axes.plot(
            [row.value], [place], linestyle="none", marker=shape, markersize=9 if is_filled else 7.5,
            markerfacecolor=ink(token if is_filled else "paper"),
            markeredgecolor=ink("paper" if is_filled else token),
            markeredgewidth=1.0 if is_filled else 1.8, clip_on=False, zorder=3,
        )  # fmt: skip


def _name_sides(axes: "Axes", sides: tuple[str, str]) -> None:
    for text, at, align in ((f"← {sides[0]}", 0.0, "left"), (f"{sides[1]} →", 1.0, "right")):
        axes.annotate(
            text, (at, 0.0), xycoords="axes fraction", xytext=(0, -_BOTTOM - 4), textcoords="offset points",
            ha=align, va="top", color=ink("quiet"), annotation_clip=False,
        )  # fmt: skip
