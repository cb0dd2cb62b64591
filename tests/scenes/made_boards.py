"""Boards and plans for property tests: few ids and labels, so that they meet."""

from hypothesis import strategies as st

from misheard.scenes.scene import Connection, Scene, Shape

IDS = st.sampled_from("abcde")
LABELS = st.sampled_from(["", "one", "दो", "x y"])
SHAPES = st.builds(Shape, IDS, st.sampled_from(["box", "note"]), LABELS)
CONNECTIONS = st.builds(Connection, IDS, IDS, st.sampled_from(["", "to"]))

PLANS = st.builds(
    lambda shapes, connections: Scene(tuple(shapes), tuple(connections)),
    st.lists(SHAPES, max_size=7),
    st.lists(CONNECTIONS, max_size=9),
)
"""Anything a planner may say: ids twice, ends that are not there, arrows twice."""


def valid_part(plan: Scene) -> Scene:
    """Return what of a plan can stand on a board: the first of each, with both ends."""
    shapes: dict[str, Shape] = {}
    for shape in plan.shapes:
        shapes.setdefault(shape.id, shape)
    kept = [c for c in dict.fromkeys(plan.connections) if c.source in shapes and c.target in shapes]
    return Scene(tuple(shapes.values()), tuple(kept))


BOARDS = PLANS.map(valid_part)


def same(one: Scene, other: Scene) -> bool:
    """Return whether two boards hold the same, in whatever order."""
    return (set(one.shapes), set(one.connections)) == (set(other.shapes), set(other.connections)) and (
        len(one.shapes), len(one.connections)
    ) == (len(other.shapes), len(other.connections))  # fmt: skip
