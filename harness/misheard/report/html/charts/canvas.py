"""From a matplotlib figure to SVG that lies inline in a page: themable, accessible, the same bytes each time.

One unit is one CSS pixel. Colours of figures are placeholders that become custom properties of the style
sheet (`var(--chart-NAME)`), style attributes become presentation attributes, which a strict content security
policy allows, and ids carry the chart's own prefix.
"""

import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from misheard.report.html.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOKENS = (
    "ink", "quiet", "line", "paper", "band",
    "audio", "uncorrected", "transcript", "plan", "control",
    "loss", "gain", "rest", "whole", "better", "worse", "neutral", "accent",
)  # fmt: skip
"""What colours a chart may have; the style sheet defines each as `--chart-NAME`, light and dark."""

_PLACEHOLDERS = {name: f"#0b0e{place + 16:02x}" for place, name in enumerate(TOKENS)}
_TOKEN_OF = {colour: name for name, colour in _PLACEHOLDERS.items()}
_SVG = "{http://www.w3.org/2000/svg}"
_WIDE = 480
"""A chart that is wider is not shrunk below what can be read; it scrolls."""

_HREF = "{http://www.w3.org/1999/xlink}href"
_PRESENTED = frozenset(
    {
        "fill", "fill-opacity", "fill-rule", "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset",
        "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width",
        "text-anchor",
    }
)  # fmt: skip
_FONT_SIZE = re.compile(r"([\d.]+)px")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "misheard",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 1.0,
    "font.size": 12.0,
    "axes.titlesize": 12.0,
    "axes.labelsize": 12.0,
    "xtick.labelsize": 12.0,
    "ytick.labelsize": 12.0,
    "legend.fontsize": 12.0,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "legend.frameon": False,
    "hatch.linewidth": 1.0,
    "path.simplify": True,
}


def ink(token: str) -> str:
    """Return what to give matplotlib for a colour of the page. Raises KeyError for one that is none."""
    return _PLACEHOLDERS[token]


def draw(
    name: str, title: str, description: str, size: tuple[int, int], paint: Callable[["Figure"], None]
) -> str:
    """Return a chart as an `<svg>` element.

    Args:
        name: of the chart, unique in the page: letters, digits and hyphens; its ids begin with it.
        title: what it is, for screen readers.
        description: what it shows, in words.
        size: width and height in CSS pixels.
        paint: draws into the figure that it is given.
    """
    matplotlib = _matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS | _coloured()), warnings.catch_warnings():
        # A name in a script that matplotlib's font lacks is measured roughly; the browser draws it.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=72)
        canvas = FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        paint(figure)
        raw = io.StringIO()
        # savefig would draw everything twice, to learn sizes that are set here.
        canvas.print_svg(raw, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return _inline(raw.getvalue(), name, title, description, size)


def _matplotlib() -> ModuleType:
    """Import matplotlib without the environment's choice of a backend.

    Charts need none, and one that is not installed would be an error.
    """
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    return matplotlib


def _coloured() -> dict[Any, Any]:
    return {
        "text.color": ink("ink"),
        "axes.labelcolor": ink("quiet"),
        "axes.edgecolor": ink("line"),
        "xtick.color": ink("line"),
        "ytick.color": ink("line"),
        "xtick.labelcolor": ink("quiet"),
        "ytick.labelcolor": ink("ink"),
        "grid.color": ink("line"),
        "hatch.color": ink("paper"),
        "axes.facecolor": "none",
    }


def frame(figure: "Figure", left: float, top: float, bottom: float = 24.0, right: float = 14.0) -> None:
    """Leave room around the axes of a figure, in CSS pixels."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, top=1 - top / height, bottom=bottom / height
    )


def text_width(labels: Iterable[str]) -> float:
    """Return roughly how wide the widest line of some labels is, in CSS pixels."""
    lines = [line for label in labels for line in label.split("\n")]
    return 6.7 * max(map(len, lines), default=0)


def bare(axes: "Axes", *, keep: str = "") -> None:
    """Leave the spines of axes away, but those whose names stand in `keep`."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in keep)


def _inline(raw: str, name: str, title: str, description: str, size: tuple[int, int]) -> str:
    drawn = ET.fromstring(raw)  # noqa: S314  (matplotlib's own output, no foreign document)
    for parent in drawn.iter():
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    used = set(_references(drawn))
    for element in drawn.iter():
        _clean(element, name, used)
    view_box = drawn.get("viewBox", f"0 0 {size[0]} {size[1]}")
    drawn.attrib.clear()
    drawn.attrib |= {
        "class": "chart wide" if size[0] > _WIDE else "chart",
        "viewBox": view_box,
        "width": str(size[0]),
        "height": str(size[1]),
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
    }
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{name}-{tag}"})
        element.text = shown(text)
        drawn.insert(place, element)
    return ET.tostring(drawn, encoding="unicode", short_empty_elements=True)


def _references(drawn: ET.Element) -> Iterator[str]:
    for element in drawn.iter():
        if (target := element.get(_HREF)) is not None:
            yield target.removeprefix("#")
        for value in element.attrib.values():
            yield from _REFERENCE.findall(value)


def _clean(element: ET.Element, name: str, used: set[str]) -> None:
    """Turn one element of matplotlib's into one of the page's."""
    element.tag = element.tag.removeprefix(_SVG)
    element.text = shown(element.text) if element.text and element.text.strip() else None
    element.tail = None
    attributes = dict(element.attrib)
    element.attrib.clear()
    for part in attributes.pop("style", "").split(";"):
        key, _, value = (text.strip() for text in part.partition(":"))
        if key in _PRESENTED:
            attributes[key] = value
        elif key in ("font", "font-size") and (found := _FONT_SIZE.search(value)):
            attributes["font-size"] = found[1]
            if "bold" in value or "700" in value:
                attributes["font-weight"] = "600"
    for key, value in attributes.items():
        if key == "id":
            if value in used:
                element.set("id", f"{name}-{value}")
        elif key == _HREF:
            element.set("href", f"#{name}-{value.removeprefix('#')}")
        else:
            element.set(key, _value(value, name))


def _value(value: str, name: str) -> str:
    if (token := _TOKEN_OF.get(value)) is not None:
        return f"var(--chart-{token})"
    value = " ".join(_REFERENCE.sub(rf"url(#{name}-\1)", value).split())
    return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
