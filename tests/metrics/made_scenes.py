"""Small scenes, written shortly and drawn at random."""

from collections.abc import Sequence

from hypothesis import strategies as st

from misheard.metrics.base import Arm, ArmOutput, ScoredRow
from misheard.scenes.scene import Connection, Scene, Shape
from misheard.suite.items import Item


def scene(labels: Sequence[str], *arrows: tuple[int, int] | tuple[int, int, str]) -> Scene:
    """Shapes with these labels; an arrow is the places of its ends, and its label."""
    return Scene(
        tuple(Shape(f"s{place}", "box", label) for place, label in enumerate(labels)),
        tuple(Connection(f"s{a}", f"s{b}", *rest) for a, b, *rest in arrows),
    )


@st.composite
def scenes(draw: st.DrawFn, least: int = 0) -> Scene:
    """Scenes whose few labels come again and again, in other case, with signs or without letters."""
    labels = draw(st.lists(st.sampled_from(["a", "A!", "b", "c 1", "?", ""]), min_size=least, max_size=6))
    places = st.integers(0, len(labels) - 1)
    arrows = st.tuples(places, places, st.sampled_from(["", "yes", "Yes.", "no"]))
    return scene(labels, *(draw(st.lists(arrows, max_size=6)) if labels else []))


def drawn(golden: Scene | None, board: Scene | None, *, arm: Arm = Arm.AUDIO, **output: object) -> ScoredRow:
    """A row with a board; a plan like the golden one unless the output has another."""
    fields = {"plan": golden, **output}
    item = Item(id="w1", audio="w1.flac", reference="draw it", language="en", plan=golden)
    return ScoredRow(item, arm, ArmOutput("draw it", board=board, **fields))
