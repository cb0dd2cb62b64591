"""Where shapes stand: rows that follow the arrows, and parts without a connection side by side.

Sugiyama's method: arrows that close a circle are turned around, shapes get rows by the longest path, arrows
that pass a row get a place in it, rows are put in order by barycentres, and places move towards what they are
connected with. Nothing is drawn by chance and no set of texts is walked through, so equal scenes get equal
layouts.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

SIDE_GAP = 56.0
"""Between two shapes of a row, in pixels."""

_LANE_GAP = 22.0
"""Between an arrow that passes a row and what stands beside it."""

_MOST_LANES = 2_000
"""Arrows get no further places in rows that they pass, but curves: the picture would be all lanes."""

_ORDER_SWEEPS, _MOVE_SWEEPS = 4, 6

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """The frame of one shape: its centre and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands, in pixels from the left upper corner.

    Attributes:
        boxes: one frame a shape.
        routes: for each arrow the points between its ends; None where a straight line would meet shapes.
        width, height: of the whole.
    """

    boxes: tuple[Box, ...]
    routes: tuple[tuple[Point, ...] | None, ...]
    width: float
    height: float


@dataclass(slots=True)
class _Part:
    """Shapes that are connected, in rows, with the lanes of arrows among them."""

    rows: list[list[int]]
    near: dict[int, list[int]] = field(default_factory=dict)
    x: dict[int, float] = field(default_factory=dict)
    tops: list[float] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def join(self, chain: Sequence[int]) -> None:
        """Note that each member of a chain is connected with the next."""
        for one, other in itertools.pairwise(chain):
            self.near.setdefault(one, []).append(other)
            self.near.setdefault(other, []).append(one)


def place(sizes: Sequence[Point], arrows: Sequence[tuple[int, int]], row_gap: float) -> Layout:
    """Place shapes of the given widths and heights; `arrows` are pairs of their indices."""
    parts = _parts(len(sizes), arrows)
    lanes = _lay_lanes(parts, len(sizes), arrows)
    for part in parts:
        _order(part)
        _move(part, sizes)
        _stack(part, sizes, row_gap)
    boxes: dict[int, Box] = {}
    passed: dict[int, tuple[Point, Point]] = {}
    right = bottom = 0.0
    for part, (left, top) in zip(parts, _shelves(parts, row_gap), strict=True):
        right, bottom = max(right, left + part.width), max(bottom, top + part.height)
        for row, row_top, height in zip(part.rows, part.tops, part.heights, strict=True):
            for member in row:
                x = left + part.x[member]
                if member < len(sizes):
                    boxes[member] = Box(x, top + row_top + height / 2, *sizes[member])
                else:
                    passed[member] = ((x, top + row_top), (x, top + row_top + height))
    routes = tuple(
        None if lane is None else _route(lane, passed, up=boxes[source].y > boxes[target].y)
        for (source, target), lane in zip(arrows, lanes, strict=True)
    )
    return Layout(tuple(boxes[index] for index in range(len(sizes))), routes, right, bottom)


def _parts(count: int, arrows: Sequence[tuple[int, int]]) -> list[_Part]:
    """Return the connected parts of the shapes, in rows."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(sorted({ends for ends in arrows if ends[0] != ends[1]}))
    return [
        _Part(
            _rows(networkx, sorted(graph.subgraph(members).edges), members),
            {member: [] for member in members},
        )
        for members in sorted(map(sorted, networkx.weakly_connected_components(graph)))
    ]


def _lay_lanes(
    parts: Sequence[_Part], count: int, arrows: Sequence[tuple[int, int]]
) -> list[list[int] | None]:
    """Put a lane into each row that an arrow passes; return each arrow's lanes, numbers from `count` on."""
    at = {member: (part, index) for part in parts for index, row in enumerate(part.rows) for member in row}
    lanes: list[list[int] | None] = []
    free = count
    for source, target in arrows:
        (part, first), (_, last) = at[source], at[target]
        step = 1 if first < last else -1
        passed = range(first + step, last, step) if source != target else range(0)
        if free + len(passed) > count + _MOST_LANES:
            lanes.append(None)
            continue
        lane = list(range(free, free + len(passed)))
        free += len(lane)
        for member, row in zip(lane, passed, strict=True):
            part.rows[row].append(member)
        if source != target:
            part.join([source, *lane, target])
        lanes.append(lane)
    return lanes


