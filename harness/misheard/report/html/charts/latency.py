"""How long a stage takes per item: the share of items that are done after so many seconds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from misheard.report.html.charts.canvas import bare, draw, frame, ink

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 360, 210
_LEAST_SECONDS = 0.01
"""Times that are all shorter stand in milliseconds."""

_NEAR = 0.1
"""Quantiles that are nearer to each other, as a share of the width, have one name."""


@dataclass(frozen=True, slots=True)
class Latency:
    """What the chart shows; `name` is unique in the page.

    Attributes:
        name, title, description: of the chart.
        seconds: ascending times.
        shares: the share of items that took at most as long, 0 to 1, one per time.
        quantiles: names with seconds, such as the 95th percentile.
        upper_bound: of the 95th percentile; None where there are too few items for one.
        budget: the greatest allowed 95th percentile; None where no gate names one.
    """

    name: str
    title: str
    description: str
    seconds: tuple[float, ...]
    shares: tuple[float, ...]
    quantiles: tuple[tuple[str, float, float], ...]
    upper_bound: float | None = None
    budget: float | None = None


def latency(data: Latency) -> str:
    """Return the chart as SVG."""
    return draw(
        data.name, data.title, data.description, (_WIDTH, _HEIGHT), lambda figure: _paint(figure, data)
    )


def _paint(figure: "Figure", data: Latency) -> None:
    axes = figure.subplots()
    frame(figure, left=46, top=4, right=20)
    bare(axes, keep="bottom")
    axes.grid(linewidth=1.0)
    axes.set_axisbelow(True)
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.5, 1.0], ["", "50%", "100%"])
    axes.tick_params(axis="y", labelcolor=ink("quiet"))
    axes.locator_params(axis="x", nbins=5)
    unit, scale = ("s", 1.0) if data.seconds[-1] >= _LEAST_SECONDS else ("ms", 1000.0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{scale * value:g} {unit}")
    axes.plot(data.seconds, data.shares, color=ink("transcript"), linewidth=2.0, drawstyle="steps-post")
    last = max(data.seconds[-1], data.upper_bound or 0.0, data.budget or 0.0)
    for _, at, share in data.quantiles:
        axes.plot(
            [at], [share], linestyle="none", marker="o", markersize=7, markerfacecolor=ink("transcript"),
            markeredgecolor=ink("paper"), clip_on=False, zorder=3,
        )  # fmt: skip
    for name, at, share in _named(data.quantiles, _NEAR * last):
        axes.annotate(name, (at, share), xytext=(-6, 2), textcoords="offset points", ha="right", va="bottom")
    if data.upper_bound is not None:
        at = {name: seconds for name, seconds, _ in data.quantiles}.get("p95", data.upper_bound)
        axes.plot([at, data.upper_bound], [0.95, 0.95], color=ink("ink"), linewidth=1.5)
    if data.budget is not None:
        axes.axvline(data.budget, color=ink("worse"), linewidth=1.8, dashes=(5, 2))
        axes.annotate(
            f"budget {data.budget:g} s", (data.budget, 0.04), xytext=(-4, 0), textcoords="offset points",
            ha="right", va="bottom", color=ink("worse"),
        )  # fmt: skip
    axes.set_xlim(0.0, 1.05 * last or 1.0)


def _named(
    quantiles: tuple[tuple[str, float, float], ...], near: float
) -> Iterator[tuple[str, float, float]]:
    """Yield names with their places; high quantiles that nearly coincide share one."""
    names: list[tuple[str, float, float]] = []
    for name, at, share in quantiles:
        if names and at - names[-1][1] < near and share - names[-1][2] < near:
            names[-1] = (f"{names[-1][0]}, {name}", *names[-1][1:])
        else:
            names.append((name, at, share))
    yield from names
