"""Scenes as SVG pictures: shapes with labels, arrows with heads. The same scene gives the same bytes."""

import math
from collections.abc import Sequence
from typing import Any

from misheard.errors import INSTALL_ADVICE, BackendError
from misheard.scenes.arrows import LOOP_REACH, Arrow, arrows
from misheard.scenes.layout import Box, Point, place
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.scenes.wrapping import is_right_to_left, text_width, wrap

_FONT = 14
_LINE = 19.0
_SHAPE_EMS, _ARROW_EMS = 10.0, 8.0
_MARGIN = 40.0
_SMALLEST_ROW_GAP = 76.0
_HEAD_LENGTH, _HEAD_HALF = 11.0, 4.5
_INK, _ARROW, _PAPER = "#1f2933", "#52606d", "#ffffff"
_FILLS = {"circle": "#e3f2e6", "diamond": "#fdf1d7", "note": "#fff9c9"}
_OTHER_FILL = "#e4eefb"
_HALO = {"stroke": _PAPER, "stroke_width": 4, "paint_order": "stroke", "stroke_linejoin": "round"}


def draw_svg(scene: Scene) -> str:
    """Return a scene as an SVG document without scripts and references.

    Known kinds are `box`, `circle`, `diamond` and `note`; others are rounded boxes. Fonts are the viewer's. A
    connection that lacks an end is left out, as no board has one. Raises BackendError without the extra
    `run`.
    """
    drawsvg = _library()
    index = {shape.id: number for number, shape in enumerate(scene.shapes)}
    connections = [c for c in scene.connections if c.source in index and c.target in index]
    ends = [(index[c.source], index[c.target]) for c in connections]
    labels = [wrap(shape.label, _SHAPE_EMS) for shape in scene.shapes]
    names = [wrap(connection.label, _ARROW_EMS) for connection in connections]

    sizes = [_size(shape, lines) for shape, lines in zip(scene.shapes, labels, strict=True)]
    row_gap = max([_SMALLEST_ROW_GAP, *(len(lines) * _LINE + 44 for lines in names)])
    layout = place(_slots(sizes, ends, names), ends, row_gap)
    boxes = [Box(box.x, box.y, *size) for box, size in zip(layout.boxes, sizes, strict=True)]
    paths = arrows([shape.kind for shape in scene.shapes], boxes, ends, layout.routes)

    width, height = _round(layout.width + 2 * _MARGIN), _round(layout.height + 2 * _MARGIN)
    drawing = drawsvg.Drawing(
        width, height, origin=(-_MARGIN, -_MARGIN), font_family="system-ui, sans-serif", font_size=_FONT
    )
    drawing.append(drawsvg.Rectangle(-_MARGIN, -_MARGIN, width, height, fill=_PAPER))
    for arrow in paths:
        drawing.extend(_arrow(drawsvg, arrow))
    for shape, box, lines in zip(scene.shapes, boxes, labels, strict=True):
        drawing.append(_outline(drawsvg, shape.kind, box))
        drawing.extend(_text(drawsvg, lines, (box.x, box.y), shape.label))
    for connection, arrow, lines in zip(connections, paths, names, strict=True):
        drawing.extend(_arrow_label(drawsvg, connection, arrow, lines))
    svg: str = drawing.as_svg()
    return svg


def _library() -> Any:
    try:
        import drawsvg
        import networkx  # noqa: F401 - the layout needs it
    except ImportError as error:
        raise BackendError(f"render: drawing needs drawsvg and networkx; {INSTALL_ADVICE}") from error
    return drawsvg


def _size(shape: Shape, lines: Sequence[str]) -> Point:
    """Return the width and height that a shape needs for its label, in pixels."""
    width = max([70.0, *(text_width(line) * _FONT for line in lines)]) + 28
    height = max(len(lines), 1) * _LINE + 24
    if shape.kind == "circle":
        return width * 1.25, height * 1.35
    if shape.kind == "diamond":
        return width * 1.6, height * 1.8
    return width, height


def _slots(
    sizes: Sequence[Point], ends: Sequence[tuple[int, int]], names: Sequence[Sequence[str]]
) -> list[Point]:
    """Return the room that shapes take: those with arrows to themselves need more at their sides."""
    room = [0.0] * len(sizes)
    for (source, target), lines in zip(ends, names, strict=True):
        if source == target:
            room[source] = max(room[source], LOOP_REACH) + max(map(text_width, lines), default=0.0) * _FONT
    return [(width + 2 * beside, height) for (width, height), beside in zip(sizes, room, strict=True)]


def _arrow(drawsvg: Any, arrow: Arrow) -> list[Any]:
    before, tip = arrow.curves[-1][2:]
    length = math.dist(before, tip) or 1.0
    x, y = (tip[0] - before[0]) / length, (tip[1] - before[1]) / length
    base = (tip[0] - x * _HEAD_LENGTH, tip[1] - y * _HEAD_LENGTH)
    path = drawsvg.Path(fill="none", stroke=_ARROW, stroke_width=1.6)
    path.M(*_flat([arrow.curves[0][0]]))
    for curve in arrow.curves[:-1]:
        path.C(*_flat(curve[1:]))
    path.C(*_flat([*arrow.curves[-1][1:3], base]))
    left = (base[0] - y * _HEAD_HALF, base[1] + x * _HEAD_HALF)
    right = (base[0] + y * _HEAD_HALF, base[1] - x * _HEAD_HALF)
    return [path, drawsvg.Lines(*_flat([tip, left, right]), close=True, fill=_ARROW)]


def _outline(drawsvg: Any, kind: str, box: Box) -> Any:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    right, bottom = left + box.width, top + box.height
    style = {"fill": _FILLS.get(kind, _OTHER_FILL), "stroke": _INK, "stroke_width": 1.4}
    if kind == "circle":
        return drawsvg.Ellipse(*_flat([(box.x, box.y), (box.width / 2, box.height / 2)]), **style)
    if kind == "diamond":
        corners = [(box.x, top), (right, box.y), (box.x, bottom), (left, box.y)]
        return drawsvg.Lines(*_flat(corners), close=True, **style)
    if kind == "note":
        corners = [(left, top), (right - 14, top), (right, top + 14), (right, bottom), (left, bottom)]
        return drawsvg.Lines(*_flat(corners), close=True, **style)
    corner = 2 if kind == "box" else 14
    return drawsvg.Rectangle(*_flat([(left, top), (box.width, box.height)]), rx=corner, **style)


def _arrow_label(drawsvg: Any, connection: Connection, arrow: Arrow, lines: Sequence[str]) -> list[Any]:
    x, y = arrow.label
    if arrow.loops is not None:
        x += 6 + max(map(text_width, lines), default=0.0) * _FONT / 2
        y += arrow.loops * _LINE
    return _text(drawsvg, lines, (x, y), connection.label, **_HALO)


def _text(drawsvg: Any, lines: Sequence[str], centre: Point, label: str, **style: Any) -> list[Any]:
    """Return lines around a point, each a text of its own that no other one's direction reaches."""
    first = centre[1] - (len(lines) - 1) * _LINE / 2
    direction = "rtl" if is_right_to_left(label) else "ltr"
    return [
        drawsvg.Text(
            line,
            _FONT,
            *_flat([(centre[0], first + number * _LINE)]),
            center=True,
            fill=_INK,
            direction=direction,
            unicode_bidi="embed",
            **style,
        )
        for number, line in enumerate(lines)
    ]


def _flat(points: Sequence[Point]) -> list[float]:
    return [_round(number) for point in points for number in point]


def _round(number: float) -> float:
    return round(number, 1) + 0.0  # no -0.0
