"""Scenes of others: JSON of a planner, a renderer or a suite, read strictly.

A plan is `{"shapes": [{"id", "kind", "label"}], "connections": [{"from", "to", "label"}]}`. `connections` and
the label of a connection may be left out; other fields are passed over, so that a planner may say more than
is asked. Two shapes may share an id and a connection may lack an end: the board refuses those, and they are
counted.
"""

from misheard.scenes.fields import Fields, SceneError, rows
from misheard.scenes.scene import Connection, Scene, Shape

__all__ = ["MAX_CONNECTIONS", "MAX_SHAPES", "SceneError", "check_golden", "read_scene"]

MAX_SHAPES = 500
MAX_CONNECTIONS = 1_000


def read_scene(value: object) -> Scene:
    """Return the scene that parsed JSON describes.

    Raises SceneError with every problem; none of them quotes an id or a label.
    """
    if not isinstance(value, dict):
        raise SceneError(("must be an object with shapes and connections",))
    problems: list[str] = []
    shapes = [
        _shape(Fields(row, f"shapes[{index}]", problems))
        for index, row in enumerate(rows(value, "shapes", MAX_SHAPES, problems))
    ]
    connections = [
        _connection(Fields(row, f"connections[{index}]", problems))
        for index, row in enumerate(rows(value, "connections", MAX_CONNECTIONS, problems, optional=True))
    ]
    if problems:
        raise SceneError(tuple(problems))
    return Scene(tuple(shapes), tuple(connections))


def check_golden(scene: Scene) -> list[str]:
    """Return what keeps a scene from being a golden plan, which a board must take as it is.

    Ids are unique, both ends of every connection exist, no connection is there twice, and no shape is without
    a label. Problems hold no text of a label.
    """
    known = {shape.id for shape in scene.shapes}
    problems = [
        f"shapes[{index}].label: is empty" for index, shape in enumerate(scene.shapes) if not shape.label
    ]
    seen: set[str] = set()
    for index, shape in enumerate(scene.shapes):
        if shape.id in seen:
            problems.append(f"shapes[{index}].id: is the id of another shape")
        seen.add(shape.id)
    drawn: set[Connection] = set()
    for index, connection in enumerate(scene.connections):
        for name, end in (("from", connection.source), ("to", connection.target)):
            if end not in known:
                problems.append(f"connections[{index}].{name}: no shape has this id")
        if connection in drawn:
            problems.append(f"connections[{index}]: is there twice")
        drawn.add(connection)
    return problems


def _shape(fields: Fields) -> Shape:
    return Shape(fields.identifier("id"), fields.kind("kind"), fields.label("label"))


def _connection(fields: Fields) -> Connection:
    return Connection(
        fields.identifier("from"), fields.identifier("to"), fields.label("label", optional=True)
    )
