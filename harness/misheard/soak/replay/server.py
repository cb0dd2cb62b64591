"""A language model whose server may end during a session: it is started again and asked what it owes."""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol

from misheard.errors import BackendError
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Sampling
from misheard.language_models.several_servers import LOST, ServersGoneError
from misheard.soak.replay.server_process import is_running, kill

_CLOSED = "language_model: closed while the session was running"
_POLL_SECONDS = 0.1


class ServedModel(LanguageModel, Protocol):
    """A language model with a server process of its own, below this process."""

    @property
    def server_pid(self) -> int | None: ...


class LastingModel:
    """A language model with a server of its own that survives the server's end.

    When the server has ended, in a call or between two, the first caller who sees it takes down what is left
    and starts it again; the others wait for that. It must then be the same: another fingerprint is an error.
    A call goes on with the requests that have no completion yet; each is answered once. A failure that a
    dying server can have brought about (LOST) is held back to the end of the call, and is no answer if the
    server has ended by then.

    `restarts` bounds how often that happens between `__init__` and the end; the next end of the server is an
    error. `on_restart` gets the seconds from noticing the end to the new server's first answer, in the
    thread of the caller who saw it. All methods may be called from any thread; `start` by one at a time.
    """

    def __init__(
        self,
        model: ServedModel,
        *,
        restarts: int,
        on_restart: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._model = model
        self._restarts = restarts
        self._on_restart = on_restart
        self._changed = threading.Condition()
        self._server = 0
        """Number of the server that is used; everything below is guarded by the condition."""
        self._restarting = False
        self._closed = True
        self._broken: str | None = None
        self._fingerprint: Mapping[str, Any] | None = None

    @property
    def batch_size(self) -> int | None:
        return self._model.batch_size

    @property
    def server_pid(self) -> int | None:
        """Process id of the server, also of one that is being started; None while there is none."""
        return self._model.server_pid

    @property
    def serving_pid(self) -> int | None:
        """Process id of the server that is asked; None while there is none or it is started again."""
        with self._changed:
            return None if self._restarting or self._closed else self._model.server_pid

    @property
    def restarted(self) -> int:
        """How often the server was started again."""
        return self._server

    def check(self) -> None:
        self._model.check()

    def start(self) -> None:
        """Start the server and remember what it is. Raises BackendError as the model does."""
        self._model.start()
        with self._changed:
            self._fingerprint = self._model.fingerprint()
            self._closed, self._broken = False, None

    def warm_up(self, sampling: Sampling) -> None:
        self._model.warm_up(sampling)

    def fingerprint(self) -> dict[str, Any]:
        """Return what the model said after the first start, which every later server has to say too."""
        if self._fingerprint is None:
            raise RuntimeError("start() comes before fingerprint()")
        return dict(self._fingerprint)

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        """Yield one completion per request as they finish, failures that a dying server explains last.

        Raises BackendError where the server has ended once too often, does not start again or is another
        one then, and what the model raises while its server runs.
        """
        waiting = {request.key: request for request in requests}
        while waiting:
            server = self._running()
            doubtful: list[Completion] = []
            error: Exception | None = None
            with contextlib.closing(self._outcomes(tuple(waiting.values()), sampling)) as outcomes:
                for outcome in outcomes:
                    if isinstance(outcome, Exception):
                        error = outcome
                    elif outcome.failure in LOST:
                        doubtful.append(outcome)
                    else:
                        del waiting[outcome.key]
                        yield outcome
            if (doubtful or error) and self._is_replaced(server, error):
                continue
            yield from doubtful
            return

    def close(self) -> None:
        """Take the server down, also one that is being started again; returns when nothing of it is left."""
        with self._changed:
            self._closed = True
            while self._restarting:
                kill(self._model.server_pid)  # so that starting it fails at once, in its own thread
                self._changed.wait(_POLL_SECONDS)
        self._model.close()

    def _outcomes(
        self, requests: Sequence[ChatRequest], sampling: Sampling
    ) -> Generator[Completion | Exception, None, None]:
        """Yield the model's completions and, last, what it raised."""
        try:
            yield from self._model.complete(requests, sampling)
        except Exception as error:  # noqa: BLE001 - what a model raises that is closed below it may be anything
            yield error

    def _running(self) -> int:
        """Return the number of the server to ask; one that ended since it was last asked is started again."""
        while True:
            with self._changed:
                self._settle()
                server = self._server
            if is_running(self._model.server_pid) or not self._is_replaced(server, None):
                return server

    def _is_replaced(self, server: int, error: Exception | None) -> bool:
        """Return whether another server than that one runs now, which is brought about where it has ended.

        Raises `error`, with which its call ended, where the server goes on.
        """
        with self._changed:
            self._settle()
            if self._server != server:
                return True
            if not isinstance(error, ServersGoneError) and is_running(self._model.server_pid):
                if error is not None:
                    raise error
                return False
            if self._server >= self._restarts:
                raise BackendError(
                    f"language_model: its server has ended {self._server + 1} times, and soak.restarts "
                    f"allows {self._restarts} restarts; its log says why"
                ) from error
            self._restarting = True
        self._restart()
        return True

    def _settle(self) -> None:
        """Wait until nobody restarts the server. Raises BackendError where it cannot be used any more."""
        self._changed.wait_for(lambda: not self._restarting)
        if self._closed:
            raise BackendError(_CLOSED)
        if self._broken is not None:
            raise BackendError(self._broken)

    def _restart(self) -> None:
        began = time.monotonic()
        broken: str | None = "language_model: the server was not started again"
        try:
            self._model.close()
            self._start_again()
            broken = None
        except BackendError as error:
            broken = str(error)
            raise
        finally:
            with self._changed:
                self._broken = broken
                self._server += broken is None
                self._restarting = False
                self._changed.notify_all()
        self._on_restart(time.monotonic() - began)

    def _start_again(self) -> None:
        """Start the same server; none is left running where that fails."""
        try:
            self._model.start()
            now, before = self._model.fingerprint(), self.fingerprint()
            differing = sorted(name for name in {*now, *before} if now.get(name) != before.get(name))
            if differing:
                raise BackendError(
                    "language_model: the server that was started again is another one; it differs in "
                    f"{', '.join(differing)}"
                )
            if self._closed:
                raise BackendError(_CLOSED)
        except BaseException:
            self._model.close()
            raise
