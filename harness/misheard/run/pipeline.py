"""Everything that a run asks after the recognition: correct, then respond or plan and render."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from misheard.language_models.protocol import LanguageModel, Sampling
from misheard.language_models.registry import make_language_model
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.plugins.protocol import Plugin
from misheard.run.answering import answer_suite
from misheard.run.arms import Pass, asking_arms, corrected_arms, passes_of
from misheard.run.asking import is_finished
from misheard.run.auditing import is_audited
from misheard.run.boards import steps_of
from misheard.run.context import RunContext
from misheard.run.correcting import correct_suite
from misheard.run.journal import Journal
from misheard.run.planning import plan_suite
from misheard.run.recognized import Recognized
from misheard.run.rendering import render_suite
from misheard.run.replies import Replies, read_replies

P = TypeVar("P", bound=Plugin | None)

_WARM_UP_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Parts:
    """What the stages of a run ask, checked and not started; None where nothing is left to ask it."""

    model: LanguageModel | None = None
    planner: Plugin | None = None
    renderer: Plugin | None = None


@dataclass(frozen=True, slots=True)
class _Left:
    """Which stages have something left to ask, by what the journals say."""

    correct: bool
    respond: bool
    plan: bool
    render: bool


def checked_parts(context: RunContext) -> Parts:
    """Return what is still needed, checked: what is wrong with it is found before hours of recognition.

    Raises BackendError.
    """
    left = _what_is_left(context)
    config = context.config
    settings, plan = config.language_model, config.plan
    by_model = isinstance(plan, LanguageModelPlannerSettings)
    model = planner = renderer = None
    if settings is not None and (left.correct or left.respond or (left.plan and by_model)):
        model = make_language_model(
            settings,
            logs=context.directory.logs,
            cpu=context.options.cpu,
            audit=config.execution.mode == "audit",
        )
        with contextlib.closing(model):
            model.check()
    if left.plan and plan is not None and not isinstance(plan, LanguageModelPlannerSettings):
        from misheard.planners.registry import make_planner

        planner = make_planner(plan, context.options.base)
        planner.check()
    if left.render:
        from misheard.renderers.registry import make_renderer

        renderer = make_renderer(context.config.render, context.options.base)
        renderer.check()
    return Parts(model, planner, renderer)


def _what_is_left(context: RunContext) -> _Left:
    directory, config, arms = context.directory, context.config, context.arms
    asking = [str(arm) for arm in asking_arms(arms)]

    def is_left(stage: str, journal: Path, wanted: Sequence[str]) -> bool:
        audited = is_audited(directory.audit(stage), config.execution)
        return not (audited and is_finished(read_replies(journal), wanted))

    correct = config.correct is not None and is_left(
        "correct", directory.correct, [str(arm) for arm in corrected_arms(arms)]
    )
    respond = bool(context.questions) and (correct or is_left("respond", directory.respond, asking))
    plan = bool(context.scenes) and (correct or is_left("plan", directory.plans, asking))
    steps = range(len(steps_of(context.scenes, context.in_sessions)))
    boards = [f"{arm}.{number}" for arm in arms for number in steps]
    render = bool(context.scenes) and (plan or not is_finished(read_replies(directory.boards), boards))
    return _Left(correct, respond, plan, render)


def run_stages(context: RunContext, parts: Parts, heard: Callable[[], Sequence[Recognized]]) -> None:
    """Ask what the journals lack, in every arm of the run.

    `heard` returns what was recognized, and waits for it where recognition still runs; it is called before
    the first arm that begins with it. Raises BackendError where something that is asked cannot be used and
    RunAbortedError where the failure policy says so.
    """
    plans = None
    with (
        _started_model(context, parts.model) as model,
        _started(context, parts.planner, "planner") as planner,
    ):
        for one in passes_of(context.arms, context.config.execution.schedule):
            recognized = heard() if one.begins_with_recognition else ()
            corrections = _corrections(context, model, recognized, one)
            if context.questions and model is not None:
                answer_suite(context, model, recognized, corrections, one)
            plans = _plans(context, model, planner, recognized, corrections, one)
    if parts.renderer is not None and plans is not None:
        with _started(context, parts.renderer, "renderer") as renderer:
            render_suite(context, renderer, plans)


def _corrections(
    context: RunContext, model: LanguageModel | None, recognized: Sequence[Recognized], one: Pass
) -> Replies | None:
    if context.config.correct is None:
        return None
    if model is None:
        return read_replies(context.directory.correct)
    return correct_suite(context, model, recognized, one)


def _plans(
    context: RunContext,
    model: LanguageModel | None,
    planner: Plugin | None,
    recognized: Sequence[Recognized],
    corrections: Replies | None,
    one: Pass,
) -> Replies | None:
    if not context.scenes:
        return None
    by_model = isinstance(context.config.plan, LanguageModelPlannerSettings)
    asked = model if by_model else planner
    if asked is None:
        return read_replies(context.directory.plans)
    return plan_suite(context, asked, recognized, corrections, one)


@contextlib.contextmanager
def _started(context: RunContext, plugin: P, name: str) -> Iterator[P]:
    if plugin is None:
        yield plugin
        return
    with contextlib.closing(plugin):
        context.progress.begin(f"starting the {name}", None)
        with context.clock.measure(f"{name}_load"):
            plugin.start()
        yield plugin


@contextlib.contextmanager
def _started_model(context: RunContext, model: LanguageModel | None) -> Iterator[LanguageModel | None]:
    """Start the language model, and note in the first journal that needs it how long that took."""
    if model is None:
        yield None
        return
    clock = context.clock
    with contextlib.closing(model):
        context.progress.begin("starting the language model", None)
        with clock.measure("language_model_load"):
            model.start()
        context.tell_memory("language_model", model)
        with clock.measure("language_model_warm_up"):
            model.warm_up(Sampling(max_tokens=_WARM_UP_TOKENS))
        note = {
            "load_seconds": clock.seconds["language_model_load"],
            "warm_up_seconds": clock.seconds["language_model_warm_up"],
        }
        directory, config = context.directory, context.config
        first = directory.respond if config.plan is None else directory.plans
        with contextlib.closing(
            Journal(directory.correct if config.correct is not None else first)
        ) as journal:
            journal.commit(f"start:{len(journal.committed)}", [], note)
        yield model
