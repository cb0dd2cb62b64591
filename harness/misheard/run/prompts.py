"""The prompts that a config asks for."""

from misheard.config import CorrectConfig, RunConfig
from misheard.errors import InputError
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.stages.judge import JUDGE_NEEDS
from misheard.stages.prompts import PromptTemplate, load_prompt


def load_prompts(config: RunConfig) -> dict[str, PromptTemplate]:
    """Return the prompts of the stages that a config has, by name: `respond`, `correct`, `plan`, `judge_…`.

    Raises InputError for one that does not exist or lacks a placeholder.
    """
    prompts = {"respond": load_prompt(config.respond.prompt)}
    if config.correct is not None:
        prompts["correct"] = _correction_prompt(config.correct)
    if isinstance(config.plan, LanguageModelPlannerSettings):
        prompts["plan"] = load_prompt(config.plan.prompt, "plan.prompt")
    if config.judge is not None:
        names = {"meaning": config.judge.meaning_prompt, "answer": config.judge.answer_prompt}
        for question in config.judge.questions:
            option = f"judge.{question}_prompt"
            prompts[f"judge_{question}"] = load_prompt(names[question], option, JUDGE_NEEDS[question])
    return prompts


def _correction_prompt(settings: CorrectConfig) -> PromptTemplate:
    """Return the corrector's prompt. Raises InputError where it has no place for what the config gives it."""
    prompt = load_prompt(settings.prompt, "correct.prompt")
    text = (prompt.system or "") + prompt.user
    for option, is_on, place in (
        ("glossary", settings.glossary, "{glossary}"),
        ("n_best", settings.n_best, "{hypotheses}"),
    ):
        if is_on and place not in text:
            raise InputError(
                f"correct.prompt: {settings.prompt} has no {place}, where correct.{option} would be told; "
                f"add it, or turn correct.{option} off"
            )
    return prompt
