"""The correct stage of a run: which transcripts the language model cleans up, in which arms."""

import contextlib
from collections.abc import Mapping, Sequence

from misheard.language_models.protocol import ChatRequest, LanguageModel, Sampling
from misheard.metrics.base import Arm
from misheard.run.arms import Pass, corrected_arms, execution
from misheard.run.asking import Asker, Phase, Sampled
from misheard.run.auditing import ask_again
from misheard.run.context import RunContext
from misheard.run.journal import Journal
from misheard.run.recognized import Recognized
from misheard.run.replies import Replies
from misheard.run.texts import entering
from misheard.stages.correct import CORRECTION_SCHEMA, correct_values
from misheard.stages.prompted import Prompted
from misheard.suite.items import Item
from misheard.text.languages import primary_subtag


def correct_suite(
    context: RunContext, model: LanguageModel, recognized: Sequence[Recognized], one: Pass
) -> Replies:
    """Correct what enters every arm of a pass, and return what the journal says.

    The audio arm's transcripts are all corrected; of references those that are answered or planned. What
    fails leaves its transcript as it was, and is no failed item.
    """
    settings = context.config.correct
    if settings is None:
        raise ValueError("the config has no corrector")
    sampling = Sampling(max_tokens=settings.max_tokens, seed=settings.seed, json_schema=CORRECTION_SCHEMA)
    prompted = Prompted(context.prompts["correct"], sampling, model.fingerprint(), "correct")
    glossary = context.suite.glossary if settings.glossary else {}
    context.pin("correct", {**prompted.fingerprint(), **_inputs(settings.n_best, glossary)})
    items = {item.id: item for item in context.suite.items}
    lists = {
        item.id: heard.n_best for item, heard in zip(context.suite.items, recognized, strict=bool(recognized))
    }
    with contextlib.closing(Journal(context.directory.correct)) as journal:
        asker = Asker(context, "correct", journal, Sampled(model, sampling), lambda row: None)

        def requests(arm: Arm, repeated: str | None = None) -> dict[str, ChatRequest]:
            asked = {}
            for item, text in entering(context, recognized, arm).items():
                n_best = lists[item] if settings.n_best and arm is Arm.AUDIO else ()
                values = correct_values(text, n_best, _terms(glossary, items[item]))
                asked[item] = prompted.request(values, items[item].language, repeated or execution(arm, item))
            return asked

        done = [*corrected_arms(one.earlier)]
        for arm in corrected_arms(one.arms):
            phase = Phase(str(arm), arm, f"correcting, {arm} arm", tuple(map(str, done)))
            with context.clock.measure("language_model"):
                asker.run(phase, requests(arm))
            done.append(arm)
        with context.clock.measure("audit"):
            ask_again(context, "correct", asker.executor, one, requests)
        return asker.replies()


def _inputs(n_best: bool, glossary: Mapping[str, Sequence[str]]) -> dict[str, object]:
    return {"n_best": n_best, "glossary": {language: list(terms) for language, terms in glossary.items()}}


def _terms(glossary: Mapping[str, Sequence[str]], item: Item) -> Sequence[str]:
    """Return the terms of an item's language: of its tag, else of the tag's language."""
    tag = item.language or ""
    return glossary.get(tag) or glossary.get(primary_subtag(tag) or "") or ()
