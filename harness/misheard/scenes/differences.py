"""From what stands on a board to a plan: the operations that lead there."""

from collections.abc import Iterator

from misheard.scenes.operations import (
    AddShape,
    ChangeKind,
    Connect,
    Disconnect,
    Operation,
    Relabel,
    Remove,
)
from misheard.scenes.scene import Connection, Scene, Shape


def differences(board: Scene, plan: Scene) -> tuple[Operation, ...]:
    """Return the operations that make a board show a plan.

    In this order: arrows off, shapes off, kinds, labels, shapes on, arrows on; each in the order of the scene
    that names it. From an empty board only shapes and arrows are put on. The first of two shapes with one id
    counts, and the others, like connections that lack an end or are there twice, are asked for all the same:
    a board refuses them.
    """
    planned = _first_by_id(plan)
    return (
        *_gone(board, plan, planned),
        *_changed(board, planned),
        *_new_shapes(board, plan),
        *_new_connections(board, plan),
    )


def _first_by_id(plan: Scene) -> dict[str, Shape]:
    planned: dict[str, Shape] = {}
    for shape in plan.shapes:
        planned.setdefault(shape.id, shape)
    return planned


def _gone(board: Scene, plan: Scene, planned: dict[str, Shape]) -> Iterator[Operation]:
    kept = set(plan.connections)
    for connection in board.connections:
        if connection not in kept or not _has_both_ends(connection, planned):
            yield Disconnect(connection)
    for shape in board.shapes:
        if shape.id not in planned:
            yield Remove(shape.id)


def _has_both_ends(connection: Connection, planned: dict[str, Shape]) -> bool:
    return connection.source in planned and connection.target in planned


def _changed(board: Scene, planned: dict[str, Shape]) -> Iterator[Operation]:
    pairs = [(shape, planned[shape.id]) for shape in board.shapes if shape.id in planned]
    for before, after in pairs:
        if before.kind != after.kind:
            yield ChangeKind(after.id, after.kind)
    for before, after in pairs:
        if before.label != after.label:
            yield Relabel(after.id, after.label)


def _new_shapes(board: Scene, plan: Scene) -> Iterator[Operation]:
    there = {shape.id for shape in board.shapes}
    for shape in plan.shapes:
        if shape.id in there:
            there.remove(shape.id)
        else:
            yield AddShape(shape)


def _new_connections(board: Scene, plan: Scene) -> Iterator[Operation]:
    there = set(board.connections)
    ids = {shape.id for shape in plan.shapes}
    for connection in plan.connections:
        if connection in there and {connection.source, connection.target} <= ids:
            there.remove(connection)
        else:
            yield Connect(connection)
