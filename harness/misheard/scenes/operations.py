"""Operations on a board: what a renderer does, one traced step after the other.

A board never has two shapes of one id, never the same arrow twice, and never an arrow without both ends. An
operation that would break this is refused, with a reason, and the rest goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from misheard.scenes.fields import Fields, SceneError, rows
from misheard.scenes.reading import MAX_CONNECTIONS, MAX_SHAPES
from misheard.scenes.scene import Connection, Scene, Shape

MAX_OPERATIONS = 5_000

Reason = Literal[
    "duplicate_shape",
    "unknown_shape",
    "dangling_connection",
    "duplicate_connection",
    "unknown_connection",
    "board_full",
]


@dataclass(frozen=True, slots=True)
class AddShape:
    """Put a shape on the board."""

    op: ClassVar[str] = "add_shape"
    shape: Shape

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, "id": self.shape.id, "kind": self.shape.kind, "label": self.shape.label}


@dataclass(frozen=True, slots=True)
class Relabel:
    """Give a shape another label."""

    op: ClassVar[str] = "relabel"
    id: str
    label: str

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, "id": self.id, "label": self.label}


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """Give a shape another kind."""

    op: ClassVar[str] = "change_kind"
    id: str
    kind: str

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, "id": self.id, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a shape off the board; arrows that it still has are disconnected first."""

    op: ClassVar[str] = "remove"
    id: str

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, "id": self.id}


@dataclass(frozen=True, slots=True)
class Connect:
    """Draw an arrow between two shapes of the board."""

    op: ClassVar[str] = "connect"
    connection: Connection

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, **_ends(self.connection)}


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Take an arrow off; ends and label say which."""

    op: ClassVar[str] = "disconnect"
    connection: Connection

    def as_json(self) -> dict[str, Any]:
        """Return the operation in its documented JSON form."""
        return {"op": self.op, **_ends(self.connection)}


Operation = AddShape | Relabel | ChangeKind | Remove | Connect | Disconnect

_NAMES = tuple(kind.op for kind in (AddShape, Relabel, ChangeKind, Remove, Connect, Disconnect))


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that the board did not take, and why."""

    operation: Operation
    reason: Reason


@dataclass(frozen=True, slots=True)
class Applied:
    """A board after operations.

    Attributes:
        board: what stands on it.
        applied: what was done, in order; the arrows that went with a removed shape are disconnected here.
        refused: what was not.
    """

    board: Scene
    applied: tuple[Operation, ...]
    refused: tuple[Refused, ...]


def apply(board: Scene, operations: Sequence[Operation]) -> Applied:
    """Apply operations to a board in order; each is done or refused, and no refusal stops the rest.

    What is kept keeps its place, what is new comes last. `board` must be one: see the top of this module.
    """
    working = _Board(board)
    for operation in operations:
        working.do(operation)
    return Applied(working.scene(), tuple(working.applied), tuple(working.refused))


def operations_as_json(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return operations as a renderer replies with them."""
    return {"operations": [operation.as_json() for operation in operations]}


def read_operations(value: object) -> tuple[Operation, ...]:
    """Return the operations of a renderer's reply, `{"operations": [{"op": "add_shape", …}, …]}`.

    Other fields are passed over. Raises SceneError with every problem; none quotes an id or a label.
    """
    if not isinstance(value, dict):
        raise SceneError(("must be an object with operations",))
    problems: list[str] = []
    found = [
        _read(Fields(row, f"operations[{index}]", problems))
        for index, row in enumerate(rows(value, "operations", MAX_OPERATIONS, problems))
    ]
    operations = tuple(operation for operation in found if operation is not None)
    if problems or len(operations) != len(found):
        raise SceneError(tuple(problems))
    return operations


class _Board:
    """A board while operations are applied."""

    def __init__(self, board: Scene) -> None:
        self._shapes = {shape.id: shape for shape in board.shapes}
        self._connections = dict.fromkeys(board.connections)
        self.applied: list[Operation] = []
        self.refused: list[Refused] = []

    def scene(self) -> Scene:
        return Scene(tuple(self._shapes.values()), tuple(self._connections))

    def do(self, operation: Operation) -> None:
        reason = self._refusal(operation)
        if reason is not None:
            self.refused.append(Refused(operation, reason))
            return
        self._change(operation)
        self.applied.append(operation)

    def _refusal(self, operation: Operation) -> Reason | None:
        match operation:
            case AddShape(shape):
                if shape.id in self._shapes:
                    return "duplicate_shape"
                return "board_full" if len(self._shapes) >= MAX_SHAPES else None
            case Relabel(id=name) | ChangeKind(id=name) | Remove(id=name):
                return None if name in self._shapes else "unknown_shape"
            case Connect(connection):
                if not {connection.source, connection.target} <= self._shapes.keys():
                    return "dangling_connection"
                if connection in self._connections:
                    return "duplicate_connection"
                return "board_full" if len(self._connections) >= MAX_CONNECTIONS else None
            case Disconnect(connection):
                return None if connection in self._connections else "unknown_connection"

    def _change(self, operation: Operation) -> None:
        match operation:
            case AddShape(shape):
                self._shapes[shape.id] = shape
            case Relabel(name, label):
                self._shapes[name] = Shape(name, self._shapes[name].kind, label)
            case ChangeKind(name, kind):
                self._shapes[name] = Shape(name, kind, self._shapes[name].label)
            case Remove(name):
                for connection in [c for c in self._connections if name in (c.source, c.target)]:
                    self.do(Disconnect(connection))
                del self._shapes[name]
            case Connect(connection):
                self._connections[connection] = None
            case Disconnect(connection):
                del self._connections[connection]


def _ends(connection: Connection) -> dict[str, str]:
    return {"from": connection.source, "to": connection.target, "label": connection.label}


def _read(fields: Fields) -> Operation | None:
    match fields.choice("op", _NAMES):
        case "add_shape":
            return AddShape(Shape(fields.identifier("id"), fields.kind("kind"), fields.label("label")))
        case "relabel":
            return Relabel(fields.identifier("id"), fields.label("label"))
        case "change_kind":
            return ChangeKind(fields.identifier("id"), fields.kind("kind"))
        case "remove":
            return Remove(fields.identifier("id"))
        case "connect":
            return Connect(_read_ends(fields))
        case "disconnect":
            return Disconnect(_read_ends(fields))
    return None


def _read_ends(fields: Fields) -> Connection:
    return Connection(
        fields.identifier("from"), fields.identifier("to"), fields.label("label", optional=True)
    )
