"""The judge stage of a run: which texts it is asked about, in which arms."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.canonical import write_atomic
from misheard.config import JudgeConfig, JudgeQuestion
from misheard.errors import InputError
from misheard.judge.calibration import parse_calibration, read_bytes
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel
from misheard.language_models.registry import make_language_model
from misheard.metrics.base import Arm, ArmOutput
from misheard.run.arms import asking_arms
from misheard.run.asking import Asker, Phase, Sampled, is_finished
from misheard.run.context import RunContext
from misheard.run.journal import Journal
from misheard.run.judgements import reply_name
from misheard.run.replies import read_replies
from misheard.stages.judge import Judge, JudgedTexts, judge_sampling, judged_texts, kept_reply


@dataclass(frozen=True, slots=True)
class _Scored:
    """The judge's model: what comes out of it is a score, and nothing else that it says."""

    sampled: Sampled

    @property
    def batch_size(self) -> int | None:
        return self.sampled.batch_size

    def size(self, request: ChatRequest) -> int:
        return self.sampled.size(request)

    def complete(self, requests: Sequence[ChatRequest]) -> Iterator[Completion]:
        return map(kept_reply, self.sampled.complete(requests))


def checked_judge(context: RunContext, *, again: bool) -> LanguageModel | None:
    """Return the judge's model, checked but not started; None where nothing is left to judge.

    `again` says that earlier stages have something left to ask, so that there will be new texts. The
    calibration that the config names is read too, so that a file that is none is found before any work.
    Raises BackendError for the model and InputError for the calibration.
    """
    settings = context.config.judge
    if settings is None:
        return None
    _keep_calibration(context, settings)
    arms = [str(arm) for arm in asking_arms(context.arms)]
    # a judge that had nothing to say is recorded too, or its numbers would be those of no judge
    is_known = "judge" in context.state["system"]
    if not again and is_known and is_finished(read_replies(context.directory.judge), arms):
        return None
    chosen = settings.language_model or context.config.language_model
    if chosen is None:
        raise ValueError("the config has no model for its judge")
    audit = context.config.execution.mode == "audit"
    model = make_language_model(chosen, logs=context.directory.logs, cpu=context.options.cpu, audit=audit)
    with contextlib.closing(model):
        model.check()
    return model


def _keep_calibration(context: RunContext, settings: JudgeConfig) -> None:
    """Copy the calibration that the config names into the run, so that it can be scored anywhere."""
    if settings.calibration is None:
        return
    if not Path(settings.calibration).exists():
        raise InputError(
            f"judge.calibration: {settings.calibration} does not exist; make it with misheard judge "
            "calibrate, or leave the option out and give it later: misheard score RUN --calibration FILE"
        )
    raw = read_bytes(settings.calibration)
    parse_calibration(raw, settings.calibration)
    write_atomic(context.directory.calibration, raw)


def judge_suite(
    context: RunContext, model: LanguageModel, outputs: Mapping[Arm, Sequence[ArmOutput]]
) -> None:
    """Judge every output that the journal has no judgement of; a reply that is none fails no item.

    Texts that do not differ are not asked about. Raises BackendError where the model cannot be used.
    """
    settings = context.config.judge
    if settings is None:
        raise ValueError("the config has no judge")
    questions = [one for one in settings.questions if one == "meaning" or context.questions]
    texts = {arm: _texts(context, arm, outputs[arm], questions) for arm in asking_arms(context.arms)}
    sampling = judge_sampling(settings.max_tokens, settings.seed)
    with (
        contextlib.closing(Journal(context.directory.judge)) as journal,
        contextlib.closing(model),
    ):
        with context.clock.measure("judge_load"):
            context.progress.begin("starting the judge", None)
            model.start()
            context.tell_memory("judge", model)
        with context.clock.measure("judge_warm_up"):
            model.warm_up(sampling)
        judges = _judges(context, settings, questions, model)
        context.pin("judge", {question: judge.fingerprint() for question, judge in judges.items()})
        asker = Asker(context, "judge", journal, _Scored(Sampled(model, sampling)), lambda row: None)
        done: list[str] = []
        for arm, asked in texts.items():
            phase = Phase(str(arm), arm, f"judging, {arm} arm", tuple(done))
            with context.clock.measure("judge"):
                asker.run(phase, _requests(context, judges, asked))
            done.append(str(arm))


def _judges(
    context: RunContext, settings: JudgeConfig, questions: Sequence[JudgeQuestion], model: LanguageModel
) -> dict[str, Judge]:
    sampling = judge_sampling(settings.max_tokens, settings.seed)
    engine = model.fingerprint()
    return {
        question: Judge(
            question,
            context.prompts[f"judge_{question}"],
            sampling,
            engine,
            settings.second,
            settings.threshold,
        )
        for question in questions
    }


def _texts(
    context: RunContext, arm: Arm, outputs: Sequence[ArmOutput], questions: Sequence[JudgeQuestion]
) -> dict[tuple[str, JudgeQuestion], JudgedTexts]:
    """Return what is asked about in an arm, by item and question."""
    return {
        (item.id, question): texts
        for item, output in zip(context.suite.items, outputs, strict=True)
        for question, texts in judged_texts(item, arm, output, questions).items()
        if not texts.identical
    }


def _requests(
    context: RunContext,
    judges: Mapping[str, Judge],
    texts: Mapping[tuple[str, JudgeQuestion], JudgedTexts],
) -> dict[str, ChatRequest]:
    languages = {item.id: item.language for item in context.suite.items}
    return {
        reply_name(item, question, view): request
        for (item, question), two in texts.items()
        for view, request in judges[question].requests(two, languages[item]).items()
    }
