"""Asking about turns while they come: all that wait at once, again where that may help, answers in order."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from misheard.errors import BackendError, counted
from misheard.language_models.protocol import Completion
from misheard.run.asking import Executor, Request
from misheard.soak.replay.clock import Clock
from misheard.stages.prompted import is_passing

R = TypeVar("R", bound=Request)

_AT_ONCE = 8
"""Requests that a server or a plug-in without a batch size gets at once."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A completion, and how many seconds after the question it was there, earlier attempts included."""

    completion: Completion
    seconds: float


class Inquirer(Generic[R]):
    """Asks a model or a plug-in for one stage.

    `busy` is held while something is asked that takes one call at a time, as models within this process do;
    it is the same for all stages that share a model. `attempts` is how often a request is asked whose failure
    may pass. `option` is the section of the config that errors name.
    """

    def __init__(
        self, executor: Executor[R], option: str, attempts: int, clock: Clock, busy: threading.Lock
    ) -> None:
        self._executor, self._option, self._attempts = executor, option, attempts
        self._clock, self._busy = clock, busy

    @property
    def most(self) -> int:
        """How many requests may be asked at once."""
        return self._executor.batch_size or _AT_ONCE

    def ask(self, requests: Sequence[R]) -> Iterator[Reply]:
        """Yield one reply per request, in their order, each as soon as it and those before it are there.

        Raises BackendError where no further request can succeed.
        """
        began = self._clock.steady()
        waiting = {request.key: request for request in requests}
        replies: dict[str, Reply] = {}
        for attempt in range(1, self._attempts + 1):
            for completion in self._complete(list(waiting.values())):
                if attempt < self._attempts and is_passing({"failure": completion.failure}):
                    continue
                del waiting[completion.key]
                replies[completion.key] = Reply(completion, self._clock.steady() - began)
                while requests and requests[0].key in replies:
                    yield replies.pop(requests[0].key)
                    requests = requests[1:]
            if not waiting:
                return
        lost = counted(len(waiting), "request was", "requests were")
        raise BackendError(f"{self._option}: {lost} not answered at all")

    def _complete(self, requests: Sequence[R]) -> Iterator[Completion]:
        if self._executor.batch_size is None:
            yield from self._executor.complete(requests)
            return
        with self._busy:
            completions = list(self._executor.complete(requests))
        yield from completions