def _rows(networkx: Any, edges: list[tuple[int, int]], members: list[int]) -> list[list[int]]:
    """Return the rows of one part: every arrow leads down, but those that close a circle."""
    tidy = networkx.DiGraph()
    tidy.add_nodes_from(members)
    tidy.add_edges_from(edges)
    done = {node: rank for rank, node in enumerate(networkx.dfs_postorder_nodes(tidy))}
    tidy.remove_edges_from([(source, target) for source, target in edges if done[source] < done[target]])
    widest = max(4, math.ceil(1.5 * math.sqrt(len(members))))
    rows = []
    for generation in networkx.topological_generations(tidy):
        row = sorted(generation)
        rows += [row[start : start + widest] for start in range(0, len(row), widest)]
    return rows


def _order(part: _Part) -> None:
    """Put what is connected near each other, row by row: down, up, and again."""
    at = {member: place - (len(row) - 1) / 2 for row in part.rows for place, member in enumerate(row)}
    row_of = {member: index for index, row in enumerate(part.rows) for member in row}
    for sweep in range(_ORDER_SWEEPS):
        step = -1 if sweep % 2 else 1
        for index in range(len(part.rows))[::step]:
            row = part.rows[index]
            wanted = {}
            for member in row:
                before = [at[other] for other in part.near[member] if row_of[other] == index - step]
                wanted[member] = sum(before) / len(before) if before else at[member]
            row.sort(key=wanted.__getitem__)
            at.update((member, place - (len(row) - 1) / 2) for place, member in enumerate(row))


def _move(part: _Part, sizes: Sequence[Point]) -> None:
    """Give everything a place in its row, near what it is connected with; the leftmost edge is at 0."""
    half = {member: _width(member, sizes) / 2 for row in part.rows for member in row}
    steps = [
        [
            half[one] + half[other] + (SIDE_GAP if max(one, other) < len(sizes) else _LANE_GAP)
            for one, other in itertools.pairwise(row)
        ]
        for row in part.rows
    ]
    for row, own in zip(part.rows, steps, strict=True):
        part.x.update(zip(row, _spread([0.0] * len(row), own), strict=True))
    for sweep in range(_MOVE_SWEEPS):
        for index in range(len(part.rows))[:: -1 if sweep % 2 else 1]:
            row = part.rows[index]
            near = [[part.x[other] for other in part.near[member]] for member in row]
            wanted = [
                sum(found) / len(found) if found else part.x[member]
                for member, found in zip(row, near, strict=True)
            ]
            part.x.update(zip(row, _spread(wanted, steps[index]), strict=True))
    left = min(part.x[member] - half[member] for member in half)
    part.width = max(part.x[member] + half[member] for member in half) - left
    part.x = {member: x - left for member, x in part.x.items()}


def _spread(wanted: Sequence[float], steps: Sequence[float]) -> list[float]:
    """Return places at least `steps` apart: the mean of the wanted ones pushed right and pushed left."""
    right, left = list(wanted), list(wanted)
    for index, step in enumerate(steps):
        right[index + 1] = max(right[index + 1], right[index] + step)
    for index in reversed(range(len(steps))):
        left[index] = min(left[index], left[index + 1] - steps[index])
    return [(one + other) / 2 for one, other in zip(right, left, strict=True)]


def _stack(part: _Part, sizes: Sequence[Point], row_gap: float) -> None:
    top = 0.0
    for row in part.rows:
        part.tops.append(top)
        part.heights.append(max(sizes[member][1] for member in row if member < len(sizes)))
        top += part.heights[-1] + row_gap
    part.height = top - row_gap


def _shelves(parts: Sequence[_Part], row_gap: float) -> Iterator[Point]:
    """Yield the left upper corner of each part: from left to right on shelves, about as wide as high."""
    area = sum((part.width + SIDE_GAP) * (part.height + row_gap) for part in parts)
    widest = max([math.sqrt(1.4 * area), *(part.width for part in parts)])
    left = top = shelf = 0.0
    for part in parts:
        if left and left + part.width > widest:
            left, top, shelf = 0.0, top + shelf + row_gap, 0.0
        yield left, top
        left, shelf = left + part.width + SIDE_GAP, max(shelf, part.height)


def _route(lane: Sequence[int], passed: dict[int, tuple[Point, Point]], up: bool) -> tuple[Point, ...]:
    """Return the points at which an arrow enters and leaves the rows that it passes."""
    points = [point for member in lane for point in passed[member]]
    return tuple(sorted(points, key=lambda point: -point[1] if up else point[1]))


def _width(member: int, sizes: Sequence[Point]) -> float:
    return sizes[member][0] if member < len(sizes) else 0.0
