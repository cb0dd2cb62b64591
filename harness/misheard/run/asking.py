"""Asking one stage's model about many items: journaled, in batches or from a server, resumable.

Identical requests have the same key, run once and serve every item and arm that has them.
"""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from misheard.failures import Failure
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Sampling
from misheard.metrics.base import Arm
from misheard.run.context import FailedItem, RunContext
from misheard.run.journal import Journal
from misheard.run.replies import OF_ARM, Replies, replies_of
from misheard.stages.prompted import completion_row, is_passing


class Request(Protocol):
    """Something to ask; equal keys mean the same question in the same execution."""

    @property
    def key(self) -> str: ...


R = TypeVar("R", bound=Request)
R_contra = TypeVar("R_contra", bound=Request, contravariant=True)


class Executor(Protocol[R_contra]):
    """What is asked. `batch_size` is None for a server that schedules requests by itself.

    `size` orders the requests of a batch plan; `complete` is as in `LanguageModel`.
    """

    @property
    def batch_size(self) -> int | None: ...

    def size(self, request: R_contra) -> int: ...

    def complete(self, requests: Sequence[R_contra]) -> Iterator[Completion]: ...


@dataclass(frozen=True, slots=True)
class Sampled:
    """A language model with the sampling parameters of one stage."""

    model: LanguageModel
    sampling: Sampling

    @property
    def batch_size(self) -> int | None:
        return self.model.batch_size

    def size(self, request: ChatRequest) -> int:
        """Return the length of a request's messages in characters."""
        return sum(len(message.content) for message in request.messages)

    def complete(self, requests: Sequence[ChatRequest]) -> Iterator[Completion]:
        return self.model.complete(requests, self.sampling)


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a stage's work.

    Attributes:
        name: what its batches are named after: an arm, or `ARM.NUMBER`.
        arm: the arm whose items it is about.
        title: what the user sees.
        earlier: the phases whose completions serve this one as well.
    """

    name: str
    arm: Arm
    title: str
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asker(Generic[R]):
    """A stage's model with its journal. `failure` says what is wrong with a completion of the journal."""

    context: RunContext
    stage: str
    journal: Journal
    executor: Executor[R]
    failure: Callable[[Mapping[str, Any]], Failure | None]

    def run(self, phase: Phase, requests: Mapping[str, R]) -> dict[str, dict[str, Any]]:
        """Ask every request that has no completion yet; return the completions by item.

        Raises BackendError where the model cannot be used and RunAbortedError where the failure policy
        says so.
        """
        owners = {request.key: item for item, request in reversed(list(requests.items()))}
        # This phase's own completions are planned again and then skipped, so that a resumed run has the
        # same batches.
        served = self._completed(phase.earlier)
        wanted = list({r.key: r for r in requests.values() if r.key not in served}.values())
        shared = len(requests) - len(wanted)
        title = f"{phase.title} ({shared} of {len(requests)} shared)" if shared else phase.title
        self.context.progress.begin(title, len(wanted))
        with self.context.measured.stage(self.stage, str(phase.arm)):
            for completions in self._ask(phase, wanted):
                self.context.progress.advance(len(completions))
                self.context.measured.asked(self.stage, str(phase.arm), completions)
                self.context.failed_now(self._failed((owners[c.key], completion_row(c)) for c in completions))
                self.context.beside.check_failed()
        self._commit_items(phase, requests)
        done = self._completed((*phase.earlier, phase.name))
        rows = {item: done[request.key] for item, request in requests.items()}
        self.context.phase_ended(self._failed(rows.items()))
        return rows

    def _completed(self, phases: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the journal's completions of some phases by key."""
        prefixes = tuple(f"{phase}:" for phase in phases)
        committed = self.journal.committed.items()
        return {
            row["key"]: row for name, batch in committed if name.startswith(prefixes) for row in batch.rows
        }

    def _commit_items(self, phase: Phase, requests: Mapping[str, R]) -> None:
        """Note which completion answers which item, again where a resumed run changed what is asked."""
        rows = tuple(
            {"item": item, "arm": str(phase.arm), "key": request.key} for item, request in requests.items()
        )
        before = self.journal.committed.get(OF_ARM + phase.name)
        if before is None or before.rows != rows:
            self.journal.commit(OF_ARM + phase.name, rows, {})

    def _ask(self, phase: Phase, requests: list[R]) -> Iterator[Sequence[Completion]]:
        """Ask, commit and yield completions: in batches, or one by one from a server."""
        size = self.executor.batch_size
        if size is None:
            yield from self._ask_server(phase, requests)
            return
        requests.sort(key=lambda request: (-self.executor.size(request), request.key))
        for number, start in enumerate(range(0, len(requests), size)):
            name = f"{phase.name}:batch:{number}"
            batch = requests[start : start + size]
            if self._has(name, batch):
                self.context.progress.advance(len(batch))
                continue
            began = time.perf_counter()
            completions = list(self.executor.complete(batch))
            self._commit(name, completions, time.perf_counter() - began)
            yield completions

    def _has(self, name: str, batch: Sequence[R]) -> bool:
        """Whether a batch is in the journal, with the requests that it has now."""
        committed = self.journal.committed.get(name)
        return committed is not None and {row["key"] for row in committed.rows} == {r.key for r in batch}

    def _ask_server(self, phase: Phase, requests: list[R]) -> Iterator[Sequence[Completion]]:
        """Ask what has no answer yet, and again what failed because of the server and not of the request."""
        done = self._completed([phase.name])
        pending = [r for r in requests if r.key not in done or is_passing(done[r.key])]
        self.context.progress.advance(len(requests) - len(pending))
        if not pending:
            return
        began = time.perf_counter()
        with contextlib.closing(_as_generator(self.executor, pending)) as completions:
            for completion in completions:
                now = time.perf_counter()
                self._commit(f"{phase.name}:request:{completion.key}", [completion], now - began)
                began = now
                yield [completion]

    def _commit(self, name: str, completions: Sequence[Completion], wall_seconds: float) -> None:
        self.journal.commit(name, map(completion_row, completions), {"wall_seconds": wall_seconds})

    def _failed(self, rows: Any) -> list[FailedItem]:
        found = [(item, self.failure(row)) for item, row in rows]
        return [(item, failure) for item, failure in found if failure is not None]

    def replies(self) -> Replies:
        """Return what the journal says now."""
        return replies_of(self.journal.committed.values())


def _as_generator(executor: Executor[R], requests: Sequence[R]) -> Generator[Completion, None, None]:
    """Return the completions as a generator, which can be closed: that cancels what is still asked."""
    yield from executor.complete(requests)


def is_finished(replies: Replies, phases: Sequence[str]) -> bool:
    """Whether a journal has every phase, and nothing in it that is worth asking again."""
    in_use = set(replies.keys.values())
    return replies.finished.issuperset(phases) and not any(
        is_passing(row) for key, row in replies.completions.items() if key in in_use
    )
