"""The paths of arrows between shapes that have their places: Bézier curves from outline to outline."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from misheard.scenes.layout import Box, Point

LOOP_REACH = 34.0
"""How far an arrow from a shape to itself goes out, in pixels; each further one goes 16 more."""

_BEND, _MORE_BEND, _LOOP_STEP = 0.22, 0.16, 16.0

Cubic = tuple[Point, Point, Point, Point]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A path of cubic curves, the last of which ends at the tip, and the centre of its label.

    `loops` is how many arrows of the same shape to itself came before; None for other arrows.
    """

    curves: tuple[Cubic, ...]
    label: Point
    loops: int | None = None


def arrows(
    kinds: Sequence[str],
    boxes: Sequence[Box],
    ends: Sequence[tuple[int, int]],
    routes: Sequence[tuple[Point, ...] | None],
) -> list[Arrow]:
    """Return one arrow for each pair of shapes; a route of None is a curve past what stands between."""
    drawn: Counter[tuple[int, int]] = Counter()
    pairs = set(ends)
    made = []
    for (source, target), route in zip(ends, routes, strict=True):
        again = drawn[source, target]
        drawn[source, target] += 1
        if source == target:
            made.append(_loop(boxes[source], again))
        elif route:
            first = outline(kinds[source], boxes[source], route[0])
            last = outline(kinds[target], boxes[target], route[-1])
            made.append(_routed(first, route, last))
        else:
            bent = route is None or (target, source) in pairs
            bend = (_BEND if bent else 0.0) + _MORE_BEND * again
            middle = _beside(boxes[source], boxes[target], bend)
            made.append(
                _bent(
                    outline(kinds[source], boxes[source], middle),
                    middle,
                    outline(kinds[target], boxes[target], middle),
                )
            )
    return made


def outline(kind: str, box: Box, towards: Point) -> Point:
    """Return where the line from the centre of a shape towards a point leaves its outline."""
    x, y = towards[0] - box.x, towards[1] - box.y
    across, down = abs(x) / (box.width / 2), abs(y) / (box.height / 2)
    norms = {"circle": math.hypot(across, down), "diamond": across + down}
    reach = norms.get(kind, max(across, down))
    # A point inside the outline, or the centre itself, stays where it is.
    share = 1.0 if reach <= 1.0 else 1.0 / reach
    return box.x + x * share, box.y + y * share


def _beside(start: Box, end: Box, bend: float) -> Point:
    """Return the point that a curve bends towards: beside the middle, to the left of its direction."""
    across, down = end.x - start.x, end.y - start.y
    return (start.x + end.x) / 2 + bend * down, (start.y + end.y) / 2 - bend * across


def _bent(start: Point, middle: Point, end: Point) -> Arrow:
    """Return the quadratic curve with one control point, as a cubic one."""
    curve = (start, _between(start, middle, 2 / 3), _between(end, middle, 2 / 3), end)
    return Arrow((curve,), _halfway(curve))


def _routed(start: Point, route: Sequence[Point], end: Point) -> Arrow:
    """Return a path that goes straight through rows and curves between them; the label is between rows."""
    points = (start, *route, end)
    curves = [_leg(points, index) for index in range(len(points) - 1)]
    gaps = curves[::2]
    return Arrow(tuple(curves), _halfway(gaps[len(gaps) // 2]))


def _leg(points: Sequence[Point], index: int) -> Cubic:
    one, other = points[index], points[index + 1]
    half = (one[1] + other[1]) / 2
    leaving = _between(one, other, 0.4) if index == 0 else (one[0], half)
    arriving = _between(other, one, 0.4) if index == len(points) - 2 else (other[0], half)
    return one, leaving, arriving, other


def _loop(box: Box, again: int) -> Arrow:
    """Return an arrow from a shape to itself, at its right side; its label begins where the arrow turns."""
    right, out = box.x + box.width / 2, LOOP_REACH + _LOOP_STEP * again
    lift = min(box.height / 4, 14.0)
    curve = (
        (right - 2, box.y - lift),
        (right + out, box.y - 2.2 * lift),
        (right + out, box.y + 2.2 * lift),
        (right - 2, box.y + lift),
    )
    return Arrow((curve,), _halfway(curve), again)


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share


def _halfway(curve: Cubic) -> Point:
    """Return the point of a cubic curve at t = 1/2."""
    x, y = ((p[0] + 3 * p[1] + 3 * p[2] + p[3]) / 8 for p in zip(*curve, strict=True))
    return x, y
