"""The stages of a session, one behind the other with a queue before each."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from misheard.language_models.protocol import ChatRequest
from misheard.planners.settings import LanguageModelPlannerSettings, PlannerSettings
from misheard.plugins.protocol import Plugin, PluginRequest
from misheard.run.asking import Sampled
from misheard.run.plugged import Plugged
from misheard.run.resolve import local_recognizer
from misheard.soak.replay.asking import Inquirer
from misheard.soak.replay.board import Drawing, ModelQuestions, Planning, PluginQuestions
from misheard.soak.replay.clock import Clock
from misheard.soak.replay.faults_protocol import Faults
from misheard.soak.replay.feeding import Emit
from misheard.soak.replay.hearing import Recognition
from misheard.soak.replay.queues import Inbox
from misheard.soak.replay.replying import Answering, Correction
from misheard.soak.replay.system import System
from misheard.stages.prompted import Prompted


class Stage(Protocol):
    """What one thread does with turns: at most `most` at a time.

    `work` tells the trace what became of each, in their order, and yields what goes on.
    """

    most: int

    def work(self, turns: Sequence[Any], emit: Emit) -> Iterator[Any]: ...


@dataclass(frozen=True, slots=True)
class Worker:
    """A stage with the queue before it and, if anything comes after it, the queue behind it."""

    stage: Stage
    inbox: Inbox[Any]
    onward: Inbox[Any] | None

    def run(self, emit: Emit) -> None:
        """Work until nothing more comes."""
        while turns := self.inbox.take(self.stage.most):
            for result in self.stage.work(turns, emit):
                if self.onward is not None:
                    self.onward.put(result)
            del turns  # their audio is not needed while the next ones are waited for
        if self.onward is not None:
            self.onward.close()


def make_stages(
    system: System,
    language_of: Callable[[str | None], str | None],
    glossary: Mapping[str, Sequence[str]],
    clock: Clock,
    faults: Faults,
) -> dict[str, Stage]:
    """Return the stages of a system by name, in the order in which turns go through them.

    `language_of` gives the suite's tag of a recording, `glossary` terms per language for the corrector.
    """
    config = system.config
    asking, prompted = _Asking(system, clock), system.prompted()
    batch_size = local_recognizer(config.recognizer).batch_size
    stages: dict[str, Stage] = {
        "recognize": Recognition(system.recognizer, batch_size, language_of, faults, clock)
    }
    if "correct" in prompted:
        stages["correct"] = Correction(asking.of_model(prompted["correct"]), prompted["correct"], glossary)
    if config.plan is not None:
        stages["plan"] = _planning(system, config.plan, asking, prompted.get("plan"), faults)
        if system.renderer is not None:
            inquirer = asking.of_plugin("render", system.renderer)
            stages["render"] = Drawing(inquirer, system.renderer, goes_on=config.plan.scope == "session")
    elif "respond" in prompted:
        stages["respond"] = Answering(asking.of_model(prompted["respond"]), prompted["respond"])
    return stages


def _planning(
    system: System, settings: PlannerSettings, asking: "_Asking", prompted: Prompted | None, faults: Faults
) -> Planning:
    history = system.config.soak.history_turns if settings.scope == "session" else 1
    if not isinstance(settings, LanguageModelPlannerSettings):
        if system.planner is None:
            raise ValueError("the system lacks its planner")
        planner = system.planner
        return Planning(asking.of_plugin("plan", planner), PluginQuestions(planner), history, faults)
    if prompted is None:
        raise ValueError("the system lacks its language model")
    return Planning(asking.of_model(prompted), ModelQuestions(prompted, settings), history, faults)


class _Asking:
    """Makes what asks for the stages; those that ask the model take turns if it wants that."""

    def __init__(self, system: System, clock: Clock) -> None:
        self._model, self._attempts, self._clock = system.model, system.config.soak.attempts, clock
        self._model_busy = threading.Lock()

    def of_model(self, prompted: Prompted) -> Inquirer[ChatRequest]:
        if self._model is None:
            raise ValueError("the system lacks its language model")
        executor = Sampled(self._model, prompted.sampling)
        return Inquirer(executor, "language_model", self._attempts, self._clock, self._model_busy)

    def of_plugin(self, section: str, plugin: Plugin) -> Inquirer[PluginRequest]:
        return Inquirer(Plugged(plugin), section, self._attempts, self._clock, threading.Lock())
