"""Plans and the boards that they are drawn on, turn after turn."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from misheard.canonical import sha256_json
from misheard.failures import Failure
from misheard.language_models.protocol import ChatRequest
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.plugins.protocol import Plugin, PluginRequest
from misheard.scenes.differences import differences
from misheard.scenes.operations import AddShape, Connect, Operation, Remove
from misheard.scenes.scene import EMPTY_SCENE, Scene
from misheard.soak.events import EventName, OperationType
from misheard.soak.replay.asking import Inquirer, Reply
from misheard.soak.replay.faults_protocol import Faults
from misheard.soak.replay.feeding import Emit
from misheard.soak.replay.hearing import Heard
from misheard.stages.plan import plan_request, plan_values, read_plan_reply
from misheard.stages.prompted import Prompted
from misheard.stages.render import Drawn, read_render_reply, render_request


@dataclass(frozen=True, slots=True)
class Planned:
    """A turn with its plan."""

    turn: str
    plan: Scene


class Questions(Protocol):
    """Puts utterances into the request of a planner; `execution` makes its key unique."""

    def request(self, utterances: Sequence[str], language: str | None, execution: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class ModelQuestions:
    """Asks the language model for a plan."""

    prompted: Prompted
    settings: LanguageModelPlannerSettings

    def request(self, utterances: Sequence[str], language: str | None, execution: str) -> ChatRequest:
        values = plan_values(utterances, self.settings.kinds)
        return self.prompted.request(values, language, execution)


@dataclass(frozen=True, slots=True)
class PluginQuestions:
    """Asks a planner of the user's."""

    plugin: Plugin

    def request(self, utterances: Sequence[str], language: str | None, execution: str) -> PluginRequest:
        payload = plan_request(utterances, language)
        return PluginRequest(sha256_json([self.plugin.fingerprint(), payload, execution]), payload)


class Planning:
    """Has turns planned, each from the last `history` utterances, its own among them."""

    def __init__(self, inquirer: Inquirer[Any], questions: Questions, history: int, faults: Faults) -> None:
        self.most = inquirer.most
        self._inquirer, self._questions, self._faults = inquirer, questions, faults
        self._utterances: deque[str] = deque(maxlen=history)

    def work(self, turns: Sequence[Heard], emit: Emit) -> Iterator[Planned]:
        """Tell which turns have a plan, in order; yield those that have one.

        The operations of a plan are those that draw it on an empty board.
        """
        for turn, reply in zip(turns, self._inquirer.ask([*map(self._request, turns)]), strict=True):
            plan = self._read(turn, reply)
            about = {"turn": turn.turn, "seconds": reply.seconds}
            if isinstance(plan, Failure):
                emit(EventName.PLAN_REJECTED, **about)
            else:
                operations = len(differences(EMPTY_SCENE, plan))
                emit(EventName.PLAN_ACCEPTED, **about, operations=operations)
                yield Planned(turn.turn, plan)

    def _request(self, turn: Heard) -> Any:
        self._utterances.append(turn.text)
        return self._questions.request(tuple(self._utterances), turn.language, turn.turn)

    def _read(self, turn: Heard, reply: Reply) -> Scene | Failure:
        completion = reply.completion
        text = completion.text
        if text is not None:
            text = self._faults.plan_reply(turn.turn, turn.audio_to, text)
        return read_plan_reply(text, completion.failure, completion.detail)


class Drawing:
    """Has plans drawn: on one board that goes on, or each on a board of its own."""

    def __init__(self, inquirer: Inquirer[PluginRequest], renderer: Plugin, *, goes_on: bool) -> None:
        # on a board that goes on, a plan can be asked for only once the one before it is drawn
        self.most = 1 if goes_on else inquirer.most
        self._inquirer, self._renderer, self._goes_on = inquirer, renderer, goes_on
        self._board = EMPTY_SCENE
        self._operations, self._connections = count(1), count(1)

    def work(self, turns: Sequence[Planned], emit: Emit) -> Iterator[Planned]:
        """Tell what is drawn of every plan, in order; yield nothing."""
        for turn, reply in zip(turns, self._inquirer.ask([*map(self._request, turns)]), strict=True):
            completion = reply.completion
            drawn = read_render_reply(self._board, completion.text, completion.failure, completion.detail)
            if isinstance(drawn, Failure):
                emit(EventName.RENDER_FAILED, turn=turn.turn, seconds=reply.seconds)
            else:
                self._tell(turn.turn, drawn, reply.seconds, emit)
        yield from ()

    def _request(self, turn: Planned) -> PluginRequest:
        payload = render_request(self._board, turn.plan)
        return PluginRequest(sha256_json([self._renderer.fingerprint(), payload, turn.turn]), payload)

    def _tell(self, turn: str, drawn: Drawn, seconds: float, emit: Emit) -> None:
        """Tell the operations that the board took, one by one, and that it is ready."""
        shapes = len(self._board.shapes)
        # a board of its own is another topic
        opening = [] if self._goes_on else [(self._row(turn, OperationType.TOPIC), 0)]
        steps = [*opening, *((self._row_of(turn, done), _growth(done)) for done in drawn.operations)]
        for row, _ in steps:
            emit(EventName.OPERATION_ACCEPTED, **row)
        for row, growth in steps:
            shapes += growth
            emit(EventName.OPERATION_APPLIED, **row, shapes=shapes, seconds=seconds)
        emit(EventName.BOARD_READY, turn=turn, shapes=shapes)
        if self._goes_on:
            self._board = drawn.board

    def _row(self, turn: str, kind: OperationType) -> dict[str, str]:
        return {"turn": turn, "operation": f"op{next(self._operations)}", "type": str(kind)}

    def _row_of(self, turn: str, operation: Operation) -> dict[str, str]:
        row = self._row(turn, OperationType(operation.op))
        if isinstance(operation, Connect):
            row["connection"] = f"c{next(self._connections)}"
        return row


def _growth(operation: Operation) -> int:
    """Return by how many shapes the board grows."""
    return isinstance(operation, AddShape) - isinstance(operation, Remove)
