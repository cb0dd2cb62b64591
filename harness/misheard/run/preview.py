"""What a run would do, said without doing it."""

from pathlib import Path

from misheard.config import RunConfig
from misheard.errors import BackendError
from misheard.language_models.model_content import check_model, is_folder
from misheard.language_models.registry import make_language_model
from misheard.language_models.settings import EmbeddedSettings, LanguageModelSettings, VllmSettings
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.recognizers.settings import (
    CommandSettings,
    CTranslate2Settings,
    RecognizerSettings,
    TransformersSettings,
    VllmRecognizerSettings,
)
from misheard.recognizers.whisper_folder import check_files
from misheard.report.labels import count_of
from misheard.run.arms import asking_arms
from misheard.run.context import questions, scenes
from misheard.run.evaluated import RunSubset, left_out, load_run_suite, suite_facts
from misheard.run.prompts import load_prompts
from misheard.run.runner import arms_of, check_size
from misheard.run.scoring import scoring_settings


def preview(
    config: RunConfig,
    suite_path: Path,
    limit: int | None,
    *,
    cpu: bool,
    subset: RunSubset = "open",
    base: Path = Path(),
) -> str:
    """Return a few lines on what would run. Nothing is decoded, loaded or written.

    Raises what the run would raise before it begins: SuiteError for the suite, ConfigError for the scorer,
    InputError for the prompt, BackendError for the language model and for a model folder that lacks what its
    backend needs.
    """
    suite = load_run_suite(suite_path, limit, subset)
    suite_facts(suite_path, suite)
    check_size(config, suite)
    scoring_settings(config)
    load_prompts(config)
    speech = sum(item.is_speech for item in suite.items)
    asked = len(questions(config, suite)) or len(scenes(config, suite))
    sessions = len({item.resampling_unit for item in suite.items})
    model = config.language_model
    if model is not None and (asked or config.correct is not None):
        make_language_model(model, logs=Path(), cpu=cpu).check()
        _check_mind("language_model", model)
    if config.judge is not None and config.judge.language_model is not None:
        _check_mind("judge.language_model", config.judge.language_model)
    _check_ears(config.recognizer)
    _check_plugins(config, base)
    arms = arms_of(config, suite)
    lines = [
        f"suite           {suite.name} {suite.version}: {count_of(len(suite.items), 'item')} "
        f"({speech} speech, {len(suite.items) - speech} non-speech), "
        f"{count_of(sessions, 'resampling unit')}",
        *([f"left out        {left_out(suite)}"] if left_out(suite) else []),
        f"recognizer      {_named(config.recognizer)}, {_work(config.recognizer)}",
        f"language model  {'none' if model is None else _named(model)}",
        f"device          {'cpu' if cpu else 'as configured'}",
        f"arms            {', '.join(arms)}",
        *([] if config.correct is None else [f"corrector       {config.correct.prompt}"]),
        _asked(config, asked, len(asking_arms(arms))),
        *([] if config.judge is None else [f"judge           {', '.join(config.judge.questions)}"]),
        f"on failure      {config.on_failure}{', stopping at the first' if config.fail_fast else ''}",
    ]
    return "\n".join(lines)


def _check_ears(recognizer: RecognizerSettings) -> None:
    """Raise BackendError where a speech model's folder is not what the recognizer loads."""
    if not isinstance(recognizer, CTranslate2Settings | TransformersSettings | VllmRecognizerSettings):
        return
    folder = Path(recognizer.model)
    if not folder.is_dir():
        return
    check_files(recognizer.kind, folder)
    if isinstance(recognizer, TransformersSettings):
        from misheard.recognizers.transformers_loading import check_folder

        check_folder(folder)


def _check_mind(section: str, model: LanguageModelSettings) -> None:
    """Raise BackendError where a language model's folder lacks a config, weights or a chat template."""
    if not isinstance(model, EmbeddedSettings | VllmSettings) or not is_folder(model.model):
        return
    given = any(option.startswith("--chat-template") for option in getattr(model, "extra_args", ()))
    try:
        check_model(model.model, model.revision, given)
    except BackendError as error:
        raise BackendError(str(error).replace("language_model", section, 1)) from error


def _check_plugins(config: RunConfig, base: Path) -> None:
    if config.plan is None:
        return
    from misheard.planners.registry import make_planner
    from misheard.renderers.registry import make_renderer

    if not isinstance(config.plan, LanguageModelPlannerSettings):
        make_planner(config.plan, base).check()
    make_renderer(config.render, base).check()


def _asked(config: RunConfig, items: int, arms: int) -> str:
    """Return the line on what is answered or planned; the plan arm asks nothing."""
    if config.plan is None:
        return f"questions       {items}, {_completions(items * arms)}"
    planner = f"planner {config.plan.kind}, a plan per {config.plan.scope}"
    return f"scenes          {items}, {planner}, {_plans(items * arms)}"


def _plans(most: int) -> str:
    return f"at most {most} plans" if most else "none is planned: no item has a plan"


def _named(settings: object) -> str:
    """Return the kind of a backend and its model, where it has one."""
    model = getattr(settings, "model", None)
    kind = str(getattr(settings, "kind", ""))
    return kind if model is None else f"{kind} {model}"


def _work(recognizer: RecognizerSettings) -> str:
    if isinstance(recognizer, CommandSettings):
        return (
            f"{Path(recognizer.command[0]).name}, a process per recording of at most "
            f"{recognizer.timeout_seconds:g} s, {recognizer.budget_seconds:g} s for all"
        )
    return f"batches of {recognizer.batch_size}"


def _completions(most: int) -> str:
    if most:
        return f"at most {most} completions"
    return "not asked: there is no language model, or no item has a reference_answer"
