"""A scene: labelled shapes and the connections between them, planned or drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: an id that is unique in its scene, a kind such as `box`, and the label on it."""

    id: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Connection:
    """An arrow from the shape `source` to the shape `target`, both ids; its label may be empty."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Shapes and connections in order: a plan, the golden plan of an item, or what stands on a board.

    A plan may name a shape twice or connect shapes that it lacks; a board never does.
    """

    shapes: tuple[Shape, ...] = ()
    connections: tuple[Connection, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the scene in its documented JSON form."""
        return {
            "shapes": [{"id": s.id, "kind": s.kind, "label": s.label} for s in self.shapes],
            "connections": [{"from": c.source, "to": c.target, "label": c.label} for c in self.connections],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Scene":
        """Return the scene that `as_json` gave; for JSON of others see `misheard.scenes.reading`."""
        return cls(
            tuple(Shape(s["id"], s["kind"], s["label"]) for s in value["shapes"]),
            tuple(Connection(c["from"], c["to"], c["label"]) for c in value["connections"]),
        )


EMPTY_SCENE = Scene()
