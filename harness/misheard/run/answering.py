"""The arms that ask the language model, one phase each: audio, transcript, control.

Audio and transcript share: identical prompts run once and serve both, so a perfect transcript has a drop of
exactly 0. Control asks every prompt of the transcript arm again, in an execution of its own.
"""

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Sampling
from misheard.language_models.registry import make_language_model
from misheard.metrics.base import Arm
from misheard.run.context import FailedItem, RunContext
from misheard.run.journal import Journal, read_batches
from misheard.run.outputs import Recognized
from misheard.stages.respond import Responder, completion_failure, completion_row, is_passing

PHASES = (Arm.AUDIO, Arm.TRANSCRIPT, Arm.CONTROL)
"""The order matters: a prompt that two arms share is run, and its time counted, in the first of them."""


def checked_model(context: RunContext) -> LanguageModel | None:
    """Return the language model that is still needed, checked but not started; None where none is.

    What is wrong with it is found here, before hours of recognition. Raises BackendError.
    """
    settings = context.config.language_model
    if settings is None or not context.questions or _is_answered(context):
        return None
    model = make_language_model(settings, logs=context.directory.logs, cpu=context.options.cpu)
    with contextlib.closing(model):
        model.check()
    return model


def _is_answered(context: RunContext) -> bool:
    """Whether the journal has every arm, and nothing in it that is worth asking again."""
    path = context.directory.respond
    batches = list(read_batches(path)) if path.exists() else []
    arms = {f"arm:{arm}" for arm in context.arms} <= {batch.name for batch in batches}
    # By key, so that a later attempt counts instead of an earlier one.
    last = {row["key"]: row for batch in batches for row in batch.rows if "arm" not in row}
    return arms and not any(map(is_passing, last.values()))


def answer_suite(context: RunContext, model: LanguageModel, recognized: Sequence[Recognized]) -> None:
    """Answer every question in every arm that the journal lacks.

    Raises BackendError where the language model cannot be used and RunAbortedError where the failure policy
    says so.
    """
    with contextlib.closing(Journal(context.directory.respond)) as journal, contextlib.closing(model):
        responder = _start(context, model, journal)
        for arm in context.arms:
            phase = _Phase(context, arm, model, responder, journal)
            with context.clock.measure("language_model"):
                phase.run(_transcripts(context, recognized, arm))


def _start(context: RunContext, model: LanguageModel, journal: Journal) -> Responder:
    clock = context.clock
    sampling = Sampling(max_tokens=context.config.respond.max_tokens, seed=context.config.respond.seed)
    context.progress.begin("starting the language model", None)
    with clock.measure("language_model_load"):
        model.start()
    with clock.measure("language_model_warm_up"):
        model.warm_up(sampling)
    responder = Responder(context.prompt, sampling, model.fingerprint())
    context.pin("respond", responder.fingerprint())
    note = {
        "load_seconds": clock.seconds["language_model_load"],
        "warm_up_seconds": clock.seconds["language_model_warm_up"],
    }
    journal.commit(f"start:{len(journal.committed)}", [], note)
    return responder


def _transcripts(context: RunContext, recognized: Sequence[Recognized], arm: Arm) -> dict[str, str]:
    """Return what enters the language model, by item id; an item that was not recognized does not."""
    heard = {item.id: one.transcript for item, one in zip(context.suite.items, recognized, strict=True)}
    texts = {item.id: heard[item.id] if arm is Arm.AUDIO else item.reference for item in context.questions}
    return {item: text for item, text in texts.items() if text is not None}


@dataclass(frozen=True, slots=True)
class _Phase:
    """One arm's answers."""

    context: RunContext
    arm: Arm
    model: LanguageModel
    responder: Responder
    journal: Journal

    def run(self, transcripts: Mapping[str, str]) -> None:
        """Answer every transcript, then commit which completion answers which item."""
        requests = {item: self._request(item, text) for item, text in transcripts.items()}
        owners = {request.key: item for item, request in reversed(requests.items())}
        # This phase's own completions are planned again and then skipped, so that a resumed run has the
        # same batches.
        earlier = self._completed(PHASES[: PHASES.index(self.arm)])
        wanted = list({r.key: r for r in requests.values() if r.key not in earlier}.values())
        self.context.progress.begin(f"answering, {self.arm} arm", len(wanted))
        for completions in self._ask(wanted):
            self.context.progress.advance(len(completions))
            self.context.failed_now(_failed([(owners[c.key], completion_row(c)) for c in completions]))
        if f"arm:{self.arm}" not in self.journal.committed:
            rows = [{"item": item, "arm": str(self.arm), "key": r.key} for item, r in requests.items()]
            self.journal.commit(f"arm:{self.arm}", rows, {})
        done = self._completed(PHASES)
        self.context.phase_ended(_failed([(item, done[r.key]) for item, r in requests.items()]))

    def _request(self, item: str, text: str) -> ChatRequest:
        return self.responder.request(text, f"control:{item}" if self.arm is Arm.CONTROL else "shared")

    def _completed(self, phases: Sequence[Arm]) -> dict[str, dict[str, Any]]:
        """Return the journal's completions of some phases by key."""
        prefixes = tuple(f"{phase}:" for phase in phases)
        committed = self.journal.committed.items()
        return {
            row["key"]: row for name, batch in committed if name.startswith(prefixes) for row in batch.rows
        }

    def _ask(self, requests: list[ChatRequest]) -> Iterator[Sequence[Completion]]:
        """Ask, commit and yield completions: in batches, or one by one from a server."""
        if self.model.batch_size is None:
            yield from self._ask_server(requests)
            return
        requests.sort(key=lambda r: (-sum(len(message.content) for message in r.messages), r.key))
        size = self.model.batch_size
        for number, start in enumerate(range(0, len(requests), size)):
            name = f"{self.arm}:batch:{number}"
            batch = requests[start : start + size]
            if name in self.journal.committed:
                self.context.progress.advance(len(batch))
                continue
            began = time.perf_counter()
            completions = list(self.model.complete(batch, self.responder.sampling))
            self._commit(name, completions, time.perf_counter() - began)
            yield completions

    def _ask_server(self, requests: list[ChatRequest]) -> Iterator[Sequence[Completion]]:
        """Ask what has no answer yet, and again what failed because of the server and not of the request."""
        done = self._completed([self.arm])
        pending = [r for r in requests if r.key not in done or is_passing(done[r.key])]
        self.context.progress.advance(len(requests) - len(pending))
        if not pending:
            return
        began = time.perf_counter()
        with contextlib.closing(_as_generator(self.model, pending, self.responder.sampling)) as completions:
            for completion in completions:
                now = time.perf_counter()
                self._commit(f"{self.arm}:request:{completion.key}", [completion], now - began)
                began = now
                yield [completion]

    def _commit(self, name: str, completions: Sequence[Completion], wall_seconds: float) -> None:
        self.journal.commit(name, map(completion_row, completions), {"wall_seconds": wall_seconds})


def _as_generator(
    model: LanguageModel, requests: Sequence[ChatRequest], sampling: Sampling
) -> Generator[Completion, None, None]:
    """Return the completions as a generator, which can be closed: that cancels what is still asked."""
    yield from model.complete(requests, sampling)


def _failed(rows: Sequence[tuple[str, Mapping[str, object]]]) -> list[FailedItem]:
    found = [(item, completion_failure(row)) for item, row in rows]
    return [(item, failure) for item, failure in found if failure is not None]
