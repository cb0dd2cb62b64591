"""The render stage: a board and a plan in, a request for operations out; a reply in, what was drawn out."""

from dataclasses import dataclass
from typing import Any

from misheard.failures import Failure, FailureKind, ItemFailedError
from misheard.plugins.reply import parse_object
from misheard.scenes.fields import SceneError
from misheard.scenes.operations import Operation, Refused, apply, read_operations
from misheard.scenes.scene import Scene
from misheard.stages.plan import problems_in_short


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a renderer made of a board.

    Attributes:
        board: what stands on it now.
        operations: what was done, in order.
        refused: what the board refused, with reasons.
    """

    board: Scene
    operations: tuple[Operation, ...]
    refused: tuple[Refused, ...]


def render_request(board: Scene, plan: Scene) -> dict[str, Any]:
    """Return what a renderer gets: what stands on the board, and what shall."""
    return {"board": board.as_json(), "plan": plan.as_json()}


def read_render_reply(board: Scene, text: str | None, failure: str | None, detail: str) -> Drawn | Failure:
    """Return the board after the operations of a reply, or why there is none; never raises.

    `text`, `failure` and `detail` are those of a completion. An operation that the board cannot take is
    refused and counted; a reply that holds anything but operations is `invalid_output` as a whole.
    """
    if text is None or failure is not None:
        return Failure("render", FailureKind(failure or FailureKind.INVALID_OUTPUT), detail)
    try:
        operations = read_operations(parse_object(text))
    except ItemFailedError as error:
        return Failure("render", error.kind, error.detail)
    except SceneError as error:
        return Failure("render", FailureKind.INVALID_OUTPUT, problems_in_short("the operations", error))
    applied = apply(board, operations)
    return Drawn(applied.board, applied.applied, applied.refused)
