"""The system of a session: its parts, how its language model is asked, and what it is, as a run says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.audio.decode import decoder_fingerprint
from misheard.config import CorrectConfig, RespondConfig, RunConfig
from misheard.language_models.protocol import LanguageModel, Sampling
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.plugins.protocol import Plugin
from misheard.recognizers.protocol import Recognizer
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

    def prompted(self) -> dict[str, Prompted]:
        """Return how the language model is asked, per stage that asks it."""
        if self.model is None:
            return {}
        engine = self.model.fingerprint()
        return {
            stage: Prompted(self.prompts[stage], sampling, engine, stage)
            for stage, sampling in _samplings(self.config).items()
        }

    def facts(self, glossary: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return what `run.json` would hold of the same system.

        Args:
            glossary: terms per language that the corrector is told.
        """
        config = self.config
        facts: dict[str, Any] = {
            "recognizer": {"audio_decoder": decoder_fingerprint(), **self.recognizer.fingerprint()},
            **{stage: prompted.fingerprint() for stage, prompted in self.prompted().items()},
        }
        if config.correct is not None:
            told = {language: list(terms) for language, terms in glossary.items()}
            facts["correct"] |= {"n_best": config.correct.n_best, "glossary": told}
        if config.plan is not None:
            planner = {} if self.planner is None else {"planner": self.planner.fingerprint()}
            facts["plan"] = {"stage": "plan", "scope": config.plan.scope, **planner, **facts.get("plan", {})}
        if self.renderer is not None:
            facts["render"] = {"stage": "render", "renderer": self.renderer.fingerprint()}
        return facts


def glossary_of(config: RunConfig, glossary: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Return the terms of a suite that the corrector of a config is told."""
    return glossary if config.correct is not None and config.correct.glossary else {}


def _samplings(config: RunConfig) -> dict[str, Sampling]:
    """Return with what the model is asked, per stage that asks it."""
    asked: dict[str, tuple[CorrectConfig | LanguageModelPlannerSettings | RespondConfig, str | None]] = {}
    if config.correct is not None:
        asked["correct"] = (config.correct, CORRECTION_SCHEMA)
    if isinstance(config.plan, LanguageModelPlannerSettings):
        asked["plan"] = (config.plan, plan_schema(config.plan))
    elif config.plan is None:
        asked["respond"] = (config.respond, None)
    return {
        stage: Sampling(max_tokens=settings.max_tokens, seed=settings.seed, json_schema=schema)
        for stage, (settings, schema) in asked.items()
    }
