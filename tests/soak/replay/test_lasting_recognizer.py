"""A recognizer whose server ends: its batch is recognized anew by the next; what else fails is raised."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from misheard.errors import BackendError
from misheard.failures import FailureKind, ItemFailedError
from misheard.language_models.several_servers import ServersGoneError
from misheard.recognizers.protocol import AudioWindow, Features, RecognizedBatch
from misheard.soak.replay.server import LastingRecognizer

BATCH = [AudioWindow(np.zeros(16, np.float32), "en")] * 2
Behave = Callable[["Served"], None]


class Served:
    """A recognizer with a process in place of a server; `behave` is called for each batch."""

    whole_clips = False

    def __init__(self, behave: Behave) -> None:
        self.behave, self.asked = behave, 0
        self.servers: list[subprocess.Popen[bytes]] = []
        self.is_open = False
        self.version = "1"

    @property
    def server_pid(self) -> int | None:
        return self.servers[-1].pid if self.is_open else None

    def load(self) -> None:
        self.servers.append(subprocess.Popen(["sleep", "600"]))
        self.is_open = True

    def warm_up(self) -> None: ...

    def fingerprint(self) -> dict[str, Any]:
        return {"backend": "vllm", "version": self.version}

    def supports(self, language: str | None) -> bool:
        return language != "tlh"

    def features(self, batch: Sequence[AudioWindow]) -> Features | None:
        return None

    def recognize(self, batch: Sequence[AudioWindow], features: Features | None = None) -> RecognizedBatch:
        self.asked += 1
        self.behave(self)
        return RecognizedBatch((), float(len(self.servers)), None)

    def close(self) -> None:
        self.is_open = False
        for server in self.servers:
            server.kill()
            server.wait()

    def die(self) -> None:
        self.servers[-1].kill()
        self.servers[-1].wait()


@pytest.fixture
def lasting() -> Iterator[Callable[..., tuple[LastingRecognizer, Served, list[float]]]]:
    """A function that loads a recognizer; all are closed in the end."""
    made: list[tuple[LastingRecognizer, Served]] = []

    def make(behave: Behave, restarts: int = 2) -> tuple[LastingRecognizer, Served, list[float]]:
        served, seconds = Served(behave), list[float]()
        recognizer = LastingRecognizer(served, restarts=restarts, on_restart=seconds.append)
        made.append((recognizer, served))
        recognizer.load()
        return recognizer, served, seconds

    yield make
    for recognizer, served in made:
        recognizer.close()
        assert all(server.poll() is not None for server in served.servers)


Make = Callable[..., tuple[LastingRecognizer, Served, list[float]]]


def dies_first(served: Served) -> None:
    if len(served.servers) == 1:
        served.die()
        raise ServersGoneError("recognizer: the vLLM server ended")


def answers(served: Served) -> None: ...


def test_a_batch_is_recognized_anew_by_the_next_server(lasting: Make) -> None:
    recognizer, served, seconds = lasting(dies_first)
    assert recognizer.recognize(BATCH).features_seconds == 2.0  # the number of the server
    assert (served.asked, len(seconds)) == (2, 1)
    assert recognizer.serving_pid == served.servers[1].pid
    assert recognizer.supports("en") and not recognizer.supports("tlh")


def test_a_server_that_ended_between_two_batches_is_started_before_it_is_asked(lasting: Make) -> None:
    recognizer, served, seconds = lasting(answers)
    served.die()
    assert recognizer.recognize(BATCH).features_seconds == 2.0
    assert (served.asked, len(seconds)) == (1, 1)


def test_what_a_server_that_goes_on_says_is_raised(lasting: Make) -> None:
    def fails(served: Served) -> None:
        raise ItemFailedError(FailureKind.ASR_ERROR, "too long")

    recognizer, served, seconds = lasting(fails)
    with pytest.raises(ItemFailedError, match="too long"):
        recognizer.recognize(BATCH)
    assert (served.asked, seconds) == (1, [])


def test_too_many_ends_another_server_and_a_close_end_it(lasting: Make) -> None:
    def dies(served: Served) -> None:
        served.die()
        raise ServersGoneError("recognizer: the vLLM server ended")

    recognizer, served, _ = lasting(dies)
    with pytest.raises(BackendError, match=r"^recognizer: its server has ended 3 times, and soak\.restarts"):
        recognizer.recognize(BATCH)
    assert served.asked == 3

    recognizer, served, _ = lasting(dies_first)
    served.version = "2"
    with pytest.raises(BackendError, match=r"^recognizer: .* is another one; it differs in version$"):
        recognizer.recognize(BATCH)
    assert recognizer.fingerprint()["version"] == "1"

    recognizer, served, _ = lasting(answers)
    recognizer.close()
    with pytest.raises(BackendError, match=r"^recognizer: closed while the session was running$"):
        recognizer.recognize(BATCH)
    assert recognizer.serving_pid is None
