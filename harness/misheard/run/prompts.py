"""The prompts that a config asks for."""

from misheard.config import RunConfig
from misheard.planners.settings import LanguageModelPlannerSettings
from misheard.stages.judge import JUDGE_NEEDS
from misheard.stages.prompts import PromptTemplate, load_prompt


def load_prompts(config: RunConfig) -> dict[str, PromptTemplate]:
    """Return the prompts of the stages that a config has, by name: `respond`, `correct`, `plan`, `judge_…`.

    Raises InputError for one that does not exist or lacks a placeholder.
    """
    prompts = {"respond": load_prompt(config.respond.prompt)}
    if config.correct is not None:
        prompts["correct"] = load_prompt(config.correct.prompt, "correct.prompt")
    if isinstance(config.plan, LanguageModelPlannerSettings):
        prompts["plan"] = load_prompt(config.plan.prompt, "plan.prompt")
    if config.judge is not None:
        names = {"meaning": config.judge.meaning_prompt, "answer": config.judge.answer_prompt}
        for question in config.judge.questions:
            option = f"judge.{question}_prompt"
            prompts[f"judge_{question}"] = load_prompt(names[question], option, JUDGE_NEEDS[question])
    return prompts
