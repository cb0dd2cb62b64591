"""What is asked on servers that may end during a session: once they are back, what they still owe."""

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Protocol

from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Sampling
from misheard.language_models.several_servers import LOST
from misheard.recognizers.protocol import AudioWindow, Features, RecognizedBatch, Recognizer
from misheard.soak.replay.kept_server import KeptServer


class ServedModel(LanguageModel, Protocol):
    """A language model with a server process of its own, below this process."""

    @property
    def server_pid(self) -> int | None: ...


class ServedRecognizer(Recognizer, Protocol):
    """A recognizer with a server process of its own, below this process."""

    @property
    def server_pid(self) -> int | None: ...


class LastingModel:
    """A language model with a server of its own that survives the server's end; see KeptServer.

    A call goes on with the requests that have no completion yet; each is answered once. A failure that a
    dying server can have brought about (LOST) is held back to the end of the call, and is no answer if the
    server has ended by then. All methods may be called from any thread.
    """

    def __init__(
        self,
        model: ServedModel,
        *,
        restarts: int,
        on_restart: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._model = model
        self._kept = KeptServer(model, section="language_model", restarts=restarts, on_restart=on_restart)

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
        return self._kept.serving_pid

    @property
    def restarted(self) -> int:
        """How often the server was started again."""
        return self._kept.restarted

    def check(self) -> None:
        self._model.check()

    def start(self) -> None:
        """Start the server and remember what it is. Raises BackendError as the model does."""
        self._kept.start()

    def warm_up(self, sampling: Sampling) -> None:
        self._model.warm_up(sampling)

    def fingerprint(self) -> dict[str, Any]:
        """Return what the model said after the first start, which every later server has to say too."""
        return self._kept.fingerprint()

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        """Yield one completion per request as they finish, failures that a dying server explains last.

        Raises BackendError where the server has ended once too often, does not start again or is another
        one then, and what the model raises while its server runs.
        """
        waiting = {request.key: request for request in requests}
        while waiting:
            server = self._kept.running()
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
            if (doubtful or error) and self._kept.is_replaced(server, error):
                continue
            yield from doubtful
            return

    def close(self) -> None:
        """Take the server down, also one that is being started again; returns when nothing of it is left."""
        self._kept.close()

    def _outcomes(
        self, requests: Sequence[ChatRequest], sampling: Sampling
    ) -> Generator[Completion | Exception, None, None]:
        """Yield the model's completions and, last, what it raised."""
        try:
            yield from self._model.complete(requests, sampling)
        except Exception as error:  # noqa: BLE001 - what a model raises that is closed below it may be anything
            yield error


class LastingRecognizer:
    """A recognizer with a server of its own that survives the server's end; see KeptServer.

    A batch that the end of the server broke off is recognized anew, as a whole: nobody was told any of it.
    `close` may be called from any thread.
    """

    def __init__(
        self,
        recognizer: ServedRecognizer,
        *,
        restarts: int,
        on_restart: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._recognizer = recognizer
        self.whole_clips = recognizer.whole_clips
        self._kept = KeptServer(
            _Loaded(recognizer), section="recognizer", restarts=restarts, on_restart=on_restart
        )

    @property
    def serving_pid(self) -> int | None:
        """Process id of the server that is asked; None while there is none or it is started again."""
        return self._kept.serving_pid

    def load(self) -> None:
        """Start the server and remember what it is. Raises BackendError as the recognizer does."""
        self._kept.start()

    def warm_up(self) -> None:
        self._recognizer.warm_up()

    def fingerprint(self) -> dict[str, Any]:
        """Return what the recognizer said after the first start, which every later server has to say too."""
        return self._kept.fingerprint()

    def supports(self, language: str | None) -> bool:
        return self._recognizer.supports(language)

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return self._recognizer.features(batch)

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        """Recognize a batch, on another server where one ends.

        Raises BackendError where the server has ended once too often, does not start again or is another one
        then, and what the recognizer raises while its server runs.
        """
        while True:
            server = self._kept.running()
            try:
                return self._recognizer.recognize(batch, features)
            except Exception as error:  # noqa: BLE001 - raised again where the server goes on
                self._kept.is_replaced(server, error)

    def close(self) -> None:
        """Take the server down, also one that is being started again; returns when nothing of it is left."""
        self._kept.close()


class _Loaded:
    """A recognizer as KeptServer starts it."""

    def __init__(self, recognizer: ServedRecognizer) -> None:
        self._recognizer = recognizer
        self.fingerprint, self.start, self.close = recognizer.fingerprint, recognizer.load, recognizer.close

    @property
    def server_pid(self) -> int | None:
        return self._recognizer.server_pid
