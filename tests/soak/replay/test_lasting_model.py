"""A model whose server ends: what is asked again, by whom it is started again, and when that is given up."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from misheard.errors import BackendError
from misheard.failures import FailureKind
from misheard.language_models.protocol import ChatRequest, Completion, Message, Sampling
from misheard.language_models.several_servers import ServersGoneError
from misheard.soak.replay.server import LastingModel
from misheard.soak.replay.server_process import is_running

SAMPLING = Sampling(max_tokens=8)
Behave = Callable[["Served", ChatRequest], str | FailureKind]


class Served:
    """A model with a process in place of a server; `behave` answers, fails, or raises, by server and request.

    Attributes:
        asked: number of the server and key, of every request.
        servers: the processes, in the order of their start.
    """

    batch_size: int | None = None

    def __init__(self, behave: Behave) -> None:
        self._behave = behave
        self.asked: list[tuple[int, str]] = []
        self.servers: list[subprocess.Popen[bytes]] = []
        self.versions = ["1"]
        self.is_open = False
        self.starting: Callable[[], None] = lambda: None
        self.left_early = 0

    @property
    def number(self) -> int:
        return len(self.servers)

    @property
    def server_pid(self) -> int | None:
        return self.servers[-1].pid if self.is_open else None

    def check(self) -> None:
        pass

    def start(self) -> None:
        self.servers.append(subprocess.Popen(["sleep", "600"]))
        self.is_open = True
        self.starting()

    def warm_up(self, sampling: Sampling) -> None:
        pass

    def fingerprint(self) -> dict[str, Any]:
        return {"kind": "vllm", "engine_version": self.versions[min(self.number, len(self.versions)) - 1]}

    def complete(self, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        mine = self.number
        try:
            for request in requests:
                if self.number != mine:
                    raise RuntimeError("start() comes first, and nothing after close()")
                self.asked.append((self.number, request.key))
                outcome = self._behave(self, request)
                is_text = not isinstance(outcome, FailureKind)
                yield Completion(request.key, outcome if is_text else None, None if is_text else outcome)
        except GeneratorExit:
            self.left_early += 1
            raise

    def close(self) -> None:
        self.is_open = False
        for server in self.servers:
            server.kill()
            server.wait()

    def die(self) -> None:
        self.servers[-1].kill()
        self.servers[-1].wait()

    def running(self) -> int:
        return sum(server.poll() is None for server in self.servers)


def dies_at(*deaths: tuple[int, str]) -> Behave:
    """Answer with the key; the server with that number ends when it is asked that key."""

    def behave(served: Served, request: ChatRequest) -> str:
        if (served.number, request.key) in deaths:
            served.die()
            raise ServersGoneError("language_model: the server is gone")
        return f"answer {request.key}"

    return behave


@pytest.fixture
def lasting() -> Iterator[Callable[..., tuple[LastingModel, Served, list[float]]]]:
    """A function that starts a model; all are closed in the end."""
    models: list[tuple[LastingModel, Served]] = []

    def make(
        behave: Behave, restarts: int = 3, on_restart: Callable[[float], None] | None = None
    ) -> tuple[LastingModel, Served, list[float]]:
        served = Served(behave)
        seconds: list[float] = []
        model = LastingModel(served, restarts=restarts, on_restart=on_restart or seconds.append)
        models.append((model, served))
        model.start()
        return model, served, seconds

    yield make
    for model, served in models:
        model.close()
        assert served.running() == 0


Make = Callable[..., tuple[LastingModel, Served, list[float]]]


def ask(model: LastingModel, keys: str = "abcd") -> list[tuple[str, str | None, FailureKind | None]]:
    requests = [ChatRequest(key, (Message("user", key),)) for key in keys]
    return [(c.key, c.text, c.failure) for c in model.complete(requests, SAMPLING)]


def answers(keys: str) -> list[tuple[str, str | None, FailureKind | None]]:
    return [(key, f"answer {key}", None) for key in keys]


def test_a_call_goes_on_at_the_next_server_with_what_has_no_answer(lasting: Make) -> None:
    model, served, seconds = lasting(dies_at((1, "c")))
    assert ask(model) == answers("abcd")
    assert served.asked == [(1, "a"), (1, "b"), (1, "c"), (2, "c"), (2, "d")]
    assert len(seconds) == model.restarted == 1 and seconds[0] > 0
    assert served.running() == 1 and is_running(model.serving_pid)


def test_a_server_that_ended_between_calls_is_started_again_before_it_is_asked(lasting: Make) -> None:
    model, served, seconds = lasting(dies_at())
    assert ask(model, "a") == answers("a")
    served.die()
    assert ask(model, "b") == answers("b")
    assert served.asked == [(1, "a"), (2, "b")] and len(seconds) == 1


@pytest.mark.parametrize("failure", [FailureKind.LLM_ERROR, FailureKind.TIMEOUT])
@pytest.mark.parametrize("says_so", [True, False])
def test_a_failure_of_a_dying_server_is_no_answer(lasting: Make, failure: FailureKind, says_so: bool) -> None:
    def behave(served: Served, request: ChatRequest) -> str | FailureKind:
        if served.number == 1 and request.key == "b":
            return failure
        if served.number == 1 and request.key == "d":
            served.die()
            if says_so:
                raise ServersGoneError("language_model: the server is gone")
        return f"answer {request.key}"

    model, served, _ = lasting(behave)
    outcomes = ask(model)
    assert sorted(outcomes) == answers("abcd")
    assert served.asked.count((2, "b")) == 1
    assert {key for server, key in served.asked if server == 2} == ({"b", "d"} if says_so else {"b"})


def test_failures_of_a_server_that_goes_on_are_outcomes(lasting: Make) -> None:
    def behave(served: Served, request: ChatRequest) -> str | FailureKind:
        failures = {"a": FailureKind.TIMEOUT, "c": FailureKind.PROMPT_TOO_LONG}
        return failures.get(request.key, f"answer {request.key}")

    model, served, seconds = lasting(behave)
    assert ask(model) == [
        ("b", "answer b", None),
        ("c", None, FailureKind.PROMPT_TOO_LONG),
        ("d", "answer d", None),
        ("a", None, FailureKind.TIMEOUT),
    ]
    assert len(served.asked) == 4 and not seconds


@pytest.mark.parametrize("restarts", [0, 2])
def test_the_end_after_the_last_restart_is_an_error(lasting: Make, restarts: int) -> None:
    model, served, seconds = lasting(dies_at(*((number, "b") for number in range(1, 9))), restarts)
    with pytest.raises(
        BackendError, match=rf"ended {restarts + 1} times, .*soak\.restarts allows {restarts} "
    ):
        ask(model)
    assert len(seconds) == restarts and served.number == restarts + 1
    assert served.asked.count((1, "a")) == 1 and (2, "a") not in served.asked


def test_other_errors_of_a_server_that_goes_on_are_no_reason_to_restart(lasting: Make) -> None:
    def behave(served: Served, request: ChatRequest) -> str:
        raise BackendError("language_model: the server refuses to hold replies to a JSON schema")

    model, served, _ = lasting(behave)
    with pytest.raises(BackendError, match="JSON schema"):
        ask(model)
    assert served.number == 1 and served.running() == 1


def test_another_server_is_refused_and_taken_down(lasting: Make) -> None:
    model, served, seconds = lasting(dies_at((1, "b")))
    served.versions = ["1", "2"]
    for _ in range(2):
        with pytest.raises(BackendError, match=r"is another one; it differs in engine_version"):
            ask(model)
    assert served.number == 2 and served.running() == 0 and not seconds
    assert model.fingerprint()["engine_version"] == "1" and model.serving_pid is None


def test_a_server_that_does_not_start_again_is_an_error_for_all_who_ask(lasting: Make) -> None:
    model, served, _ = lasting(dies_at((1, "b")))

    def fail() -> None:
        raise BackendError("language_model: not ready after 900 s")

    served.starting = fail
    for _ in range(2):
        with pytest.raises(BackendError, match="not ready after 900 s"):
            ask(model)
    assert served.number == 2 and served.running() == 0


def test_one_restart_serves_all_who_ask(lasting: Make) -> None:
    everybody = threading.Barrier(4)

    def behave(served: Served, request: ChatRequest) -> str:
        if served.number == 1 and request.key.endswith("2"):
            if everybody.wait(30.0) == 0:
                served.die()
            everybody.wait(30.0)
            raise ServersGoneError("language_model: the server is gone")
        return f"answer {request.key}"

    model, served, seconds = lasting(behave)
    got: dict[str, list[Any]] = {}

    def work(name: str) -> None:
        requests = [ChatRequest(f"{name}{n}", (Message("user", "x"),)) for n in range(4)]
        got[name] = [(c.key, c.text) for c in model.complete(requests, SAMPLING)]

    threads = [threading.Thread(target=work, args=(name,)) for name in "wxyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert got == {name: [(f"{name}{n}", f"answer {name}{n}") for n in range(4)] for name in "wxyz"}
    assert served.number == 2 and len(seconds) == 1
    assert {key for server, key in served.asked if server == 2} == {f"{n}{i}" for n in "wxyz" for i in (2, 3)}


def test_a_caller_who_takes_its_time_goes_on_at_the_next_server(lasting: Make) -> None:
    model, served, seconds = lasting(dies_at())
    slow = model.complete([ChatRequest(key, ()) for key in "abc"], SAMPLING)
    assert [next(slow).text, next(slow).text] == ["answer a", "answer b"]
    served.die()
    assert ask(model, "z") == answers("z")
    assert [c.text for c in slow] == ["answer c"]
    assert served.asked == [(1, "a"), (1, "b"), (2, "z"), (2, "c")] and len(seconds) == 1


@pytest.mark.parametrize("fails", [True, False])
def test_closing_ends_a_restart_and_whoever_waits_for_it(lasting: Make, fails: bool) -> None:
    model, served, seconds = lasting(dies_at((1, "b")))
    starting = threading.Event()

    def hang() -> None:
        starting.set()
        served.servers[-1].wait(30.0)
        if fails:
            raise BackendError("language_model: the vLLM server ended while starting")

    served.starting = hang
    errors: list[str] = []

    def work() -> None:
        try:
            ask(model)
        except BackendError as error:
            errors.append(str(error))

    first, second = threading.Thread(target=work), threading.Thread(target=work)
    first.start()
    assert starting.wait(30.0)
    second.start()
    model.close()
    first.join(30.0)
    second.join(30.0)
    assert served.running() == 0 and model.server_pid is None and not seconds
    assert len(errors) == 2 and any("closed while the session" in error for error in errors)
    with pytest.raises(BackendError, match="closed while the session was running"):
        ask(model)


def test_leaving_early_leaves_the_model(lasting: Make) -> None:
    model, served, _ = lasting(dies_at())
    completions = model.complete([ChatRequest(key, ()) for key in "abc"], SAMPLING)
    assert next(completions).key == "a"
    completions.close()  # type: ignore[attr-defined]
    assert served.left_early == 1


def test_an_error_of_who_is_told_goes_on_and_the_server_stays(lasting: Make) -> None:
    def refuse(seconds: float) -> None:
        raise OSError("disk full")

    model, served, _ = lasting(dies_at((1, "b")), on_restart=refuse)
    with pytest.raises(OSError, match="disk full"):
        ask(model)
    assert served.running() == 1 and ask(model, "cd") == answers("cd")
