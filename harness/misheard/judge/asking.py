"""Running a judge over a calibration set."""

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from misheard.config import JudgeConfig, JudgeQuestion
from misheard.errors import BackendError, count_of
from misheard.judge.calibration import Rerun
from misheard.judge.calibration_set import CalibrationItem, CalibrationSet
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel
from misheard.language_models.registry import make_language_model
from misheard.language_models.settings import LanguageModelSettings
from misheard.metrics.base import Judgement
from misheard.run.progress import Progress
from misheard.stages.judge import (
    BEST,
    JUDGE_NEEDS,
    Judge,
    Reply,
    View,
    judge_sampling,
    judgement,
    kept_reply,
    read_kept,
)
from misheard.stages.prompted import completion_row, is_passing
from misheard.stages.prompts import PromptTemplate, load_prompt


@dataclass(frozen=True, slots=True)
class Asked:
    """A rerun of the judge, with how many requests were sent and how long they took in all, in seconds."""

    rerun: Rerun
    requests: int
    seconds: float


def judge_prompts(config: JudgeConfig, over: CalibrationSet) -> dict[JudgeQuestion, PromptTemplate]:
    """Return the prompts of the questions that a set asks. Raises InputError for a prompt that is none."""
    names: dict[JudgeQuestion, str] = {"meaning": config.meaning_prompt, "answer": config.answer_prompt}
    asked = {item.question for item in over.items}
    return {
        question: load_prompt(name, f"judge.{question}_prompt", JUDGE_NEEDS[question])
        for question, name in names.items()
        if question in asked
    }


def ask_judge(
    config: JudgeConfig,
    settings: LanguageModelSettings,
    prompts: Mapping[JudgeQuestion, PromptTemplate],
    over: CalibrationSet,
    progress: Progress,
    *,
    cpu: bool,
) -> Asked:
    """Start the judge and ask it about every item of a set, twice where its config says so.

    Raises BackendError where the model cannot be used, or requests failed in a way that another attempt may
    mend: a calibration is whole or none.
    """
    with _started(settings, progress, cpu=cpu) as model:
        engine = model.fingerprint()
        sampling = judge_sampling(config.max_tokens, config.seed)
        model.warm_up(sampling)
        judges = {
            question: Judge(question, prompt, sampling, engine, config.second, config.threshold)
            for question, prompt in prompts.items()
        }
        requests = {
            item.id: judges[item.question].requests(item.texts, item.language)
            for item in over.items
            if not item.texts.identical
        }
        wanted = list({one.key: one for views in requests.values() for one in views.values()}.values())
        progress.begin("judging", len(wanted))
        began = time.perf_counter()
        replies = _ask(model, judges, wanted, progress)
        seconds = time.perf_counter() - began
    judgements = {item.id: _judged(item, requests, replies, config) for item in over.items}
    fingerprints = {str(question): judge.fingerprint() for question, judge in judges.items()}
    return Asked(Rerun(fingerprints, judgements), len(wanted), seconds)


@contextlib.contextmanager
def _started(settings: LanguageModelSettings, progress: Progress, *, cpu: bool) -> Iterator[LanguageModel]:
    with tempfile.TemporaryDirectory(prefix="misheard-judge-") as logs:
        model = make_language_model(settings, logs=Path(logs), cpu=cpu)
        with contextlib.closing(model):
            model.check()
            progress.begin("starting the judge", None)
            model.start()
            yield model


def _ask(
    model: LanguageModel,
    judges: Mapping[JudgeQuestion, Judge],
    wanted: Sequence[ChatRequest],
    progress: Progress,
) -> dict[str, Reply]:
    sampling = next(iter(judges.values())).sampling
    ordered = sorted(wanted, key=lambda r: (-sum(len(m.content) for m in r.messages), r.key))
    size = model.batch_size or max(1, len(ordered))
    replies: dict[str, Reply] = {}
    failed: list[Completion] = []
    for start in range(0, len(ordered), size):
        for completion in model.complete(ordered[start : start + size], sampling):
            row = completion_row(kept_reply(completion))
            replies[completion.key] = read_kept(row)
            if is_passing(row):
                failed.append(completion)
            progress.advance(1)
    if failed:
        kinds = ", ".join(sorted({str(completion.failure) for completion in failed}))
        raise BackendError(
            f"judge: {len(failed)} of {count_of(len(ordered), 'request')} failed ({kinds}: "
            f"{failed[0].detail}); nothing was written; calibrate again when the model answers"
        )
    return replies


def _judged(
    item: CalibrationItem,
    requests: Mapping[str, Mapping[View, ChatRequest]],
    replies: Mapping[str, Reply],
    config: JudgeConfig,
) -> Judgement:
    views = requests.get(item.id)
    if views is None:
        return Judgement(float(BEST), identical=True)
    second = None if config.second == "none" else replies[views[config.second].key]
    return judgement(replies[views["plain"].key], second, config.threshold)
