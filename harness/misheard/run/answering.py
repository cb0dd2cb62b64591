"""The respond stage of a run: every question in every arm that asks the language model.

Arms share: identical prompts run once and serve all that have them, so a perfect transcript has a drop of
exactly 0. Control asks every prompt of the transcript arm again, in an execution of its own.
"""

import contextlib
from collections.abc import Sequence

from misheard.language_models.protocol import ChatRequest, LanguageModel, Sampling
from misheard.metrics.base import Arm
from misheard.run.arms import Pass, execution
from misheard.run.asking import Asker, Phase, Sampled
from misheard.run.auditing import ask_again
from misheard.run.context import RunContext
from misheard.run.journal import Journal
from misheard.run.recognized import Recognized
from misheard.run.replies import Replies
from misheard.run.texts import going_on
from misheard.stages.prompted import Prompted, completion_failure


def answer_suite(
    context: RunContext,
    model: LanguageModel,
    recognized: Sequence[Recognized],
    corrections: Replies | None,
    one: Pass,
) -> None:
    """Answer every question in every arm of a pass that the journal lacks.

    Raises BackendError where the language model cannot be used and RunAbortedError where the failure policy
    says so.
    """
    settings = context.config.respond
    sampling = Sampling(max_tokens=settings.max_tokens, seed=settings.seed)
    prompted = Prompted(context.prompts["respond"], sampling, model.fingerprint())
    context.pin("respond", prompted.fingerprint())
    questions = {item.id: item for item in context.questions}
    with contextlib.closing(Journal(context.directory.respond)) as journal:
        asker = Asker(context, "respond", journal, Sampled(model, sampling), completion_failure)

        def requests(arm: Arm, repeated: str | None = None) -> dict[str, ChatRequest]:
            texts = going_on(context, recognized, arm, corrections)
            return {
                item: prompted.request(
                    {"transcript": texts[item]}, question.language, repeated or execution(arm, item)
                )
                for item, question in questions.items()
                if item in texts
            }

        done = [str(arm) for arm in one.earlier]
        for arm in one.arms:
            phase = Phase(str(arm), arm, f"answering, {arm} arm", tuple(done))
            with context.clock.measure("language_model"):
                asker.run(phase, requests(arm))
            done.append(phase.name)
    with context.clock.measure("audit"):
        ask_again(context, "respond", asker.executor, one, requests)
