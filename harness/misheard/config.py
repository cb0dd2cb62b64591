"""The run config: what a system is and which suite it runs over, read from YAML and validated at once."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from misheard.config_problems import describe
from misheard.errors import ConfigError, InputError
from misheard.execution import ExecutionConfig, PriceConfig, TelemetryConfig
from misheard.language_models.settings import LanguageModelSettings
from misheard.metrics.base import Arm
from misheard.planners.settings import PlannerSettings
from misheard.recognizers.settings import RecognizerSettings, gives_n_best
from misheard.renderers.settings import RendererSettings
from misheard.soak_config import SoakConfig
from misheard.strict_yaml import complaint, load_strict, load_strict_file

OnFailure = Literal["exclude", "worst", "abort"]

_MAX_BYTES = 1024 * 1024


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class RespondConfig(_Section):
    """The responder: how the language model is asked.

    Attributes:
        prompt: a prompt that ships with misheard, or a `.yaml` file relative to the config.
        max_tokens: longest answer, in tokens.
        seed: sent with every request; greedy decoding should not depend on it.
    """

    prompt: str = "respond-v1"
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 64
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


class CorrectConfig(_Section):
    """The corrector: the language model cleans a transcript up before it is answered or planned.

    Attributes:
        prompt: a prompt that ships with misheard, or a `.yaml` file relative to the config.
        max_tokens: longest correction, in tokens; one that is cut is not used.
        seed: sent with every request.
        glossary: whether the corrector is told the suite's `glossary` of the item's language.
        n_best: whether it is told all hypotheses of the recognizer; `recognizer.n_best` must give a list.
    """

    prompt: str = "correct-v1"
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 256
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    glossary: bool = False
    n_best: bool = False


JudgeQuestion = Literal["meaning", "answer"]


class JudgeConfig(_Section):
    """The judge: a pinned model says how far texts mean the same, from 0 to 100.

    Attributes:
        language_model: the judge; None is the run's own language model.
        questions: `meaning`, of transcripts against references; `answer`, of answers against reference ones.
        meaning_prompt, answer_prompt: prompts that ship with misheard, or `.yaml` files, relative to the
            config.
        max_tokens: longest reply, in tokens.
        seed: sent with every request.
        second: every question is asked again, with the two texts `swapped`, or as it is (`repeated`); or not.
        threshold: a score from here on says yes; a second reply on the other side is a flip.
        calibration: the file that `misheard judge calibrate` writes, relative to the config; without one that
            fits the judge its numbers are withheld.
    """

    language_model: LanguageModelSettings | None = None
    questions: Annotated[tuple[JudgeQuestion, ...], Field(min_length=1)] = ("meaning", "answer")
    meaning_prompt: str = "judge-meaning-v1"
    answer_prompt: str = "judge-answer-v1"
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 160
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    second: Literal["swapped", "repeated", "none"] = "swapped"
    threshold: Annotated[int, Field(ge=1, le=100)] = 50
    calibration: str | None = None


class ScoringConfig(_Section):
    """How outputs are scored.

    Attributes:
        profile: normalisation profile of references, transcripts and answers.
        response_scorer: `word_overlap_f1`, or `module:function` of your own: (reference, answer) -> [0, 1].
        resamples: bootstrap resamples per interval.
        seed: of the resampling.
    """

    profile: Literal["exact", "nfc", "plain", "spoken"] = "nfc"
    response_scorer: Annotated[str, Field(pattern=r"^(word_overlap_f1|[\w.]+:[\w.]+)$")] = "word_overlap_f1"
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1


class RunConfig(_Section):
    """One system over one suite.

    Attributes:
        suite: folder, `suite.yaml` or `{"items": […]}` JSON; relative to the config file.
        recognizer: what hears.
        language_model: what corrects, answers or plans; without any of these only recognition is measured.
        correct: how it corrects transcripts; None leaves them as they are.
        respond: how it is asked for answers; not used where there is a planner.
        plan: what turns utterances into scene plans; None where the system answers questions.
        render: what draws the plans; None is the renderer that ships with misheard.
        judge: what judges meaning; None asks no judge.
        arms: where the golden value enters; None takes every arm that the system has.
        execution: in which order and by how many workers.
        telemetry: what is sampled meanwhile.
        price: what the machine or the tokens cost.
        soak: how `misheard soak` replays a session; a run takes no notice of it.
        scoring: how outputs become counts.
        on_failure: `exclude` failed items from aggregates, score them as `worst`, or `abort` without report.
        fail_fast: stop at the first failed item, as `--fail-fast` does.
    """

    suite: str | None = None
    recognizer: RecognizerSettings
    language_model: LanguageModelSettings | None = None
    correct: CorrectConfig | None = None
    respond: RespondConfig = RespondConfig()
    plan: PlannerSettings | None = None
    render: RendererSettings | None = None
    judge: JudgeConfig | None = None
    arms: tuple[Arm, ...] | None = None
    execution: ExecutionConfig = ExecutionConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    price: PriceConfig = PriceConfig()
    soak: SoakConfig = SoakConfig()
    scoring: ScoringConfig = ScoringConfig()
    on_failure: OnFailure = "exclude"
    fail_fast: bool = False

    @property
    def possible_arms(self) -> tuple[Arm, ...]:
        """The arms that this system has, in the order of reports."""
        lacking = {Arm.UNCORRECTED} if self.correct is None else set()
        if self.plan is None:
            lacking.add(Arm.PLAN)
        return tuple(arm for arm in Arm if arm not in lacking)

    @property
    def chosen_arms(self) -> tuple[Arm, ...]:
        """The arms that are run, in the order of reports."""
        chosen = self.possible_arms if self.arms is None else self.arms
        return tuple(arm for arm in Arm if arm in chosen)

    @model_validator(mode="after")
    def _check_arms(self) -> "RunConfig":
        arms = self.chosen_arms
        if len(set(self.arms or ())) != len(self.arms or ()):
            raise ValueError("arms: each arm at most once")
        if Arm.AUDIO not in arms:
            raise ValueError("arms: audio must be among them; it is what the other arms are compared with")
        if Arm.CONTROL in arms and Arm.TRANSCRIPT not in arms:
            raise ValueError("arms: control repeats transcript, so transcript must be among them")
        if Arm.UNCORRECTED in (self.arms or ()) and self.correct is None:
            raise ValueError("arms: uncorrected leaves the corrector out, so the config must have correct")
        if Arm.PLAN in (self.arms or ()) and self.plan is None:
            raise ValueError("arms: plan replaces the planner's plan, so the config must have plan")
        return self

    @model_validator(mode="after")
    def _check_stages(self) -> "RunConfig":
        plans_by_model = self.plan is not None and self.plan.kind == "language_model"
        for name, needs in (("correct", self.correct is not None), ("plan", plans_by_model)):
            if needs and self.language_model is None:
                raise ValueError(f"{name}: needs a language_model")
        if self.correct is not None and self.correct.n_best and not gives_n_best(self.recognizer):
            raise ValueError("correct.n_best: the recognizer gives no list; set its n_best, above 1")
        judge = self.judge
        if judge is not None and judge.language_model is None and self.language_model is None:
            raise ValueError("judge: needs a language_model, its own or the run's")
        if self.plan is None and self.render is not None:
            raise ValueError("render: draws what a planner plans, so the config must have plan")
        return self


def load_config(path: Path, overrides: Sequence[str] = ()) -> RunConfig:
    """Read a config file and apply `a.b=value` overrides (values in YAML).

    Raises ConfigError with every problem, InputError where the file cannot be read.
    """
    data = load_strict_file(path, _MAX_BYTES)
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping with at least the key recognizer")
    return parse_config(str(path), data, overrides)


def parse_config(source: str, data: dict[str, Any], overrides: Sequence[str] = ()) -> RunConfig:
    """Return the config that a mapping and `a.b=value` overrides make; `source` is named in errors.

    Raises ConfigError with every problem, InputError for an override that is none.
    """
    data = copy.deepcopy(data)
    for override in overrides:
        _override(data, override)
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        schema = RunConfig.model_json_schema()
        raise ConfigError(source, [describe(detail, schema) for detail in error.errors()]) from error


def _override(data: dict[str, Any], override: str) -> None:
    name, separator, value = override.partition("=")
    keys = name.split(".")
    if not separator or not all(keys):
        raise InputError(f"--set {override!r}: write it as a.b=value")
    section = data
    for key in keys[:-1]:
        child = section.setdefault(key, {})
        if not isinstance(child, dict):
            raise InputError(f"--set {name}: {key} is not a section")
        section = child
    try:
        section[keys[-1]] = load_strict(value)
    except yaml.YAMLError as error:
        raise InputError(f"--set {name}: the value: {complaint(error)}") from error
