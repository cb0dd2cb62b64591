"""The stages of a session, one behind the other with a queue before each."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from misheard.config import RunConfig
from misheard.language_models.protocol import ChatRequest, LanguageModel, Sampling
from misheard.planners.settings import LanguageModelPlannerSettings, PlannerSettings
from misheard.plugins.protocol import Plugin, PluginRequest
from misheard.recognizers.protocol import Recognizer
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
from misheard.stages.correct import CORRECTION_SCHEMA
from misheard.stages.plan import plan_schema
from misheard.stages.prompted import Prompted
from misheard.stages.prompts import PromptTemplate


@dataclass(frozen=True, slots=True)
class System:
    """What is replayed to: loaded and started by whoever calls, who also closes it.

    Attributes:
        recognizer: what hears.
        model: corrects, answers or plans; None where nothing of these is asked of it.
        planner: of the user's; None where the model plans or nothing does.
        renderer: draws plans; None where there are none.
        config: of the run.
        prompts: of the stages, as `load_prompts` gives them.
    """

    recognizer: Recognizer
    model: LanguageModel | None
    planner: Plugin | None
    renderer: Plugin | None
    config: RunConfig
    prompts: Mapping[str, PromptTemplate]


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
    config, model = system.config, system.model
    batch_size = local_recognizer(config.recognizer).batch_size
    asking = _Asking(config.soak.attempts, clock)
    stages: dict[str, Stage] = {
        "recognize": Recognition(system.recognizer, batch_size, language_of, faults, clock)
    }
    if config.correct is not None and model is not None:
        prompt, settings = system.prompts["correct"], config.correct
        sampling = Sampling(max_tokens=settings.max_tokens, seed=settings.seed, json_schema=CORRECTION_SCHEMA)
        stages["correct"] = Correction(*asking.of_model("correct", model, prompt, sampling), glossary)
    if config.plan is not None:
        stages["plan"] = _planning(system, config.plan, asking, faults)
        if system.renderer is not None:
            inquirer = asking.of_plugin("render", system.renderer)
            stages["render"] = Drawing(inquirer, system.renderer, goes_on=config.plan.scope == "session")
    elif model is not None:
        sampling = Sampling(max_tokens=config.respond.max_tokens, seed=config.respond.seed)
        stages["respond"] = Answering(*asking.of_model("respond", model, system.prompts["respond"], sampling))
    return stages


def _planning(system: System, settings: PlannerSettings, asking: "_Asking", faults: Faults) -> Planning:
    history = system.config.soak.history_turns if settings.scope == "session" else 1
    if not isinstance(settings, LanguageModelPlannerSettings):
        if system.planner is None:
            raise ValueError("the system lacks its planner")
        planner = system.planner
        return Planning(asking.of_plugin("plan", planner), PluginQuestions(planner), history, faults)
    if system.model is None:
        raise ValueError("the system lacks its language model")
    sampling = Sampling(max_tokens=settings.max_tokens, seed=settings.seed, json_schema=plan_schema(settings))
    inquirer, prompted = asking.of_model("plan", system.model, system.prompts["plan"], sampling)
    return Planning(inquirer, ModelQuestions(prompted, settings), history, faults)


class _Asking:
    """Makes what asks for the stages; those that ask the same model take turns if it wants that."""

    def __init__(self, attempts: int, clock: Clock) -> None:
        self._attempts, self._clock = attempts, clock
        self._model_busy = threading.Lock()

    def of_model(
        self, stage: str, model: LanguageModel, prompt: PromptTemplate, sampling: Sampling
    ) -> tuple[Inquirer[ChatRequest], Prompted]:
        executor = Sampled(model, sampling)
        inquirer = Inquirer(executor, "language_model", self._attempts, self._clock, self._model_busy)
        return inquirer, Prompted(prompt, sampling, model.fingerprint(), stage)

    def of_plugin(self, section: str, plugin: Plugin) -> Inquirer[PluginRequest]:
        return Inquirer(Plugged(plugin), section, self._attempts, self._clock, threading.Lock())
