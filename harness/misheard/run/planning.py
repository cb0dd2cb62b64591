"""The plan stage of a run: from what was said to a scene plan, in every arm that plans."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from misheard.canonical import sha256_json
from misheard.failures import Failure
from misheard.language_models.protocol import LanguageModel, Sampling
from misheard.metrics.base import Arm
from misheard.planners.settings import LanguageModelPlannerSettings, PlannerSettings
from misheard.plugins.protocol import Plugin, PluginRequest
from misheard.run.arms import Pass, execution
from misheard.run.asking import Asker, Phase, Request, Sampled
from misheard.run.auditing import ask_again
from misheard.run.context import RunContext
from misheard.run.journal import Journal
from misheard.run.plugged import Plugged
from misheard.run.recognized import Recognized
from misheard.run.replies import Replies
from misheard.run.texts import going_on
from misheard.stages.plan import plan_request, plan_schema, plan_values, read_plan_reply
from misheard.stages.prompted import Prompted
from misheard.suite.items import Item


def plan_suite(
    context: RunContext,
    planner: LanguageModel | Plugin,
    recognized: Sequence[Recognized],
    corrections: Replies | None,
    one: Pass,
) -> Replies:
    """Plan every item with a golden plan in every arm of a pass that the journal lacks.

    Returns what the journal says.

    Raises BackendError where the planner cannot be used and RunAbortedError where the failure policy says so.
    """
    settings = context.config.plan
    if settings is None:
        raise ValueError("the config has no planner")
    maker = _maker(context, settings, planner)
    context.pin("plan", maker.fingerprint())
    with contextlib.closing(Journal(context.directory.plans)) as journal:
        asker: Asker[Any] = Asker(context, "plan", journal, maker.executor, plan_failure)
        heard = context.heard_until()

        def requests(arm: Arm, repeated: str | None = None) -> dict[str, Request]:
            texts = going_on(context, recognized, arm, corrections)
            return {
                item.id: maker.request(
                    _utterances(heard[item.id], texts), item.language, repeated or execution(arm, item.id)
                )
                for item in context.scenes
                if item.id in texts
            }

        done = [str(arm) for arm in one.earlier]
        for arm in one.arms:
            phase = Phase(str(arm), arm, f"planning, {arm} arm", tuple(done))
            with context.clock.measure(maker.clock):
                asker.run(phase, requests(arm))
            done.append(phase.name)
        with context.clock.measure("audit"):
            ask_again(context, "plan", asker.executor, one, requests)
        return asker.replies()


def plan_failure(row: Mapping[str, Any]) -> Failure | None:
    """Return what is wrong with a completion of the plan journal; None for a plan."""
    found = read_plan_reply(row["text"], row["failure"], row["detail"])
    return found if isinstance(found, Failure) else None


def _utterances(heard: Sequence[Item], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a plan is made from, as far as it was heard."""
    return tuple(texts[one.id] for one in heard if one.id in texts)


class _ModelPlanner:
    """The run's language model as planner."""

    clock = "language_model"

    def __init__(
        self, context: RunContext, settings: LanguageModelPlannerSettings, model: LanguageModel
    ) -> None:
        sampling = Sampling(
            max_tokens=settings.max_tokens, seed=settings.seed, json_schema=plan_schema(settings)
        )
        self.executor = Sampled(model, sampling)
        self._settings = settings
        self._prompted = Prompted(context.prompts["plan"], sampling, model.fingerprint(), "plan")

    def fingerprint(self) -> dict[str, Any]:
        return {**self._prompted.fingerprint(), "scope": self._settings.scope}

    def request(self, utterances: Sequence[str], language: str | None, execution: str) -> Request:
        return self._prompted.request(plan_values(utterances, self._settings.kinds), language, execution)


class _PluginPlanner:
    """A planner of the user's."""

    clock = "planner"

    def __init__(self, scope: str, plugin: Plugin) -> None:
        self.executor = Plugged(plugin)
        self._scope, self._plugin = scope, plugin

    def fingerprint(self) -> dict[str, Any]:
        return {"stage": "plan", "scope": self._scope, "planner": self._plugin.fingerprint()}

    def request(self, utterances: Sequence[str], language: str | None, execution: str) -> Request:
        payload = plan_request(utterances, language)
        return PluginRequest(sha256_json([self.fingerprint(), payload, execution]), payload)


def _maker(context: RunContext, settings: PlannerSettings, planner: Any) -> _ModelPlanner | _PluginPlanner:
    if isinstance(settings, LanguageModelPlannerSettings):
        return _ModelPlanner(context, settings, planner)
    return _PluginPlanner(settings.scope, planner)
